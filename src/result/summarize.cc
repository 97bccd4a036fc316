#include "result/summarize.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/check.h"

namespace vivace::result {
namespace {

std::vector<Percentile> percentiles_of(const stats::Summary& summary) {
  std::vector<Percentile> percentiles;
  percentiles.reserve(summary.percentiles.size());
  for (const stats::PercentileEstimate& estimate : summary.percentiles) {
    percentiles.push_back({.p = estimate.p,
                           .value_ns = estimate.value_ns,
                           .ci_low_ns = estimate.lower_ns,
                           .ci_high_ns = estimate.upper_ns,
                           .confidence = summary.confidence,
                           .rank_low = estimate.ranks.lower,
                           .rank_high = estimate.ranks.upper,
                           .n_eff = estimate.size.n_eff,
                           .samples_needed = estimate.samples_needed,
                           .unknown = {}});
  }
  return percentiles;
}

/// To whole nanoseconds, held within 64 bits (the mean of the largest values rounds beyond them).
std::int64_t whole_ns(double ns) {
  return ns < 9.2e18 ? static_cast<std::int64_t>(std::llround(ns)) : 9'200'000'000'000'000'000;
}

double total_of(std::span<const std::int64_t> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

Summary summarize(const Samples& samples, std::span<const stats::Probability> percentiles,
                  const stats::Probability& confidence) {
  const stats::Summary latency = stats::summarize(samples.latency_ns, percentiles, confidence);
  Summary summary;
  summary.latency.n = latency.n;
  summary.latency.n_eff = latency.n_eff;
  summary.latency.mean_ns = whole_ns(latency.mean_ns);
  if (latency.standard_deviation_ns) {
    summary.latency.standard_deviation_ns = whole_ns(*latency.standard_deviation_ns);
  }
  summary.latency.mad_ns = whole_ns(latency.median_absolute_deviation_ns);
  summary.latency.min_ns = latency.min_ns;
  summary.latency.max_ns = latency.max_ns;
  summary.latency.percentiles = percentiles_of(latency);

  const double total = total_of(samples.latency_ns);
  for (const StageSamples& stage : samples.stages) {
    VIVACE_CHECK(stage.times_ns.size() == samples.latency_ns.size());
    const stats::Summary times = stats::summarize(stage.times_ns, percentiles, confidence);
    summary.stages.push_back({.stage = stage.stage,
                              .mean_ns = whole_ns(times.mean_ns),
                              .share = total > 0 ? total_of(stage.times_ns) / total : 0,
                              .percentiles = percentiles_of(times),
                              .unknown = {}});
  }
  // Equal shares keep the order of the stages, so that the outcome never varies. (Not stable_sort:
  // clang warns of what it uses inside g++ 12's library.)
  std::sort(summary.stages.begin(), summary.stages.end(),
            [](const StageSummary& a, const StageSummary& b) {
              return a.share != b.share ? a.share > b.share : a.stage < b.stage;
            });
  return summary;
}

Summary summarize(const Samples& samples) {
  return summarize(samples, stats::default_percentiles(), stats::default_confidence());
}

}  // namespace vivace::result
