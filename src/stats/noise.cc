#include "stats/noise.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "stats/summary.h"

namespace vivace::stats {
namespace {

constexpr double kClipScales = 3;
constexpr double kRMax = 0.95;

/// S_k of noise_of().
double trimmed_mean_square(std::span<const double> series, std::size_t lag) {
  std::vector<double> squares;
  squares.reserve(series.size());
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

double median_of(std::span<const std::int64_t> samples) {
  VIVACE_CHECK(!samples.empty());
  std::vector<std::int64_t> values(samples.begin(), samples.end());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return static_cast<double>(*middle);
  // The other middle value is the largest of those that nth_element left before it.
  const std::int64_t below = *std::max_element(values.begin(), middle);
  return (static_cast<double>(below) + static_cast<double>(*middle)) / 2;
}

RobustScale robust_scale(std::span<const std::int64_t> samples) {
  VIVACE_CHECK(!samples.empty());
  RobustScale result;
  result.median = median_of(samples);
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

std::int64_t clock_quantum(std::span<const std::int64_t> ascending) {
  std::int64_t least = 0;
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    const std::int64_t gap = ascending[i] - ascending[i - 1];
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
