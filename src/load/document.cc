// From a measurement to the result document: the figures, and what to hold against them.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/units.h"
#include "load/measure.h"
#include "result/summarize.h"
#include "stats/mean.h"
#include "stats/steadiness.h"
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
/// Samples that the CPU quota held, or that waited for a page from disk.
constexpr double kThrottledShareMax = 0.01;
constexpr double kMajorFaultShareMax = 0.05;

void add_quiet_caveats(const Measurement& measurement, std::vector<result::Caveat>& caveats) {
  if (measurement.simulated) return;
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
  const auto count = static_cast<std::int64_t>(measurement.samples.latency_ns.size());
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

/// The machine held the process back during the samples themselves.
void add_interference_caveats(const result::Samples& samples,
                              std::vector<result::Caveat>& caveats) {
  const auto share_above_zero = [&](std::string_view name) {
    for (const result::CovariateSamples& covariate : samples.covariates) {
      if (covariate.name != name || covariate.values.empty()) continue;
      const auto exposed = std::count_if(covariate.values.begin(), covariate.values.end(),
                                         [](double value) { return value > 0; });
      return static_cast<double>(exposed) / static_cast<double>(covariate.values.size());
    }
    return 0.0;
  };
  if (const double share = share_above_zero("throttled_us"); share > kThrottledShareMax) {
    caveats.push_back({.id = "environment.throttled",
                       .message = fmt::format("the cgroup's CPU quota held the process in {:.0f}% "
                                              "of the samples",
                                              100 * share),
                       .advice = "raise the container's CPU limit, or use fewer threads",
                       .unknown = {}});
  }
  if (const double share = share_above_zero("major_faults"); share > kMajorFaultShareMax) {
    caveats.push_back(
        {.id = "environment.major_faults",
         .message = fmt::format("pages came from disk in {:.0f}% of the samples", 100 * share),
         .advice = "free memory, or read the files once before",
         .unknown = {}});
  }
}

void add_completion_caveats(const Measurement& measurement, std::vector<result::Caveat>& caveats) {
  const CompletionCheck& check = measurement.completion;
  if (check.asynchronous) {
    const bool by_sync = check.by == system::Completion::kSync;
    caveats.push_back(
        {.id = "async_system",
         .message = fmt::format(
             "a call returns before its work is done: {} {:.0f}% of the call's time ({} runs "
             "checked), so what was stamped is no latency",
             by_sync ? "waiting for the rest takes another" : "the worker then uses CPU time for",
             100 * check.excess_share, check.runs),
         .advice = "make run wait for the result (torch.cuda.synchronize, future.result) before it "
                   "replies",
         .unknown = {}});
  } else if (check.by == system::Completion::kCpuTime && !check.checked) {
    caveats.push_back({.id = "completion.unchecked",
                       .message = "whether calls return before their work is done could not be "
                                  "checked",
                       .advice = "give the worker a sync, as docs/systems.md describes",
                       .unknown = {}});
  }
}

void add_warm_up_caveats(const Measurement& measurement, std::vector<result::Caveat>& caveats) {
  if (measurement.warm_up.steady.value_or(true)) return;
  caveats.push_back(
      {.id = "warm_up.no_steady_state",
       .message = "the samples never settled: the best cut of the warm-up lies in their middle or "
                  "later, so only the fixed warm-up was discarded",
       .advice = "raise --samples or --warmup, and look at the steadiness",
       .unknown = {}});
}

result::Steadiness steadiness_of(const stats::SteadinessReport& report) {
  result::Steadiness steadiness;
  steadiness.name = stats::name_of(report.steadiness);
  steadiness.change_points = report.segments.change_points;
  for (const double median : report.segments.medians) {
    steadiness.segment_medians_ns.push_back(std::llround(median));
  }
  if (report.trend) {
    steadiness.trend_p = report.trend->p;
    steadiness.trend_change = report.trend->change;
  }
  steadiness.outliers = report.outlier_count;
  steadiness.root_n_dip = report.shape.root_n_dip;
  steadiness.bimodal = report.shape.bimodal;
  if (report.shape.bimodal && report.shape.modes) {
    steadiness.lower_mode_ns = std::llround(report.shape.modes->lower_median);
    steadiness.upper_mode_ns = std::llround(report.shape.modes->upper_median);
    steadiness.upper_share = report.shape.modes->upper_share;
  }
  return steadiness;
}

void add_steadiness_caveats(const stats::SteadinessReport& report,
                            std::vector<result::Caveat>& caveats) {
  using Class = stats::SteadinessClass;
  if (report.steadiness == Class::kSteady || report.steadiness == Class::kUndetermined) return;
  std::string message;
  std::string advice;
  const auto& medians = report.segments.medians;
  if (!report.segments.change_points.empty()) {
    const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
    message = fmt::format(
        "the level changes {} in the samples (medians of the parts from {} to "
        "{}), and the percentiles are of all of them together",
        report.segments.change_points.size() == 1
            ? std::string("once")
            : fmt::format("{} times", report.segments.change_points.size()),
        format_duration(*least), format_duration(*most));
    advice = report.steadiness == Class::kWarmUp
                 ? "raise --warmup"
                 : "repeat on a quieter machine; compare versions side by side only";
  } else if (report.steadiness == Class::kDrifting && report.trend) {
    message = fmt::format("latencies drift by {:+.1f}% over the run", 100 * report.trend->change);
    advice = "look for heat, a growing queue or a leak; compare versions side by side only";
  } else if (report.shape.modes) {
    message = fmt::format(
        "latencies have two modes, {} and {} ({:.0f}% of the samples in the "
        "upper)",
        format_duration(report.shape.modes->lower_median),
        format_duration(report.shape.modes->upper_median), 100 * report.shape.modes->upper_share);
    advice = "`vivace explain` tells what they go with; a mean describes neither";
  }
  caveats.push_back({.id = fmt::format("steadiness.{}", stats::name_of(report.steadiness)),
                     .message = std::move(message),
                     .advice = std::move(advice),
                     .unknown = {}});
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
  if (measurement.simulated) return;
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
    case StopReason::kWidth:
      return "width";
    case StopReason::kVerdict:
      return "verdict";
  }
  return "samples";
}

}  // namespace

void fill_document(Measurement measurement, std::int64_t load_ns,
                   std::span<const stats::Probability> percentiles,
                   const stats::Probability& confidence, result::Document& document) {
  document.clock.resolution_ns = measurement.clock.resolution_ns;
  document.clock.cost_ns = measurement.clock.cost_ns;
  if (!measurement.simulated) {
    document.clock.covariates_cost_ns = std::llround(measurement.usage_cost_ns);
    document.clock.surroundings_cost_ns = std::llround(measurement.surroundings_cost_ns);
    document.clock.surroundings_every = measurement.surroundings_every;
  }
  if (load_ns > 0) document.phases.cold_start.load_ns = load_ns;
  document.phases.cold_start.first_inference_ns = measurement.first_inference_ns;
  document.phases.warm_up = measurement.warm_up;
  document.phases.sampling.count = static_cast<std::int64_t>(measurement.samples.latency_ns.size());
  document.phases.sampling.stop_reason = stop_reason_name(measurement.stop_reason);
  add_completion_caveats(measurement, document.caveats);
  add_quiet_caveats(measurement, document.caveats);
  add_sampling_caveats(measurement, document.caveats);
  add_warm_up_caveats(measurement, document.caveats);
  document.samples = std::move(measurement.samples);
  const std::vector<std::int64_t>& latency_ns = document.samples.latency_ns;
  if (latency_ns.empty()) return;

  result::Summary& summary =
      document.summary.emplace(result::summarize(document.samples, percentiles, confidence));
  const stats::SteadinessReport report = stats::assess_steadiness(latency_ns);
  summary.steadiness = steadiness_of(report);
  // Closed loop, one at a time: items per second of timed region.
  const stats::MeanInterval mean = stats::mean_interval(latency_ns, confidence);
  const double items = static_cast<double>(measurement.items_per_run) * 1e9;
  if (mean.mean > 0) summary.throughput_per_s = items / mean.mean;
  if (mean.upper && mean.lower && *mean.lower > 0) {
    summary.throughput_ci_low = items / *mean.upper;
    summary.throughput_ci_high = items / *mean.lower;
  }
  add_steadiness_caveats(report, document.caveats);
  add_interference_caveats(document.samples, document.caveats);
  add_instrument_caveats(measurement, summary, document.caveats);
}

}  // namespace vivace::load
