// The columns that one subject's samples are recorded into, straight from the stamps: a million
// samples are a few columns of eight bytes each, not a record of every possible field.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "platform/surroundings.h"
#include "platform/usage.h"
#include "record/stage.h"
#include "result/document.h"
#include "system/system.h"

namespace vivace::load {

/// One request as it was measured.
struct Sample {
  std::int64_t start_ns = 0;
  std::int64_t latency_ns = 0;
  StageTimes stages{};    ///< kUnattributed included: they add up to the latency
  platform::Usage usage;  ///< what the threads and processes that work on it used during it
  int cpu_before = -1;
  int cpu_after = -1;
};

/// What was read between samples: differences since the reading before.
struct SurroundingsReading {
  platform::SurroundingTotals change;
  std::int64_t spin_probe_ns = 0;
  std::int64_t memory_probe_ns = 0;
};

class SampleColumns {
 public:
  /// `known` says which surroundings this machine has; nothing of the machine is recorded of a
  /// system that is simulated, nor on which CPU ours runs when the system runs elsewhere. Reserves
  /// for `expected` samples.
  SampleColumns(std::size_t expected, const system::System& system,
                const platform::SurroundingTotals& known);

  std::size_t size() const { return samples_.latency_ns.size(); }
  const std::vector<std::int64_t>& latency_ns() const { return samples_.latency_ns; }

  void add(const Sample& sample, std::span<const double> own_covariates);
  /// Gives a reading to the samples from `first` to the last.
  void set_surroundings(std::size_t first, const SurroundingsReading& reading);
  /// Keeps the first `count` samples only.
  void truncate(std::size_t count);
  /// Takes the first `count` samples out; returns their latencies.
  std::vector<std::int64_t> discard_first(std::size_t count);

  /// The columns: those of stages that were ever used, and unattributed; start counted from the
  /// first sample.
  result::Samples take();

 private:
  std::vector<double>& covariate(std::size_t index) { return samples_.covariates[index].values; }

  bool simulated_;
  bool runs_here_;
  std::size_t expected_;
  std::size_t own_count_;
  std::size_t first_surrounding_ = 0;
  std::vector<platform::Surrounding> surroundings_;
  std::array<std::vector<std::int64_t>, kStageCount> stages_;
  result::Samples samples_;
};

}  // namespace vivace::load
