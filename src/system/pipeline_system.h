// The product's own pipeline as a system under test: requests over a list of inputs in turn, with
// the stages that are asked for inside the timed region and the rest outside of it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/error.h"
#include "pipeline/input.h"
#include "pipeline/lane.h"
#include "record/stage.h"
#include "system/system.h"

namespace vivace::system {

/// The stages inside the timed region: a run of neighbours among pipeline::kLaneStages.
struct TimedStages {
  Stage first = Stage::kRead;
  Stage last = Stage::kPostprocess;

  bool contains(Stage stage) const { return stage >= first && stage <= last; }
};

/// The timed stages left when only `include` (unless empty) and all but `exclude` count. Error:
/// kUsage for a stage that a pipeline has not, for none left, or for a gap: a stage in the middle
/// of a request cannot be moved out of its latency.
Result<TimedStages> select_stages(std::span<const Stage> include, std::span<const Stage> exclude);

class PipelineSystem final : public System {
 public:
  /// `inputs` is not empty; each request takes the next `batch` of them, around and around.
  PipelineSystem(std::unique_ptr<pipeline::Lane> lane, std::vector<pipeline::Input> inputs,
                 std::int64_t batch, TimedStages timed);

  Result<void> prepare() override;
  Result<void> run(Recorder& recorder) override;
  Result<void> finish() override;
  std::int64_t items_per_run() const override { return batch_; }

  const pipeline::Lane& lane() const { return *lane_; }

 private:
  std::unique_ptr<pipeline::Lane> lane_;
  std::vector<pipeline::Input> inputs_;  // doubled by the first batch - 1, so a batch is a span
  std::size_t input_count_;
  std::int64_t batch_;
  TimedStages timed_;
  std::size_t next_ = 0;
  Recorder untimed_;
};

}  // namespace vivace::system
