// A system of known behaviour: so many requests, such stages, an error or a stop where it is told.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "platform/clock.h"
#include "system/system.h"

namespace vivace::load::test {

class FakeSystem final : public system::System {
 public:
  /// What happened, in order: 'p'repare, 'r'un, 'f'inish.
  std::string calls;
  int runs = 0;
  std::int64_t items = 1;
  /// Spent in run(), by spinning.
  std::int64_t busy_ns = 0;
  /// Stamped by run(), whatever the time that went by.
  std::vector<std::pair<Stage, std::int64_t>> stamps;
  /// Called in each run with its number from 1.
  std::function<Result<void>(int)> during_run;
  Result<void> prepared;
  Result<void> finished;

  Result<void> prepare() override {
    calls += 'p';
    return prepared;
  }
  Result<void> run(Recorder& recorder) override {
    calls += 'r';
    ++runs;
    const std::int64_t start_ns = platform::now_ns();
    while (platform::now_ns() - start_ns < busy_ns) {
    }
    for (const auto& [stage, elapsed_ns] : stamps) recorder.add(stage, elapsed_ns);
    return during_run ? during_run(runs) : Result<void>();
  }
  Result<void> finish() override {
    calls += 'f';
    return finished;
  }
  std::int64_t items_per_run() const override { return items; }
};

}  // namespace vivace::load::test
