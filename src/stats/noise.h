// How wide a series is and how noisy, by statistics that a few slow samples or a step in the middle
// cannot inflate: a step should be found as one, not be taken for noise that hides it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vivace::stats {

/// The middle value, or the mean of the two middle ones, of at least one sample (checked) in any
/// order; linear in their number, unlike a sort.
double median_of(std::span<const std::int64_t> samples);

struct RobustScale {
  double median = 0;
  double scale = 0;  ///< 1.4826 MAD, or 1.2533 mean|x - median| where the MAD is 0
};

/// Of at least one sample (checked). 1.4826 makes the MAD, and 1.2533 the mean deviation, estimate
/// a normal law's standard deviation (Hampel 1974; Iglewicz and Hoaglin 1993).
RobustScale robust_scale(std::span<const std::int64_t> samples);

/// The least gap between distinct values; 0 when all are equal. What a coarse clock leaves.
std::int64_t clock_quantum(std::span<const std::int64_t> ascending);

/// The samples held within median +- 3 scales, less the median.
std::vector<double> clipped(std::span<const std::int64_t> samples, const RobustScale& scale);

struct Noise {
  double r = 0;         ///< how much of a sample its neighbour carries, within [0, 0.95]
  double variance = 0;  ///< as a mean of dependent noise feels it
};

/// From differences of neighbours: S_k is the mean of the n - k squares (y_{i+k} - y_i)^2 without
/// the largest twentieth, so that a few jumps do not count; r = S_2/S_1 - 1, variance = S_1 (1 + r)
/// / (2 (1 - r)^2), at least quantum^2/12. (Differences after von Neumann 1941; an AR(1) series has
/// S_2/S_1 = 1 + r, and the variance of its mean is (1 + r)/(1 - r) times that of white noise.)
Noise noise_of(std::span<const double> series, std::int64_t quantum);

}  // namespace vivace::stats
