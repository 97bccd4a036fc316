// Percentiles as order statistics, and what a sample can say about them whatever its distribution.
//
// How many of n values lie at or below the true percentile is binomial, B ~ Bin(n, p), whatever
// the latencies look like. So the true value lies between x_(l) and x_(u) with a probability that
// depends on l, u, n and p alone: l is the largest k with P(B <= k-1) <= a/2, u the smallest with
// P(B >= k) <= a/2, where a = 1 - confidence. When there is no such k among 1..n the sample is too
// small for that bound. Then there is none; the maximum is no stand-in for it.
// (David and Nagaraja, Order Statistics, 3rd ed., section 7.1.)
//
// Ranks count from 1. Tails come from the regularised incomplete beta function; both are computed
// as the small one, never as 1 minus the other, and count as equal to a/2 within 1e-12 of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stats/probability.h"

namespace vivace::stats {

/// The ranks of an interval's ends, where the sample gives them.
struct RankInterval {
  std::optional<std::int64_t> lower;
  std::optional<std::int64_t> upper;
  bool operator==(const RankInterval&) const = default;
};

/// The two-sided interval of percentile `p` from n >= 1 independent values.
RankInterval interval_ranks(std::int64_t n, const Probability& p, const Probability& confidence);

/// The probability that the interval holds the true percentile of a continuous distribution; a
/// missing bound counts as infinite.
double exact_coverage(std::int64_t n, const Probability& p, const RankInterval& ranks);

enum class Sides {
  kBoth,       ///< an interval: each bound may fail with (1 - confidence)/2
  kLowerOnly,  ///< one bound that may fail with 1 - confidence
  kUpperOnly,
};

/// The least number of independent values that has the wanted bounds. Two-sided at 95%: 6 for P50,
/// 72 for P95, 368 for P99.
std::int64_t minimum_n(const Probability& p, const Probability& confidence, Sides sides);

/// x_(rank) of values in ascending order; 1 <= rank <= size.
std::int64_t order_statistic(std::span<const std::int64_t> sorted, std::int64_t rank);

/// x_(ceil(n p)) of n >= 1 values in ascending order.
std::int64_t percentile_value(std::span<const std::int64_t> sorted, const Probability& p);

}  // namespace vivace::stats
