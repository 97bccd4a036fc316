// The shape of a distribution: one hump or two, and which samples lie far out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stats/noise.h"

namespace vivace::stats {

/// The greatest distance between the empirical distribution and the nearest unimodal one; at least
/// 1/(2n), and 0 where all values are equal. `ascending` holds one value or more. Cost: linear in
/// practice. (Hartigan and Hartigan 1985, Annals of Statistics 13; computed by greatest convex
/// minorants and least concave majorants on a shrinking interval, Hartigan 1985, AS 217.)
double hartigan_dip(std::span<const double> ascending);

/// A coarse clock makes few distinct values, which look like many modes: the k copies of a value
/// are spread evenly over one quantum around it. Less the least value, which keeps the digits of
/// thin spreads on long durations.
std::vector<double> spread_over_quantum(std::span<const std::int64_t> ascending,
                                        std::int64_t quantum);

/// The samples on both sides of the emptiest place among the middle 90%.
struct Modes {
  std::int64_t lower_count = 0;
  double lower_median = 0;
  double upper_median = 0;
  double upper_share = 0;
};

struct Shape {
  double root_n_dip = 0;
  bool bimodal = false;        ///< the dip beyond its 1% bound, and modes that differ by 1%
  std::optional<Modes> modes;  ///< of 50 samples or more, unless nothing separates any
};

/// Of at least one sample, in ascending order (checked).
Shape shape_of(std::span<const std::int64_t> ascending);

/// The samples (from 0) whose distance from the median exceeds 10 scales. (The modified z of
/// Iglewicz and Hoaglin 1993, with a limit for latencies, whose bodies are skewed.)
std::vector<std::int64_t> outliers(std::span<const std::int64_t> samples, const RobustScale& scale);

}  // namespace vivace::stats
