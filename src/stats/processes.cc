#include "stats/processes.h"

#include <cmath>
#include <vector>

#include "core/check.h"
#include "core/random.h"
#include "stats/comparison.h"

namespace vivace::stats {

ProcessSpread process_spread(std::span<const PercentileEstimate> medians,
                             const Probability& confidence) {
  VIVACE_CHECK(medians.size() >= 2);
  const double z = normal_quantile(1 - confidence.complement().value() / 2);
  const auto count = static_cast<double>(medians.size());
  ProcessSpread spread;
  double mean = 0;
  int with_interval = 0;
  for (const PercentileEstimate& median : medians) {
    mean += static_cast<double>(median.value_ns) / count;
    if (!median.lower_ns || !median.upper_ns) continue;
    const double error = static_cast<double>(*median.upper_ns - *median.lower_ns) / (2 * z);
    spread.within_ns2 += error * error;
    ++with_interval;
  }
  if (with_interval > 0) spread.within_ns2 /= with_interval;
  for (const PercentileEstimate& median : medians) {
    const double d = static_cast<double>(median.value_ns) - mean;
    spread.between_ns2 += d * d / (count - 1);
  }
  spread.over_processes = spread.between_ns2 > spread.within_ns2;
  return spread;
}

OverProcesses interval_over_processes(std::span<const std::int64_t> values_ns,
                                      const Probability& confidence) {
  std::vector<double> logs;
  for (const std::int64_t value : values_ns) {
    if (value <= 0) return {};
    logs.push_back(std::log(static_cast<double>(value)));
  }
  const Shift shift = paired_shift(logs, confidence);
  OverProcesses interval;
  if (shift.lower) interval.lower_ns = std::llround(std::exp(*shift.lower));
  if (shift.upper) interval.upper_ns = std::llround(std::exp(*shift.upper));
  return interval;
}

}  // namespace vivace::stats
