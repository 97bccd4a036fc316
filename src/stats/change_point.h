// Where a series jumps: the segmentation into pieces of constant mean that is best at a price per
// jump. The price is 5 times the noise's variance times ln n, so noise alone is seldom cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stats/noise.h"

namespace vivace::stats {

/// Every segment holds at least so many samples.
inline constexpr std::int64_t kSegmentMin = 20;

/// The first samples (from 0) of all segments but the first, minimising the within-segment squares
/// of the clipped series plus the penalty for each; exact. None below 2 kSegmentMin samples or
/// without any noise. Beyond 10,000 samples only multiples of ceil(n/10000) are tried.
/// (PELT: Killick, Fearnhead and Eckley 2012, JASA 107. A candidate that lost may only be dropped
/// kSegmentMin samples later, as until then the better one cannot start a segment.)
std::vector<std::int64_t> change_points(std::span<const double> series, const Noise& noise);

/// The same of raw samples.
std::vector<std::int64_t> change_points(std::span<const std::int64_t> samples);

struct Segments {
  std::vector<std::int64_t> change_points;
  std::vector<double> medians;  ///< one more than change points; none of no samples
};

/// Drops change points, least difference first, until all neighbouring segments' medians differ by
/// at least 1% of the smaller.
Segments material_segments(std::span<const std::int64_t> samples,
                           std::span<const std::int64_t> change_points);

}  // namespace vivace::stats
