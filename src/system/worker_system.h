// Another program that runs requests when told to: a PyTorch, ONNX Runtime or any other model
// behind a few lines of text (docs/systems.md). It is started once; a request is a line there and a
// line back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "platform/process.h"
#include "system/system.h"

namespace vivace::system {

/// A worker may load a model before its first line, and run for long.
inline constexpr std::int64_t kHelloTimeoutNs = 300'000'000'000;
inline constexpr std::int64_t kReplyTimeoutNs = 60'000'000'000;

/// The first line of a worker: "vivace-worker 1", then words: sync, batch, items:N, stages:a,b,
/// covariates:x,y, timeout:SECONDS, name:TEXT.
struct WorkerHello {
  bool has_sync = false;
  bool takes_batch = false;
  std::int64_t items = 1;  ///< answered by a run of a batch of 1
  std::vector<Stage> stages;
  std::vector<std::string> covariates;
  std::int64_t timeout_ns = kReplyTimeoutNs;  ///< of each answer
  std::string name;
};
/// Errors: kBadData for another first line, version, word or stage, and for a covariate that is
/// named twice or is one that vivace records itself.
Result<WorkerHello> parse_hello(std::string_view line);

class WorkerSystem final : public System {
 public:
  /// Starts `command` by the shell and waits for its hello. Errors: kUnavailable where it ends or
  /// says nothing, kBadData for what is no hello, kUsage for a batch that it does not take.
  static Result<std::unique_ptr<WorkerSystem>> start(
      const std::string& command, std::int64_t batch,
      std::int64_t hello_timeout_ns = kHelloTimeoutNs);

  Result<void> prepare() override;
  Result<void> run(Recorder& recorder) override;
  Result<void> finish() override;
  std::int64_t items_per_run() const override { return batch_ * hello_.items; }
  Result<void> sync() override;
  Completion completion() const override {
    return hello_.has_sync ? Completion::kSync : Completion::kCpuTime;
  }
  /// Of the worker and its descendants: some ten microseconds for each of their threads.
  platform::Usage usage() override;
  bool runs_here() const override { return false; }
  std::span<const std::string> covariate_names() const override { return hello_.covariates; }
  std::span<const double> covariates() const override { return values_; }

  const WorkerHello& hello() const { return hello_; }
  /// Median time of a request that does nothing: it is part of every latency.
  std::int64_t round_trip_ns() const { return round_trip_ns_; }

 private:
  WorkerSystem(std::string command, platform::Conversation conversation, WorkerHello hello,
               std::int64_t batch);
  Result<std::string> ask(std::string_view request);
  Result<void> ask_plainly(std::string_view request);
  Result<void> read_facts(std::string_view reply, Recorder& recorder);
  Result<void> calibrate();

  std::string command_;
  platform::Conversation conversation_;
  WorkerHello hello_;
  std::int64_t batch_;
  std::string prepare_line_;
  std::vector<double> values_;
  platform::Usage usage_;
  int prepared_ = 0;
  std::int64_t round_trip_ns_ = 0;
};

}  // namespace vivace::system
