// From a measurement to the result document: the figures, and what to hold against them.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/units.h"
#include "load/measure.h"
#include "result/summarize.h"
#include "stats/summary.h"

namespace vivace::load {
namespace {

// When the machine counts as busy with something else: shares of all its CPU time.
constexpr double kBusyShareMax = 0.10;
constexpr double kStealShareMax = 0.02;
constexpr double kMemoryPressurePctMax = 1;
/// Stages must account for all but this share of the latency.
constexpr double kUnattributedShareMax = 0.02;
/// Two clock readings beside the shortest request.
constexpr double kClockShareMax = 0.05;

void fill_samples(const Measurement& measurement, result::Samples& samples) {
  const std::size_t count = measurement.samples.size();
  samples.latency_ns.reserve(count);
  for (const Sample& sample : measurement.samples)
    samples.latency_ns.push_back(sample.latency_ns());
  for (std::size_t stage = 0; stage < kStageCount; ++stage) {
    const bool used = std::any_of(measurement.samples.begin(), measurement.samples.end(),
                                  [&](const Sample& sample) { return sample.stages[stage] != 0; });
    if (!used && static_cast<Stage>(stage) != Stage::kUnattributed) continue;
    result::StageSamples times;
    times.stage = static_cast<Stage>(stage);
    for (const Sample& sample : measurement.samples) times.times_ns.push_back(sample.stages[stage]);
    samples.stages.push_back(std::move(times));
  }
  const auto covariate = [&](const char* name, auto value_of) {
    result::CovariateSamples values;
    values.name = name;
    for (const Sample& sample : measurement.samples) {
      values.values.push_back(static_cast<double>(value_of(sample)));
    }
    samples.covariates.push_back(std::move(values));
  };
  covariate("cpu_time_ns", [](const Sample& s) { return s.usage.cpu_ns; });
  covariate("voluntary_switches", [](const Sample& s) { return s.usage.voluntary_switches; });
  covariate("involuntary_switches", [](const Sample& s) { return s.usage.involuntary_switches; });
  covariate("minor_faults", [](const Sample& s) { return s.usage.minor_faults; });
  covariate("major_faults", [](const Sample& s) { return s.usage.major_faults; });
  covariate("migrated", [](const Sample& s) { return s.cpu_before != s.cpu_after ? 1 : 0; });
}

void add_quiet_caveats(const Measurement& measurement, std::vector<result::Caveat>& caveats) {
  if (measurement.others_busy_share > kBusyShareMax) {
    caveats.push_back(
        {.id = "environment.busy",
         .message = fmt::format("other work used {:.0f}% of the machine's CPU time "
                                "just before the run; latencies are inflated",
                                100 * measurement.others_busy_share),
         .advice = "stop other programs, or compare only with runs taken side by side",
         .unknown = {}});
  }
  const double steal = platform::steal_share(measurement.before, measurement.after);
  if (steal > kStealShareMax) {
    caveats.push_back(
        {.id = "environment.steal",
         .message = fmt::format("the hypervisor gave {:.0f}% of the CPU time to other "
                                "guests during the run",
                                100 * steal),
         .advice = "repeat at another time, or on a machine of your own",
         .unknown = {}});
  }
  const double pressure_pct = measurement.before.memory_pressure_pct.value_or(0);
  if (pressure_pct > kMemoryPressurePctMax) {
    caveats.push_back({.id = "environment.memory_pressure",
                       .message = fmt::format("tasks waited for memory {:.0f}% of the time before "
                                              "the run",
                                              pressure_pct),
                       .advice = "free memory, or use a smaller model or batch",
                       .unknown = {}});
  }
}

void add_sampling_caveats(const Measurement& measurement, std::vector<result::Caveat>& caveats) {
  const auto count = static_cast<std::int64_t>(measurement.samples.size());
  if (count < kSamplesSound) {
    caveats.push_back(
        {.id = "sampling.few",
         .message = fmt::format("{} samples; a sound run has at least {}", count, kSamplesSound),
         .advice =
             fmt::format("raise --samples{}", measurement.stop_reason == StopReason::kDuration
                                                  ? " and --duration, or measure a smaller request"
                                                  : ""),
         .unknown = {}});
  }
  if (measurement.stop_reason == StopReason::kDuration) {
    caveats.push_back(
        {.id = "sampling.duration",
         .message = fmt::format("the time limit ended the sampling after {} samples", count),
         .advice = "raise --duration for narrower intervals",
         .unknown = {}});
  }
  if (measurement.stop_reason == StopReason::kInterrupted) {
    caveats.push_back({.id = "sampling.interrupted",
                       .message = fmt::format("the run was interrupted after {} samples", count),
                       .advice = "run it again to its end",
                       .unknown = {}});
  }
}

/// What the stages' own stamps and the instrument's cost say about the figures.
void add_instrument_caveats(const Measurement& measurement, const result::Summary& summary,
                            std::vector<result::Caveat>& caveats) {
  for (const result::StageSummary& stage : summary.stages) {
    if (stage.stage != Stage::kUnattributed || stage.share <= kUnattributedShareMax) continue;
    caveats.push_back(
        {.id = "stages.unattributed",
         .message = fmt::format("{:.1f}% of the latency lies in no stage", 100 * stage.share),
         .advice = "expected for very short requests; else report it",
         .unknown = {}});
  }
  const double clock_share = static_cast<double>(2 * measurement.clock.cost_ns) /
                             static_cast<double>(std::max<std::int64_t>(summary.latency.min_ns, 1));
  if (clock_share > kClockShareMax) {
    caveats.push_back({.id = "clock.coarse",
                       .message = fmt::format("reading the clock costs {:.0f}% of the shortest "
                                              "request",
                                              100 * clock_share),
                       .advice = "measure a larger batch",
                       .unknown = {}});
  }
}

std::string_view stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::kSamples:
      return "samples";
    case StopReason::kDuration:
      return "duration";
    case StopReason::kInterrupted:
      return "interrupted";
  }
  return "samples";
}

}  // namespace

void fill_document(const Measurement& measurement, std::int64_t load_ns,
                   std::span<const stats::Probability> percentiles, result::Document& document) {
  document.clock.resolution_ns = measurement.clock.resolution_ns;
  document.clock.cost_ns = measurement.clock.cost_ns;
  document.clock.covariates_cost_ns = std::llround(measurement.usage_cost_ns);
  document.phases.cold_start.load_ns = load_ns;
  document.phases.cold_start.first_inference_ns = measurement.first_inference_ns;
  document.phases.warm_up.method = "fixed";
  document.phases.warm_up.discarded = measurement.warm_up_done;
  document.phases.sampling.count = static_cast<std::int64_t>(measurement.samples.size());
  document.phases.sampling.stop_reason = stop_reason_name(measurement.stop_reason);
  add_quiet_caveats(measurement, document.caveats);
  add_sampling_caveats(measurement, document.caveats);
  if (measurement.samples.empty()) return;

  fill_samples(measurement, document.samples);
  document.summary = result::summarize(document.samples, percentiles, stats::default_confidence());
  double total_ns = 0;
  for (const std::int64_t latency_ns : document.samples.latency_ns) {
    total_ns += static_cast<double>(latency_ns);
  }
  // Closed loop, one at a time: items per second of timed region.
  document.summary->throughput_per_s = static_cast<double>(measurement.samples.size()) *
                                       static_cast<double>(measurement.items_per_run) /
                                       (total_ns * 1e-9);
  add_instrument_caveats(measurement, *document.summary, document.caveats);
}

}  // namespace vivace::load
