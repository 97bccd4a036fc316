// Where the warm-up ends: MSER-5 on medians. The samples are cut into batches of five; of all ways
// to drop the first d batches the one is taken that leaves the mean of the rest best known,
//
//   d = argmin sum_{i >= d} (y_i - mean_d)^2 / (m - d)^2,  0 <= d <= m/2,
//
// y_i the median of batch i. (MSER-5: White 1997, Simulation 69, on batch means. On means a single
// slow sample of ten times the others moves the minimum; medians do not see it.)
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace vivace::stats {

struct WarmUpCut {
  /// Samples to discard, a multiple of 5; nothing below 50 samples.
  std::optional<std::int64_t> discarded;
  /// The minimum lies at the last place that is looked at: no steady state was seen.
  bool at_limit = false;
};

/// Exact: the quotients are compared as products of integers, and a tie goes to the smaller d (only
/// where medians differ by half a day do low bits have to go). Cost: linear, 10 ms a million.
WarmUpCut mser5(std::span<const std::int64_t> samples);

}  // namespace vivace::stats
