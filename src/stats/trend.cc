#include "stats/trend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "stats/noise.h"

namespace vivace::stats {
namespace {

constexpr std::size_t kBatches = 10;
constexpr std::size_t kSamplesMin = 50;
constexpr double kPMax = 0.01;
constexpr double kChangeMin = 0.01;

using BatchMedians = std::array<double, kBatches>;

BatchMedians batch_medians(std::span<const std::int64_t> samples) {
  BatchMedians medians{};
  const std::size_t size = samples.size() / kBatches;
  for (std::size_t i = 0; i < kBatches; ++i) {
    medians[i] = median_of(samples.subspan(i * size, size));
  }
  return medians;
}

/// Mann-Kendall's two-sided p.
double trend_p(const BatchMedians& y) {
  int s = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = i + 1; j < y.size(); ++j) s += (y[j] > y[i]) - (y[j] < y[i]);
  }
  const auto term = [](double t) { return t * (t - 1) * (2 * t + 5); };
  double variance = term(kBatches);
  BatchMedians sorted = y;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size();) {
    const auto end = std::upper_bound(sorted.begin(), sorted.end(), sorted[i]) - sorted.begin();
    variance -= term(static_cast<double>(static_cast<std::size_t>(end) - i));
    i = static_cast<std::size_t>(end);
  }
  variance /= 18;
  if (s == 0 || variance <= 0) return 1;
  const double z = (s - (s > 0 ? 1 : -1)) / std::sqrt(variance);
  return std::erfc(std::abs(z) / std::numbers::sqrt2);
}

double middle_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

std::optional<Trend> trend_of(std::span<const std::int64_t> samples) {
  if (samples.size() < kSamplesMin) return std::nullopt;
  const BatchMedians y = batch_medians(samples);
  std::vector<double> slopes;
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = i + 1; j < y.size(); ++j) {
      slopes.push_back((y[j] - y[i]) / static_cast<double>(j - i));
    }
  }
  Trend trend;
  trend.p = trend_p(y);
  const double level = middle_of({y.begin(), y.end()});
  if (level > 0) trend.change = (kBatches - 1) * middle_of(std::move(slopes)) / level;
  trend.drifting = trend.p < kPMax && std::abs(trend.change) >= kChangeMin;
  return trend;
}

}  // namespace vivace::stats
