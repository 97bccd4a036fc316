// What can be measured: the system under test. The measuring loop knows nothing else of it.
#pragma once

#include <string>

#include "core/error.h"
#include "record/recorder.h"

namespace vivace::system {

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
};

}  // namespace vivace::system
