#include "stats/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/check.h"

namespace vivace::stats {
namespace {

struct Moments {
  double mean = 0;
  std::optional<double> standard_deviation;
};

/// Around a whole number next to the mean, so that a small spread on a large offset keeps its
/// digits (a sum of plain squares would lose them all).
Moments moments_of(std::span<const std::int64_t> samples) {
  Int128 total = 0;
  for (const std::int64_t x : samples) total += x;
  const auto n = static_cast<double>(samples.size());
  Moments moments;
  const auto centre = static_cast<std::int64_t>(total / static_cast<Int128>(samples.size()));
  // The remainder is exact and small, so the mean has a rounding of its own only.
  const Int128 remainder = total - Int128{centre} * static_cast<Int128>(samples.size());
  moments.mean = static_cast<double>(centre) + static_cast<double>(remainder) / n;
  if (samples.size() < 2) return moments;
  double squares = 0;
  double sum = 0;
  for (const std::int64_t x : samples) {
    const auto d = static_cast<double>(Int128{x} - centre);
    squares += d * d;
    sum += d;
  }
  moments.standard_deviation = std::sqrt(std::max(0.0, squares - sum * sum / n) / (n - 1));
  return moments;
}

/// Raised tau per threshold: percentiles of a small sample share their body rank.
class TauCache {
 public:
  explicit TauCache(std::span<const std::int64_t> samples) : samples_(samples) {}

  double at(std::int64_t threshold) {
    for (const auto& [known, tau] : taus_) {
      if (known == threshold) return tau;
    }
    const double tau = raised_tau(indicator_dependence(samples_, threshold),
                                  static_cast<std::int64_t>(samples_.size()));
    taus_.emplace_back(threshold, tau);
    return tau;
  }

 private:
  std::span<const std::int64_t> samples_;
  std::vector<std::pair<std::int64_t, double>> taus_;
};

PercentileEstimate estimate_of(std::span<const std::int64_t> sorted, TauCache& taus,
                               const Probability& p, const Probability& confidence) {
  const auto n = static_cast<std::int64_t>(sorted.size());
  PercentileEstimate estimate;
  estimate.p = p;
  estimate.rank = rank_of(n, p);
  estimate.value_ns = order_statistic(sorted, estimate.rank);
  const std::int64_t at_body = order_statistic(sorted, body_rank(n, estimate.rank));
  estimate.size = effective_size(n, std::max(taus.at(estimate.value_ns), taus.at(at_body)));
  estimate.ranks = rescaled_ranks(n, estimate.size.m, p, confidence);
  if (estimate.ranks.lower) estimate.lower_ns = order_statistic(sorted, *estimate.ranks.lower);
  if (estimate.ranks.upper) estimate.upper_ns = order_statistic(sorted, *estimate.ranks.upper);
  const auto independent = static_cast<double>(minimum_n(p, confidence, Sides::kBoth));
  estimate.samples_needed =
      static_cast<std::int64_t>(std::min(std::ceil(independent * estimate.size.tau), 9e18));
  return estimate;
}

}  // namespace

std::span<const Probability> default_percentiles() {
  static const std::array<Probability, 5> percentiles = {Probability(5, 10), Probability(9, 10),
                                                         Probability(95, 100), Probability(99, 100),
                                                         Probability(999, 1000)};
  return percentiles;
}

Probability default_confidence() { return {95, 100}; }

Summary summarize(std::span<const std::int64_t> samples_ns,
                  std::span<const Probability> percentiles, const Probability& confidence) {
  VIVACE_CHECK(!samples_ns.empty());
  std::vector<std::int64_t> sorted(samples_ns.begin(), samples_ns.end());
  std::sort(sorted.begin(), sorted.end());

  Summary summary;
  summary.n = static_cast<std::int64_t>(sorted.size());
  summary.n_eff = static_cast<double>(summary.n);
  summary.confidence = confidence;
  summary.min_ns = sorted.front();
  summary.max_ns = sorted.back();
  const Moments moments = moments_of(samples_ns);
  summary.mean_ns = moments.mean;
  summary.standard_deviation_ns = moments.standard_deviation;
  summary.median_ns = median_of_sorted(sorted);
  summary.median_absolute_deviation_ns = median_absolute_deviation(sorted, summary.median_ns);
  TauCache taus(samples_ns);
  for (const Probability& p : percentiles) {
    summary.percentiles.push_back(estimate_of(sorted, taus, p, confidence));
    summary.n_eff = std::min(summary.n_eff, summary.percentiles.back().size.n_eff);
  }
  return summary;
}

std::optional<double> relative_half_width(const PercentileEstimate& estimate) {
  if (!estimate.lower_ns || !estimate.upper_ns || estimate.value_ns == 0) return std::nullopt;
  return static_cast<double>(*estimate.upper_ns - *estimate.lower_ns) /
         (2 * static_cast<double>(estimate.value_ns));
}

std::optional<std::int64_t> samples_for_half_width(const PercentileEstimate& estimate,
                                                   std::int64_t n, double wanted) {
  VIVACE_CHECK(wanted > 0);
  const auto width = relative_half_width(estimate);
  if (!width) return std::nullopt;
  const double ratio = *width / wanted;
  return static_cast<std::int64_t>(
      std::min(std::ceil(static_cast<double>(n) * ratio * ratio), 9e18));
}

double median_of_sorted(std::span<const std::int64_t> sorted) {
  VIVACE_CHECK(!sorted.empty());
  const std::size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return static_cast<double>(sorted[middle]);
  return (static_cast<double>(sorted[middle - 1]) + static_cast<double>(sorted[middle])) / 2;
}

double median_absolute_deviation(std::span<const std::int64_t> samples, double median) {
  VIVACE_CHECK(!samples.empty());
  std::vector<double> distances;
  distances.reserve(samples.size());
  for (const std::int64_t x : samples) {
    distances.push_back(std::abs(static_cast<double>(x) - median));
  }
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  if (distances.size() % 2 == 1) return *middle;
  // The other middle value is the largest of those that nth_element left before it.
  return (*std::max_element(distances.begin(), middle) + *middle) / 2;
}

}  // namespace vivace::stats
