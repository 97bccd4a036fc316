#include "load/goals.h"

#include <algorithm>

#include "load/service_level.h"
#include "stats/summary.h"

namespace vivace::load {

bool width_reached(const WidthGoal& goal, const stats::Probability& confidence,
                   std::span<const std::int64_t> latency_ns) {
  if (static_cast<std::int64_t>(latency_ns.size()) < kSamplesSound) return false;
  const stats::Summary summary = stats::summarize(latency_ns, std::span(&goal.p, 1), confidence);
  const auto width = stats::relative_half_width(summary.percentiles.front());
  return width && *width <= goal.half_width;
}

bool verdict_reached(const VerdictGoal& goal, std::span<const std::int64_t> latency_ns) {
  if (static_cast<std::int64_t>(latency_ns.size()) < kSamplesSound) return false;
  const ServiceLevel level{.p = goal.p, .limit_ns = goal.limit_ns, .text = {}};
  return judge_at_any_time(level, latency_ns, goal.confidence).verdict != "inconclusive";
}

}  // namespace vivace::load
