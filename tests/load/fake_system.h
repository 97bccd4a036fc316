// A system of known behaviour: so many requests, such stages, an error or a stop where it is told.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <utility>
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
  /// Of a simulated call: work that is left when it returns.
  std::int64_t left_ns = 0;
  std::int64_t untimed = 0;
  bool here = true;
  /// The value of each is the number of the run.
  std::vector<std::string> names;

  /// From now on run i takes latency_ns(i) on a clock of its own.
  void simulate(std::function<std::int64_t(int)> latency_ns) {
    latency_ns_ = std::move(latency_ns);
  }

  Result<void> prepare() override {
    calls += 'p';
    return prepared;
  }
  Result<void> run(Recorder& recorder) override {
    calls += 'r';
    ++runs;
    values_.assign(names.size(), runs);
    if (latency_ns_) {
      now_ns_ += latency_ns_(runs);
      still_left_ns_ = left_ns;
    }
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
  Result<void> sync() override {
    now_ns_ += still_left_ns_;
    still_left_ns_ = 0;
    return {};
  }
  system::Completion completion() const override {
    return latency_ns_ ? system::Completion::kSync : system::Completion::kByConstruction;
  }
  std::int64_t now_ns() const override { return latency_ns_ ? now_ns_ : platform::now_ns(); }
  bool simulated() const override { return static_cast<bool>(latency_ns_); }
  bool runs_here() const override { return here; }
  std::int64_t untimed_ns() const override { return untimed; }
  std::span<const std::string> covariate_names() const override { return names; }
  std::span<const double> covariates() const override { return values_; }

 private:
  std::function<std::int64_t(int)> latency_ns_;
  std::int64_t now_ns_ = 0;
  std::int64_t still_left_ns_ = 0;
  std::vector<double> values_;
};

}  // namespace vivace::load::test
