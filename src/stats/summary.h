// What a list of durations says, in one pass over one sort: percentiles with their intervals, mean
// with spread, median with median absolute deviation, and how many independent samples it is worth.
// Durations are integers in nanoseconds, not negative; every percentile is an observed value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stats/dependence.h"
#include "stats/probability.h"
#include "stats/quantile.h"

namespace vivace::stats {

/// One percentile and what is known about it.
struct PercentileEstimate {
  Probability p;
  std::int64_t rank = 1;  ///< ceil(n p)
  std::int64_t value_ns = 0;
  EffectiveSize size;  ///< what the samples are worth at this percentile
  RankInterval ranks;  ///< computed at size.m, scaled to n
  std::optional<std::int64_t> lower_ns;
  std::optional<std::int64_t> upper_ns;
  /// Samples that would give both bounds, at this dependence.
  std::int64_t samples_needed = 1;
};

struct Summary {
  std::int64_t n = 0;
  /// The least effective size among the percentiles; n when none was asked for.
  double n_eff = 0;
  double mean_ns = 0;
  std::optional<double> standard_deviation_ns;  ///< over n - 1; none for one sample
  double median_ns = 0;                         ///< mean of the two middle values for even n
  double median_absolute_deviation_ns = 0;      ///< unscaled
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
  Probability confidence{95, 100};
  std::vector<PercentileEstimate> percentiles;  ///< in the order asked for
};

/// P50, P90, P95, P99 and P99.9.
std::span<const Probability> default_percentiles();
/// 95%.
Probability default_confidence();

/// Summarises at least one sample (checked), in the order in which they were taken.
Summary summarize(std::span<const std::int64_t> samples_ns,
                  std::span<const Probability> percentiles, const Probability& confidence);

/// (upper - lower) / (2 value); nothing where a bound is missing or the value is 0.
std::optional<double> relative_half_width(const PercentileEstimate& estimate);

/// About how many samples give a relative half-width of `wanted`: n (w / wanted)^2.
std::optional<std::int64_t> samples_for_half_width(const PercentileEstimate& estimate,
                                                   std::int64_t n, double wanted);

/// The middle value, or the mean of the two middle ones, of at least one ascending value.
double median_of_sorted(std::span<const std::int64_t> sorted);

/// The median of |x - median|, unscaled.
double median_absolute_deviation(std::span<const std::int64_t> samples, double median);

}  // namespace vivace::stats
