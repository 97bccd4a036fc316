#include "stats/change_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/summary.h"

namespace vivace::stats {
namespace {

constexpr std::int64_t kCandidatesMax = 10'000;
constexpr double kMaterial = 0.01;

/// Sums over the start of the series, so that a segment's squares cost a few operations.
class PrefixSums {
 public:
  explicit PrefixSums(std::span<const double> series)
      : sums_(series.size() + 1, 0), squares_(series.size() + 1, 0) {
    for (std::size_t i = 0; i < series.size(); ++i) {
      sums_[i + 1] = sums_[i] + series[i];
      squares_[i + 1] = squares_[i] + series[i] * series[i];
    }
  }

  /// Squares around the mean of samples [begin, end).
  double cost(std::int64_t begin, std::int64_t end) const {
    const auto b = static_cast<std::size_t>(begin);
    const auto e = static_cast<std::size_t>(end);
    const double sum = sums_[e] - sums_[b];
    return squares_[e] - squares_[b] - sum * sum / static_cast<double>(end - begin);
  }

 private:
  std::vector<double> sums_;
  std::vector<double> squares_;
};

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// A place where the last segment may begin.
struct Candidate {
  std::int64_t begin = 0;
  double best = 0;                ///< cost of everything before it, penalties included
  std::int64_t drop_at = kNever;  ///< from this end on it cannot win any more
};

double median_between(std::span<const std::int64_t> samples, std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> values(samples.begin() + begin, samples.begin() + end);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return static_cast<double>(*middle);
  const std::int64_t below = *std::max_element(values.begin(), middle);
  return (static_cast<double>(below) + static_cast<double>(*middle)) / 2;
}

}  // namespace

std::vector<std::int64_t> change_points(std::span<const double> series, const Noise& noise) {
  const auto n = static_cast<std::int64_t>(series.size());
  if (n < 2 * kSegmentMin || noise.variance <= 0) return {};
  const std::int64_t step = (n + kCandidatesMax - 1) / kCandidatesMax;
  const double penalty = 5 * noise.variance * std::log(static_cast<double>(n));
  const PrefixSums sums(series);

  // Ends of segments: the multiples of step, and n. previous[e] is where the segment that ends
  // there begins, in the best segmentation of what lies before.
  std::vector<std::int64_t> ends;
  for (std::int64_t end = step; end < n; end += step) ends.push_back(end);
  ends.push_back(n);
  std::vector<std::int64_t> previous(ends.size(), 0);
  std::vector<Candidate> candidates = {{.begin = 0, .best = -penalty, .drop_at = kNever}};
  std::vector<double> totals;
  for (std::size_t e = 0; e < ends.size(); ++e) {
    const std::int64_t end = ends[e];
    double best = std::numeric_limits<double>::infinity();
    totals.assign(candidates.size(), 0);
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const Candidate& candidate = candidates[c];
      if (end - candidate.begin < kSegmentMin) continue;
      totals[c] = candidate.best + sums.cost(candidate.begin, end);
      if (totals[c] + penalty < best) {
        best = totals[c] + penalty;
        previous[e] = candidate.begin;
      }
    }
    if (std::isinf(best)) continue;  // nothing can end here yet
    std::size_t kept = 0;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      Candidate& candidate = candidates[c];
      if (end - candidate.begin >= kSegmentMin && totals[c] >= best) {
        candidate.drop_at = std::min(candidate.drop_at, end + kSegmentMin);
      }
      if (end < candidate.drop_at) candidates[kept++] = candidate;
    }
    candidates.resize(kept);
    if (end < n) candidates.push_back({.begin = end, .best = best, .drop_at = kNever});
  }

  std::vector<std::int64_t> points;
  for (std::int64_t end = n; end > 0;) {
    const auto place = std::lower_bound(ends.begin(), ends.end(), end) - ends.begin();
    end = previous[static_cast<std::size_t>(place)];
    if (end > 0) points.push_back(end);
  }
  std::reverse(points.begin(), points.end());
  return points;
}

std::vector<std::int64_t> change_points(std::span<const std::int64_t> samples) {
  if (samples.empty()) return {};
  const std::vector<double> series = clipped(samples, robust_scale(samples));
  return change_points(series, noise_of(series, clock_quantum(samples)));
}

Segments material_segments(std::span<const std::int64_t> samples,
                           std::span<const std::int64_t> change_points) {
  Segments segments;
  if (samples.empty()) return segments;
  const auto n = static_cast<std::int64_t>(samples.size());
  segments.change_points.assign(change_points.begin(), change_points.end());
  auto& points = segments.change_points;
  auto& medians = segments.medians;
  const auto begin_of = [&](std::size_t segment) { return segment == 0 ? 0 : points[segment - 1]; };
  const auto end_of = [&](std::size_t segment) {
    return segment == points.size() ? n : points[segment];
  };
  for (std::size_t i = 0; i <= points.size(); ++i) {
    medians.push_back(median_between(samples, begin_of(i), end_of(i)));
  }
  while (!points.empty()) {
    std::size_t least = 0;
    double least_difference = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double smaller = std::min(medians[i], medians[i + 1]);
      const double apart = std::abs(medians[i] - medians[i + 1]);
      const double difference = apart == 0 ? 0 : apart / smaller;
      if (difference < least_difference) {
        least_difference = difference;
        least = i;
      }
    }
    if (least_difference >= kMaterial) break;
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(least));
    medians.erase(medians.begin() + static_cast<std::ptrdiff_t>(least));
    medians[least] = median_between(samples, begin_of(least), end_of(least));
  }
  return segments;
}

}  // namespace vivace::stats
