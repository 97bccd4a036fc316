// Whether the samples of a run are one steady series. A percentile across a change of level is the
// percentile of a mixture that no later run will show again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stats/change_point.h"
#include "stats/shape.h"
#include "stats/trend.h"

namespace vivace::stats {

enum class SteadinessClass {
  kUndetermined,  ///< fewer than 50 samples
  kSteady,
  kWarmUp,      ///< the level only falls, and its last stretch is at least half
  kSlowDown,    ///< it rises once
  kDrifting,    ///< it moves otherwise, by jumps or by a trend
  kMultimodal,  ///< it jumps back and forth between two levels
};

/// "steady", "warm-up" ...: the name in files.
std::string_view name_of(SteadinessClass one);

struct SteadinessReport {
  SteadinessClass steadiness = SteadinessClass::kUndetermined;
  Segments segments;           ///< the material ones
  std::optional<Trend> trend;  ///< nothing below 50 samples
  Shape shape;
  std::int64_t outlier_count = 0;
};

/// Of at least one sample (checked), in the order in which they were taken. Cost: a few sorts.
SteadinessReport assess_steadiness(std::span<const std::int64_t> samples);

}  // namespace vivace::stats
