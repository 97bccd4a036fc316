#include "stats/steadiness.h"

#include <algorithm>

#include "core/check.h"

namespace vivace::stats {
namespace {

constexpr std::size_t kSamplesMin = 50;

SteadinessClass class_of(const SteadinessReport& report, std::size_t n) {
  if (n < kSamplesMin) return SteadinessClass::kUndetermined;
  const auto& points = report.segments.change_points;
  const auto& medians = report.segments.medians;
  if (!points.empty()) {
    const bool only_falls =
        std::adjacent_find(medians.begin(), medians.end(),
                           [](double a, double b) { return b >= a; }) == medians.end();
    const std::size_t last_size = n - static_cast<std::size_t>(points.back());
    if (only_falls && 2 * last_size >= n) return SteadinessClass::kWarmUp;
    if (points.size() == 1 && medians[1] > medians[0]) return SteadinessClass::kSlowDown;
    return SteadinessClass::kDrifting;
  }
  if (report.trend && report.trend->drifting) return SteadinessClass::kDrifting;
  return report.shape.bimodal ? SteadinessClass::kMultimodal : SteadinessClass::kSteady;
}

}  // namespace

std::string_view name_of(SteadinessClass one) {
  switch (one) {
    case SteadinessClass::kUndetermined:
      return "undetermined";
    case SteadinessClass::kSteady:
      return "steady";
    case SteadinessClass::kWarmUp:
      return "warm-up";
    case SteadinessClass::kSlowDown:
      return "slow-down";
    case SteadinessClass::kDrifting:
      return "drifting";
    case SteadinessClass::kMultimodal:
      return "multimodal";
  }
  return "undetermined";
}

SteadinessReport assess_steadiness(std::span<const std::int64_t> samples) {
  VIVACE_CHECK(!samples.empty());
  SteadinessReport report;
  const RobustScale scale = robust_scale(samples);
  const std::vector<double> series = clipped(samples, scale);
  std::vector<std::int64_t> ascending(samples.begin(), samples.end());
  std::sort(ascending.begin(), ascending.end());
  const Noise noise = noise_of(series, clock_quantum(ascending));
  report.segments = material_segments(samples, change_points(series, noise));
  report.trend = trend_of(samples);
  report.shape = shape_of(ascending);
  report.outlier_count = static_cast<std::int64_t>(outliers(samples, scale).size());
  report.steadiness = class_of(report, samples.size());
  return report;
}

}  // namespace vivace::stats
