#include "load/measure.h"

#include <algorithm>

#include "core/check.h"

namespace vivace::load {
namespace {

constexpr int kQuietWindowMs = 200;

platform::Usage operator-(const platform::Usage& a, const platform::Usage& b) {
  return {a.cpu_ns - b.cpu_ns, a.voluntary_switches - b.voluntary_switches,
          a.involuntary_switches - b.involuntary_switches, a.minor_faults - b.minor_faults,
          a.major_faults - b.major_faults};
}

/// What reading the covariates of one sample costs.
double calibrate_usage_ns() {
  constexpr int kReadings = 200;
  const std::int64_t start = platform::now_ns();
  for (int i = 0; i < kReadings; ++i) {
    (void)platform::read_usage();
    (void)platform::current_cpu();
  }
  return static_cast<double>(platform::now_ns() - start) / kReadings;
}

bool stopped(const MeasureHooks& hooks) {
  return hooks.stop != nullptr && hooks.stop->load(std::memory_order_relaxed);
}

/// One request. Nothing but the system's own work happens between the two stamps.
Result<void> take_sample(system::System& system, Recorder& recorder, Sample& sample) {
  VIVACE_CHECK_OK(system.prepare());
  recorder.reset();
  sample.cpu_before = platform::current_cpu();
  const platform::Usage before = platform::read_usage();
  // Closed loop: a request is meant to start when it starts.
  sample.start_ns = sample.intended_ns = platform::now_ns();
  Result<void> done = system.run(recorder);
  sample.end_ns = platform::now_ns();
  sample.usage = platform::read_usage() - before;
  sample.cpu_after = platform::current_cpu();
  if (!done) return done;
  sample.stages = recorder.times();
  sample.stages[static_cast<std::size_t>(Stage::kUnattributed)] =
      sample.latency_ns() - recorder.sum_ns();
  return system.finish();
}

Result<void> warm_up(system::System& system, const MeasurePlan& plan, const MeasureHooks& hooks,
                     Recorder& recorder, Measurement& measurement) {
  Sample sample;
  // The first inference is a figure of its own: it allocates, faults pages in and fills caches.
  VIVACE_CHECK_OK(take_sample(system, recorder, sample));
  measurement.first_inference_ns = sample.latency_ns();
  measurement.warm_up_done = 1;
  while (measurement.warm_up_done < plan.warm_up && !stopped(hooks)) {
    VIVACE_CHECK_OK(take_sample(system, recorder, sample));
    ++measurement.warm_up_done;
    if (hooks.progress) {
      const std::int64_t left = plan.warm_up - measurement.warm_up_done;
      hooks.progress("warm-up", measurement.warm_up_done, plan.warm_up,
                     static_cast<double>(left * sample.latency_ns()) * 1e-9);
    }
  }
  return {};
}

Result<void> sample_all(system::System& system, const MeasurePlan& plan, const MeasureHooks& hooks,
                        Recorder& recorder, Measurement& measurement) {
  const std::int64_t start_ns = platform::now_ns();
  measurement.stop_reason = StopReason::kSamples;
  while (static_cast<std::int64_t>(measurement.samples.size()) < plan.samples) {
    const std::int64_t elapsed_ns = platform::now_ns() - start_ns;
    if (stopped(hooks)) {
      measurement.stop_reason = StopReason::kInterrupted;
      return {};
    }
    if (elapsed_ns >= plan.duration_ns && !measurement.samples.empty()) {
      measurement.stop_reason = StopReason::kDuration;
      return {};
    }
    VIVACE_CHECK_OK(take_sample(system, recorder, measurement.samples.emplace_back()));
    if (hooks.progress) {
      const auto done = static_cast<double>(measurement.samples.size());
      const auto spent_s = static_cast<double>(platform::now_ns() - start_ns) * 1e-9;
      const double by_count = spent_s / done * (static_cast<double>(plan.samples) - done);
      const double by_time = static_cast<double>(plan.duration_ns) * 1e-9 - spent_s;
      hooks.progress("sampling", static_cast<std::int64_t>(done), plan.samples,
                     std::max(0.0, std::min(by_count, by_time)));
    }
  }
  return {};
}

}  // namespace

Result<Measurement> measure(system::System& system, const MeasurePlan& plan,
                            const MeasureHooks& hooks) {
  VIVACE_CHECK(plan.warm_up >= 1 && plan.samples >= 1);
  Measurement measurement;
  measurement.items_per_run = system.items_per_run();
  // Growing beyond happens between requests, outside of their stamps.
  constexpr std::int64_t kReservedMax = 100'000;
  measurement.samples.reserve(static_cast<std::size_t>(std::min(plan.samples, kReservedMax)));
  measurement.others_busy_share = platform::busy_share_of_others(kQuietWindowMs);
  measurement.clock = platform::calibrate_clock();
  measurement.usage_cost_ns = calibrate_usage_ns();
  measurement.before = platform::read_interference();
  Recorder recorder;
  VIVACE_CHECK_OK(warm_up(system, plan, hooks, recorder, measurement));
  VIVACE_CHECK_OK(sample_all(system, plan, hooks, recorder, measurement));
  measurement.after = platform::read_interference();
  return measurement;
}

}  // namespace vivace::load
