#include "stats/change_point.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

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

/// Medians of any stretch of the series in a time that does not grow with it. Merging thousands of
/// segments into one would otherwise read most of the samples thousands of times. This is a wavelet
/// matrix (Claude, Navarro and Ordonez 2015, Information Systems 47): for each bit of the values,
/// the highest first, the bit of each sample, after which those with a 0 move before those with
/// a 1.
class StretchMedians {
 public:
  explicit StretchMedians(std::span<const std::int64_t> samples)
      : least_(*std::min_element(samples.begin(), samples.end())) {
    std::vector<std::uint64_t> values;
    values.reserve(samples.size());
    for (const std::int64_t x : samples) values.push_back(static_cast<std::uint64_t>(x - least_));
    std::vector<std::uint64_t> ones(values.size());
    const std::uint64_t largest = *std::max_element(values.begin(), values.end());
    for (int bit = 63 - std::countl_zero(largest); bit >= 0; --bit) {
      Level level{.bit = bit, .words = std::vector<Word>(values.size() / 64 + 1), .zeros = 0};
      std::size_t one_count = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        // Written to both without a branch, which random bits would mispredict half of the time.
        const std::uint64_t value = values[i];
        const std::uint64_t is_one = value >> bit & 1;
        if (i % 64 == 0) level.words[i / 64].ones_before = one_count;
        level.words[i / 64].bits |= is_one << (i % 64);
        ones[one_count] = value;
        one_count += is_one;
        values[level.zeros] = value;
        level.zeros += 1 - is_one;
      }
      if (values.size() % 64 == 0) level.words.back().ones_before = one_count;
      std::copy_n(ones.begin(), one_count,
                  values.begin() + static_cast<std::ptrdiff_t>(level.zeros));
      levels_.push_back(std::move(level));
    }
  }

  /// Of samples [begin, end), which are not none.
  double median(std::int64_t begin, std::int64_t end) const {
    const auto b = static_cast<std::size_t>(begin);
    const auto e = static_cast<std::size_t>(end);
    const std::size_t middle = (e - b) / 2;
    const double upper = value_of_rank(b, e, middle);
    return (e - b) % 2 == 1 ? upper : (value_of_rank(b, e, middle - 1) + upper) / 2;
  }

 private:
  struct Word {
    std::uint64_t bits = 0;
    std::uint64_t ones_before = 0;  ///< in the words before this one
  };
  struct Level {
    int bit = 0;
    std::vector<Word> words;
    std::size_t zeros = 0;
  };

  /// The value that `rank` (from 0) of those in [begin, end) are not above.
  double value_of_rank(std::size_t begin, std::size_t end, std::size_t rank) const {
    std::uint64_t value = 0;
    for (const Level& level : levels_) {
      const auto ones_before = [&level](std::size_t place) {
        const Word& word = level.words[place / 64];
        const std::uint64_t below = (std::uint64_t{1} << (place % 64)) - 1;
        return word.ones_before + static_cast<std::uint64_t>(std::popcount(word.bits & below));
      };
      const std::size_t ones_begin = ones_before(begin);
      const std::size_t ones_end = ones_before(end);
      const std::size_t zeros_within = (end - begin) - (ones_end - ones_begin);
      if (rank < zeros_within) {
        begin -= ones_begin;
        end -= ones_end;
      } else {
        rank -= zeros_within;
        value |= std::uint64_t{1} << level.bit;
        begin = level.zeros + ones_begin;
        end = level.zeros + ones_end;
      }
    }
    return static_cast<double>(least_ + static_cast<std::int64_t>(value));
  }

  std::int64_t least_ = 0;
  std::vector<Level> levels_;
};

/// How far two neighbouring segments are apart, as a share of the smaller median.
double relative_gap(double a, double b) {
  const double apart = std::abs(a - b);
  return apart == 0 ? 0 : apart / std::min(a, b);
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
  std::vector<std::int64_t> ascending(samples.begin(), samples.end());
  std::sort(ascending.begin(), ascending.end());
  return change_points(series, noise_of(series, clock_quantum(ascending)));
}

Segments material_segments(std::span<const std::int64_t> samples,
                           std::span<const std::int64_t> change_points) {
  Segments segments;
  if (samples.empty()) return segments;
  auto& points = segments.change_points;
  auto& medians = segments.medians;
  if (change_points.empty()) {
    medians.push_back(median_of(samples));
    return segments;
  }
  points.assign(change_points.begin(), change_points.end());
  const StretchMedians stretches(samples);
  const auto n = static_cast<std::int64_t>(samples.size());
  const auto median_of_segment = [&](std::size_t i) {
    return stretches.median(i == 0 ? 0 : points[i - 1], i == points.size() ? n : points[i]);
  };
  for (std::size_t i = 0; i <= points.size(); ++i) medians.push_back(median_of_segment(i));
  std::vector<double> gaps;
  gaps.reserve(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    gaps.push_back(relative_gap(medians[i], medians[i + 1]));
  }
  while (!gaps.empty()) {
    const auto least = std::min_element(gaps.begin(), gaps.end()) - gaps.begin();
    const auto i = static_cast<std::size_t>(least);
    if (gaps[i] >= kMaterial) break;
    points.erase(points.begin() + least);
    medians.erase(medians.begin() + least);
    gaps.erase(gaps.begin() + least);
    medians[i] = median_of_segment(i);
    if (i > 0) gaps[i - 1] = relative_gap(medians[i - 1], medians[i]);
    if (i < gaps.size()) gaps[i] = relative_gap(medians[i], medians[i + 1]);
  }
  return segments;
}

}  // namespace vivace::stats
