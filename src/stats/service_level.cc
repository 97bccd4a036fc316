#include "stats/service_level.h"

#include <algorithm>

#include "core/check.h"
#include "stats/distributions.h"

namespace vivace::stats {
namespace {

// Decimals that tie with the limit must not be decided by the rounding of a double.
constexpr double kTieRelative = 1e-12;
// No search goes beyond; a level of 16 nines would otherwise run out of integers.
constexpr std::int64_t kCountMax = std::int64_t{1} << 60;

bool is_small(double tail, const Probability& confidence) {
  return tail <= confidence.complement().value() * (1 + kTieRelative);
}

/// I_p(clean, t + 1): so few exceedances beside so many samples within a limit just missed.
bool passes(std::int64_t clean, std::int64_t t, const Probability& p,
            const Probability& confidence) {
  return is_small(binomial_upper_tail(clean + t, p, clean), confidence);
}

/// The least x in [low, high] for which `holds`, which once true stays true; high + 1 if none.
template <class Predicate>
std::int64_t first_where(std::int64_t low, std::int64_t high, const Predicate& holds) {
  while (low <= high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle - 1;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

std::string_view name_of(LevelVerdict verdict) {
  switch (verdict) {
    case LevelVerdict::kPass:
      return "pass";
    case LevelVerdict::kFail:
      return "fail";
    case LevelVerdict::kInconclusive:
      break;
  }
  return "inconclusive";
}

LevelJudgement judge_level(std::int64_t n, std::int64_t t, const Probability& p,
                           const Probability& confidence) {
  VIVACE_CHECK(0 <= t && t <= n);
  LevelJudgement judgement;
  const Probability exceeding = p.complement();
  judgement.at_most_t = binomial_lower_tail(n, exceeding, t);
  judgement.at_least_t = binomial_upper_tail(n, exceeding, t);
  if (n > 0 && is_small(judgement.at_most_t, confidence)) {
    judgement.verdict = LevelVerdict::kPass;
    return judgement;
  }
  if (n > 0 && is_small(judgement.at_least_t, confidence)) {
    judgement.verdict = LevelVerdict::kFail;
  }
  judgement.further_clean =
      std::max<std::int64_t>(0, early_stopping_count(t, p, confidence) + t - n);
  return judgement;
}

std::int64_t early_stopping_count(std::int64_t t, const Probability& p,
                                  const Probability& confidence) {
  VIVACE_CHECK(t >= 0);
  std::int64_t high = 1;
  while (high < kCountMax && !passes(high, t, p, confidence)) high *= 2;
  return first_where(high / 2 + 1, high - 1,
                     [&](std::int64_t clean) { return passes(clean, t, p, confidence); });
}

std::optional<std::int64_t> early_stopping_discards(std::int64_t n, const Probability& p,
                                                    const Probability& confidence) {
  // n >= h(t) + t holds up to some t and no further.
  const std::int64_t first_too_many =
      first_where(1, n - 1, [&](std::int64_t t) { return !passes(n - t, t, p, confidence); });
  if (first_too_many <= 1) return std::nullopt;
  return first_too_many - 2;
}

}  // namespace vivace::stats
