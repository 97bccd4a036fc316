#include "stats/mean.h"

#include <array>
#include <cmath>

#include "core/check.h"
#include "stats/distributions.h"

namespace vivace::stats {
namespace {

constexpr std::size_t kBatches = 20;

double mean_of(std::span<const std::int64_t> samples) {
  double sum = 0;
  for (const std::int64_t x : samples) sum += static_cast<double>(x);
  return sum / static_cast<double>(samples.size());
}

}  // namespace

MeanInterval mean_interval(std::span<const std::int64_t> samples, const Probability& confidence) {
  VIVACE_CHECK(!samples.empty());
  MeanInterval interval{.mean = mean_of(samples), .lower = {}, .upper = {}};
  if (samples.size() < 2 * kBatches) return interval;
  const std::size_t size = samples.size() / kBatches;
  std::array<double, kBatches> means{};
  double centre = 0;
  for (std::size_t i = 0; i < kBatches; ++i) {
    means[i] = mean_of(samples.subspan(i * size, size));
    centre += means[i] / kBatches;
  }
  double squares = 0;
  for (const double mean : means) squares += (mean - centre) * (mean - centre);
  const double error = std::sqrt(squares / (kBatches - 1) / kBatches);
  const double t = student_t_quantile(kBatches - 1, 1 - confidence.complement().value() / 2);
  interval.lower = interval.mean - t * error;
  interval.upper = interval.mean + t * error;
  return interval;
}

}  // namespace vivace::stats
