// The measuring loop: the phases of one run under the protocol of docs/measurement.md, in order.
// One request at a time, closed loop; the instrument's own work lies between the stamps of one
// request and the next, never between those of one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/error.h"
#include "platform/clock.h"
#include "platform/interference.h"
#include "platform/usage.h"
#include "record/stage.h"
#include "result/document.h"
#include "stats/probability.h"
#include "system/system.h"

namespace vivace::load {

/// The counts that a run is held to be sound with.
inline constexpr std::int64_t kWarmUpMin = 10;
inline constexpr std::int64_t kSamplesSound = 100;

struct MeasurePlan {
  std::int64_t warm_up = 20;                  ///< runs discarded before the samples, >= kWarmUpMin
  std::int64_t samples = 500;                 ///< at most
  std::int64_t duration_ns = 60'000'000'000;  ///< of the sampling, at most
};

/// One request as it was measured.
struct Sample {
  std::int64_t intended_ns = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  StageTimes stages{};    ///< kUnattributed included: they add up to the latency
  platform::Usage usage;  ///< what the process used during it
  int cpu_before = -1;
  int cpu_after = -1;

  std::int64_t latency_ns() const { return end_ns - start_ns; }
};

enum class StopReason { kSamples, kDuration, kInterrupted };

/// What a run gave, before any statistics.
struct Measurement {
  platform::ClockFacts clock;
  double usage_cost_ns = 0;  ///< of reading the covariates once, outside the stamps
  platform::Interference before;
  platform::Interference after;
  double others_busy_share = 0;  ///< of the machine, before the run
  std::int64_t first_inference_ns = 0;
  std::int64_t warm_up_done = 0;
  std::vector<Sample> samples;
  StopReason stop_reason = StopReason::kSamples;
  std::int64_t items_per_run = 1;
};

struct MeasureHooks {
  /// Set by a signal handler: the run ends cleanly with what it has.
  const std::atomic<bool>* stop = nullptr;
  /// Called between requests: phase ("warm-up", "sampling"), runs done, runs planned, seconds left
  /// at this pace or < 0 while unknown.
  std::function<void(const char* phase, std::int64_t done, std::int64_t planned, double left_s)>
      progress;
};

/// Quiet check, clock calibration, first inference, warm-up, sampling. Errors: the system's own.
Result<Measurement> measure(system::System& system, const MeasurePlan& plan,
                            const MeasureHooks& hooks);

/// Writes what was measured into the document: clock, phases, samples, summary, and the caveats
/// that the figures carry. `load_ns` is the time that loading the system took.
void fill_document(const Measurement& measurement, std::int64_t load_ns,
                   std::span<const stats::Probability> percentiles, result::Document& document);

}  // namespace vivace::load
