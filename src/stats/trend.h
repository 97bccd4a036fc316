// A slow drift that no change point shows: Mann-Kendall's test with Theil-Sen's slope, on the
// medians of ten batches, which single slow samples cannot move.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace vivace::stats {

struct Trend {
  double p = 1;           ///< two-sided, of no trend
  double change = 0;      ///< over the run, as a share of the median; negative when it falls
  bool drifting = false;  ///< p < 0.01 and a change of at least 1%
};

/// Nothing below 50 samples. p: Mann 1945 and Kendall 1975, with ties and continuity correction;
/// change: nine times the median of the pairwise slopes (Theil 1950, Sen 1968).
std::optional<Trend> trend_of(std::span<const std::int64_t> samples);

}  // namespace vivace::stats
