// A shell command as a system under test: from the start of the shell to the end of the command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "system/system.h"

namespace vivace::system {

class ExecSystem final : public System {
 public:
  /// `subtract_startup`: an empty command is run by the same shell before each request, and the
  /// median of its times is taken off the latency.
  ExecSystem(std::string command, bool subtract_startup);

  Result<void> prepare() override;
  /// Errors: kUnavailable where the shell cannot be started or the command fails, with the end of
  /// what it said on standard error; kInterrupted after a signal.
  Result<void> run(Recorder& recorder) override;
  Result<void> finish() override { return {}; }
  std::int64_t items_per_run() const override { return 1; }
  platform::Usage usage() override { return usage_; }
  bool runs_here() const override { return false; }
  /// The median start of an empty shell, of the last hundred or so; 0 where none is taken off.
  std::int64_t untimed_ns() const override { return startup_ns_; }

 private:
  std::string command_;
  bool subtract_startup_;
  platform::Usage usage_;  ///< of all commands so far
  std::vector<std::int64_t> startups_ns_;
  std::int64_t startup_ns_ = 0;
};

}  // namespace vivace::system
