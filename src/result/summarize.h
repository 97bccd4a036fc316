// From raw samples to the summary of a document.
#pragma once

#include <span>

#include "result/document.h"
#include "stats/summary.h"

namespace vivace::result {

/// Latency and every stage, largest stage first. Throughput and steadiness stay empty: they need
/// more than the samples. `samples` holds at least one latency, and as many values for each stage
/// (checked).
Summary summarize(const Samples& samples, std::span<const stats::Probability> percentiles,
                  const stats::Probability& confidence);

/// The same with P50, P90, P95, P99, P99.9 at 95%.
Summary summarize(const Samples& samples);

}  // namespace vivace::result
