// When the sampling may end: questions put to the samples so far, seldom enough to cost little.
#pragma once

#include <cstdint>
#include <span>

#include "load/measure.h"

namespace vivace::load {

/// True once the percentile's interval is as narrow as asked.
bool width_reached(const WidthGoal& goal, const stats::Probability& confidence,
                   std::span<const std::int64_t> latency_ns);

/// True once the test that is valid at any time says pass or fail.
bool verdict_reached(const VerdictGoal& goal, std::span<const std::int64_t> latency_ns);

}  // namespace vivace::load
