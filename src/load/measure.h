// The measuring loop: the phases of one run under the protocol of docs/measurement.md, in order.
// One request at a time, closed loop; the instrument's own work lies between the stamps of one
// request and the next, never between those of one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
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

/// Sampling goes on until the interval of percentile `p` is within +- `half_width` of the value.
struct WidthGoal {
  stats::Probability p{99, 100};
  double half_width = 0.02;
};

/// Sampling goes on until a test that may be read at any time says pass or fail of "P_p < limit".
struct VerdictGoal {
  stats::Probability p{95, 100};
  std::int64_t limit_ns = 0;
  stats::Probability confidence{95, 100};
};

struct MeasurePlan {
  std::int64_t warm_up = 20;   ///< runs discarded whatever they show, >= kWarmUpMin
  std::int64_t samples = 500;  ///< at most, the ones that the warm-up takes not counted
  std::int64_t duration_ns = 60'000'000'000;  ///< of the sampling, at most
  std::optional<WidthGoal> width_goal = {};   ///< either ends the sampling from kSamplesSound on
  std::optional<VerdictGoal> verdict_goal = {};
  stats::Probability confidence{95, 100};  ///< of the interval of the width goal
  std::uint64_t seed = 0;                  ///< of the order of several systems
};

enum class StopReason { kSamples, kDuration, kInterrupted, kWidth, kVerdict };

/// What run + sync against run said about a system whose calls may return early. (Its first runs
/// are looked at, then one in twenty.)
struct CompletionCheck {
  bool checked = false;       ///< false: by construction, or the system gives no means
  bool asynchronous = false;  ///< work was left when run() returned
  double excess_share = 0;  ///< median of (run + sync) / run - 1, or CPU time after the reply / run
  std::int64_t runs = 0;    ///< that were looked at
  system::Completion by = system::Completion::kByConstruction;
};

/// What a run gave, before any statistics.
struct Measurement {
  platform::ClockFacts clock;
  double usage_cost_ns = 0;  ///< of the covariates read at each sample, outside of the stamps
  double surroundings_cost_ns = 0;      ///< of those read between samples
  std::int64_t surroundings_every = 1;  ///< samples per reading of them
  platform::Interference before;
  platform::Interference after;
  double others_busy_share = 0;  ///< of the machine, before the run
  std::int64_t first_inference_ns = 0;
  result::WarmUp warm_up;
  result::Samples samples;
  StopReason stop_reason = StopReason::kSamples;
  std::int64_t items_per_run = 1;
  CompletionCheck completion;
  bool simulated = false;
};

struct MeasureHooks {
  /// Set by a signal handler: the run ends cleanly with what it has.
  const std::atomic<bool>* stop = nullptr;
  /// Called between requests: phase ("warm-up", "sampling"), runs done, runs planned, seconds left
  /// at this pace or < 0 while unknown.
  std::function<void(const char* phase, std::int64_t done, std::int64_t planned, double left_s)>
      progress;
};

/// One system among several that are measured side by side.
struct Subject {
  system::System* system = nullptr;
  std::string label;
};

/// Quiet check, clock calibration, first inference, warm-up, sampling. Errors: the system's own.
Result<Measurement> measure(system::System& system, const MeasurePlan& plan,
                            const MeasureHooks& hooks);

/// The same for several, interleaved: each round runs every subject once, in an order drawn anew,
/// so that what drifts drifts for all. Sample i of each belongs to round i; the warm-up discards
/// the same rounds of all. A goal has to be met by each.
Result<std::vector<Measurement>> measure_side_by_side(std::span<const Subject> subjects,
                                                      const MeasurePlan& plan,
                                                      const MeasureHooks& hooks);

/// Writes what was measured into the document: clock, phases, samples (moved), summary with
/// steadiness, and the caveats that the figures carry. `load_ns` is the time that loading took, 0
/// where nothing was loaded.
void fill_document(Measurement measurement, std::int64_t load_ns,
                   std::span<const stats::Probability> percentiles,
                   const stats::Probability& confidence, result::Document& document);

}  // namespace vivace::load
