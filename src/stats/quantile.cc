#include "stats/quantile.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "stats/distributions.h"

namespace vivace::stats {
namespace {

// A tail this much above its limit still counts as equal: decimals that tie (p = 0.025, n = 1)
// must not be decided by the rounding of a double.
constexpr double kTieRelative = 1e-12;

/// The smallest k in 1..n+1 with P(B >= k) <= limit. The tail falls with k and is 0 at n + 1, so
/// the answer is bracketed around a normal guess and bisected.
std::int64_t first_rank_with_tail(std::int64_t n, const Probability& p, double limit) {
  const auto small = [&](std::int64_t k) {
    return binomial_upper_tail(n, p, k) <= limit * (1 + kTieRelative);
  };
  const double mean = static_cast<double>(n) * p.value();
  const double deviation = std::sqrt(mean * p.complement().value());
  auto step = static_cast<std::int64_t>(deviation / 4) + 1;
  // Invariants: small(high) holds, small(low) does not (low = 0 has the tail 1).
  std::int64_t low = 0;
  std::int64_t high = n + 1;
  std::int64_t guess =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(mean + 2 * deviation), 1, n);
  const bool from_above = small(guess);
  (from_above ? high : low) = guess;
  while (true) {
    guess += from_above ? -step : step;
    if (guess <= low || guess >= high) break;
    const bool is_small = small(guess);
    (is_small ? high : low) = guess;
    if (is_small != from_above) break;
    step *= 2;
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (small(middle) ? high : low) = middle;
  }
  return high;
}

/// The least n with q^n <= limit.
std::int64_t first_power_below(const Probability& q, double limit) {
  // log q from the smaller of q and 1 - q, so that q near 1 keeps its digits.
  const double log_q = q.value() < 0.5 ? std::log(q.value()) : std::log1p(-q.complement().value());
  const double log_limit = std::log(limit) + kTieRelative;
  const double n = std::ceil(log_limit / log_q);
  // A limit above q itself still takes one value.
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(n, 9e18)));
}

}  // namespace

RankInterval interval_ranks(std::int64_t n, const Probability& p, const Probability& confidence) {
  VIVACE_CHECK(n >= 1);
  const double limit = confidence.complement().value() / 2;
  RankInterval ranks;
  const std::int64_t upper = first_rank_with_tail(n, p, limit);
  if (upper <= n) ranks.upper = upper;
  // l is the largest k with P(B <= k-1) <= a/2; with B' = n - B ~ Bin(n, 1-p) that is the smallest
  // k' = n - k + 1 with P(B' >= k') <= a/2.
  const std::int64_t lower = n + 1 - first_rank_with_tail(n, p.complement(), limit);
  if (lower >= 1) ranks.lower = lower;
  return ranks;
}

double exact_coverage(std::int64_t n, const Probability& p, const RankInterval& ranks) {
  VIVACE_CHECK(n >= 1);
  const double below = ranks.lower ? binomial_lower_tail(n, p, *ranks.lower - 1) : 0;
  const double above = ranks.upper ? binomial_upper_tail(n, p, *ranks.upper) : 0;
  return 1 - below - above;
}

std::int64_t minimum_n(const Probability& p, const Probability& confidence, Sides sides) {
  const double tail = confidence.complement().value();
  switch (sides) {
    case Sides::kLowerOnly:
      return first_power_below(p.complement(), tail);
    case Sides::kUpperOnly:
      return first_power_below(p, tail);
    case Sides::kBoth:
      break;
  }
  return std::max(first_power_below(p, tail / 2), first_power_below(p.complement(), tail / 2));
}

std::int64_t order_statistic(std::span<const std::int64_t> sorted, std::int64_t rank) {
  VIVACE_CHECK(rank >= 1 && rank <= static_cast<std::int64_t>(sorted.size()));
  return sorted[static_cast<std::size_t>(rank - 1)];
}

std::int64_t percentile_value(std::span<const std::int64_t> sorted, const Probability& p) {
  return order_statistic(sorted, rank_of(static_cast<std::int64_t>(sorted.size()), p));
}

}  // namespace vivace::stats
