// Does a system meet "P_p <= T"? Of n samples t exceed T. If the level were just missed, so few
// exceedances would have the probability P(Bin(n, 1-p) <= t) = I_p(n - t, t + 1): where that is at
// most 1 - c the level is met with confidence c. If it were just met, so many would have the
// probability P(Bin(n, 1-p) >= t): where that is small it is missed. Between them more samples are
// needed. (The rule of MLPerf's early stopping, mlcommons/inference:loadgen/early_stopping.cc.)
//
// Valid when it is read once, at an n that was fixed beforehand; stats/sequential.h is for reading
// again and again. Sizes to 10^9 take microseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stats/probability.h"

namespace vivace::stats {

enum class LevelVerdict { kPass, kFail, kInconclusive };

/// "pass", "fail", "inconclusive".
std::string_view name_of(LevelVerdict verdict);

struct LevelJudgement {
  LevelVerdict verdict = LevelVerdict::kInconclusive;
  std::int64_t further_clean = 0;  ///< more samples, all within the limit, that would make it pass
  double at_most_t = 1;            ///< P(Bin(n, 1-p) <= t)
  double at_least_t = 1;           ///< P(Bin(n, 1-p) >= t)
};

/// 0 <= t <= n (checked); no samples are inconclusive.
LevelJudgement judge_level(std::int64_t n, std::int64_t t, const Probability& p,
                           const Probability& confidence);

/// h(t): the least number of samples within the limit that passes with t >= 0 beyond it; at most
/// 2^60.
std::int64_t early_stopping_count(std::int64_t t, const Probability& p,
                                  const Probability& confidence);

/// MLPerf's estimate of P_p from n samples is the value that t - 1 samples exceed, t the largest
/// with n >= h(t) + t. Returns t - 1; nothing where n is too small for any.
std::optional<std::int64_t> early_stopping_discards(std::int64_t n, const Probability& p,
                                                    const Probability& confidence);

}  // namespace vivace::stats
