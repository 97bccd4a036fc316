// What can be measured: the system under test. The measuring loop knows nothing else of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "platform/clock.h"
#include "platform/usage.h"
#include "record/recorder.h"

namespace vivace::system {

/// How it is known that the work of a request is done when run() returns.
enum class Completion {
  kByConstruction,  ///< run() cannot return earlier
  kSync,            ///< sync() waits for what is left: run + sync against run shows it
  kCpuTime,         ///< judged by CPU time that the workers use after the reply
};

class System {
 public:
  virtual ~System() = default;

  /// Makes the next request ready, outside of the timed region.
  virtual Result<void> prepare() = 0;
  /// Runs it: the timed region. Returns when the answer is there; stamps its stages.
  virtual Result<void> run(Recorder& recorder) = 0;
  /// What is left of the request after the timed region.
  virtual Result<void> finish() = 0;
  /// Requests' items answered by one run(): the batch.
  virtual std::int64_t items_per_run() const = 0;

  /// Of the last run(), time that is no part of the latency: a shell's own start.
  virtual std::int64_t untimed_ns() const { return 0; }

  /// Returns when no work of the last run() is left anywhere. Called between run() and finish() of
  /// some requests, outside of the latency.
  virtual Result<void> sync() { return {}; }
  virtual Completion completion() const { return Completion::kByConstruction; }

  /// What all threads and processes that do the work have used so far.
  virtual platform::Usage usage() { return platform::read_usage(); }
  /// False where the work is done in other processes: on which CPU ours runs then says nothing.
  virtual bool runs_here() const { return true; }
  /// Facts of each request that the system alone knows, recorded so that larger is worse
  /// ("queue_length", "allocations"). The names never change; after run() there is a value for
  /// each.
  virtual std::span<const std::string> covariate_names() const { return {}; }
  virtual std::span<const double> covariates() const { return {}; }

  /// The clock that requests are stamped with. A simulated system brings its own.
  virtual std::int64_t now_ns() const { return platform::now_ns(); }
  /// True where now_ns() is no clock of this world: nothing of the machine then bears on a latency,
  /// and it is not read.
  virtual bool simulated() const { return false; }
};

}  // namespace vivace::system
