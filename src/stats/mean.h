// The interval of a mean of dependent samples, for throughputs, which are means by their nature.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stats/probability.h"

namespace vivace::stats {

struct MeanInterval {
  double mean = 0;
  std::optional<double> lower;
  std::optional<double> upper;
};

/// By the means of 20 batches and Student's t, so that dependence shorter than a batch counts (Law
/// and Kelton, Simulation Modeling and Analysis, section 9.5). No bounds below 40 samples; the
/// samples beyond 20 equal batches only count in the mean. At least one sample (checked).
MeanInterval mean_interval(std::span<const std::int64_t> samples, const Probability& confidence);

}  // namespace vivace::stats
