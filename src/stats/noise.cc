#include "stats/noise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "stats/summary.h"

namespace vivace::stats {
namespace {

constexpr double kClipScales = 3;
constexpr double kRMax = 0.95;

/// The median, without sorting all of a copy.
double median_of(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return static_cast<double>(*middle);
  const std::int64_t below = *std::max_element(values.begin(), middle);
  return (static_cast<double>(below) + static_cast<double>(*middle)) / 2;
}

/// S_k of noise_of().
double trimmed_mean_square(std::span<const double> series, std::size_t lag) {
  std::vector<double> squares;
  squares.reserve(series.size() - lag);
  for (std::size_t i = 0; i + lag < series.size(); ++i) {
    const double d = series[i + lag] - series[i];
    squares.push_back(d * d);
  }
  const std::size_t kept = squares.size() - (squares.size() + 19) / 20;
  if (kept == 0) return 0;
  std::nth_element(squares.begin(), squares.begin() + static_cast<std::ptrdiff_t>(kept),
                   squares.end());
  double sum = 0;
  for (std::size_t i = 0; i < kept; ++i) sum += squares[i];
  return sum / static_cast<double>(kept);
}

}  // namespace

RobustScale robust_scale(std::span<const std::int64_t> samples) {
  VIVACE_CHECK(!samples.empty());
  RobustScale result;
  result.median = median_of({samples.begin(), samples.end()});
  const double mad = median_absolute_deviation(samples, result.median);
  if (mad > 0) {
    result.scale = 1.4826 * mad;
    return result;
  }
  double sum = 0;
  for (const std::int64_t x : samples) sum += std::abs(static_cast<double>(x) - result.median);
  result.scale = 1.2533 * sum / static_cast<double>(samples.size());
  return result;
}

std::int64_t clock_quantum(std::span<const std::int64_t> samples) {
  std::vector<std::int64_t> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  std::int64_t least = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const std::int64_t gap = sorted[i] - sorted[i - 1];
    if (gap > 0 && (least == 0 || gap < least)) least = gap;
  }
  return least;
}

std::vector<double> clipped(std::span<const std::int64_t> samples, const RobustScale& scale) {
  const double reach = kClipScales * scale.scale;
  std::vector<double> series;
  series.reserve(samples.size());
  for (const std::int64_t x : samples) {
    series.push_back(std::clamp(static_cast<double>(x) - scale.median, -reach, reach));
  }
  return series;
}

Noise noise_of(std::span<const double> series, std::int64_t quantum) {
  Noise noise;
  if (series.size() < 3) return noise;
  const double s1 = trimmed_mean_square(series, 1);
  const double s2 = trimmed_mean_square(series, 2);
  if (s1 > 0) {
    noise.r = std::clamp(s2 / s1 - 1, 0.0, kRMax);
    noise.variance = s1 * (1 + noise.r) / (2 * (1 - noise.r) * (1 - noise.r));
  } else {
    noise.variance = s2 / 2;
  }
  const auto q = static_cast<double>(quantum);
  noise.variance = std::max(noise.variance, q * q / 12);
  return noise;
}

}  // namespace vivace::stats
