#include "stats/sequential.h"

#include <cmath>

#include "core/check.h"
#include "stats/distributions.h"

namespace vivace::stats {

SequentialLevelTest::SequentialLevelTest(const Probability& p, const Probability& confidence)
    : q_(p.complement().value()),
      a_(0.5),
      b_(a_ * (1 - q_) / q_),
      log_beta_start_(log_beta(a_, b_)),
      log_wealth_needed_(-std::log(confidence.complement().value())) {}

double SequentialLevelTest::log_wealth(std::int64_t n, std::int64_t t) const {
  VIVACE_CHECK(0 <= t && t <= n);
  const auto over = static_cast<double>(t);
  const auto within = static_cast<double>(n - t);
  return log_beta(a_ + over, b_ + within) - log_beta_start_ - over * std::log(q_) -
         within * std::log1p(-q_);
}

LevelVerdict SequentialLevelTest::read(std::int64_t n, std::int64_t t) const {
  if (n == 0 || log_wealth(n, t) < log_wealth_needed_) return LevelVerdict::kInconclusive;
  const double rate = static_cast<double>(t) / static_cast<double>(n);
  if (rate < q_) return LevelVerdict::kPass;
  return rate > q_ ? LevelVerdict::kFail : LevelVerdict::kInconclusive;
}

}  // namespace vivace::stats
