#include "system/pipeline_system.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "core/check.h"
#include "core/text.h"

namespace vivace::system {
namespace {

using pipeline::kLaneStages;

bool contains(std::span<const Stage> stages, Stage stage) {
  return std::find(stages.begin(), stages.end(), stage) != stages.end();
}

std::string lane_stage_names() {
  std::vector<std::string> names;
  for (const Stage stage : kLaneStages) names.emplace_back(name_of(stage));
  return join(names, ", ");
}

Result<void> check_known(std::span<const Stage> stages) {
  for (const Stage stage : stages) {
    if (contains(kLaneStages, stage)) continue;
    return fail(ErrorCode::kUsage, {.what = "no such stage in this pipeline",
                                    .expected = lane_stage_names(),
                                    .got = std::string(name_of(stage)),
                                    .advice = {}});
  }
  return {};
}

}  // namespace

Result<TimedStages> select_stages(std::span<const Stage> include, std::span<const Stage> exclude) {
  VIVACE_CHECK_OK(check_known(include));
  VIVACE_CHECK_OK(check_known(exclude));
  std::optional<TimedStages> timed;
  bool ended = false;
  for (const Stage stage : kLaneStages) {
    const bool counts = (include.empty() || contains(include, stage)) && !contains(exclude, stage);
    if (!counts) {
      ended = timed.has_value();
      continue;
    }
    if (ended) {
      return fail(ErrorCode::kUsage,
                  {.what = "the timed stages are not neighbours",
                   .expected = "stages that follow each other: " + lane_stage_names(),
                   .got = "a gap before " + std::string(name_of(stage)),
                   .advice = "leave out stages from the front or the end only; the stages' own "
                             "times are in every result"});
    }
    if (!timed) timed = TimedStages{stage, stage};
    timed->last = stage;
  }
  if (!timed) {
    return fail(ErrorCode::kUsage, {.what = "no stage is left to be timed",
                                    .expected = "at least one of " + lane_stage_names(),
                                    .got = {},
                                    .advice = {}});
  }
  return *timed;
}

PipelineSystem::PipelineSystem(std::unique_ptr<pipeline::Lane> lane,
                               std::vector<pipeline::Input> inputs, std::int64_t batch,
                               TimedStages timed)
    : lane_(std::move(lane)),
      inputs_(std::move(inputs)),
      input_count_(inputs_.size()),
      batch_(batch),
      timed_(timed) {
  VIVACE_CHECK(!inputs_.empty() && batch >= 1);
  while (inputs_.size() < input_count_ + static_cast<std::size_t>(batch) - 1) {
    pipeline::Input again = inputs_[inputs_.size() - input_count_];
    inputs_.push_back(std::move(again));
  }
}

Result<void> PipelineSystem::prepare() {
  lane_->set_inputs(std::span(inputs_).subspan(next_, static_cast<std::size_t>(batch_)));
  next_ = (next_ + static_cast<std::size_t>(batch_)) % input_count_;
  if (timed_.first == kLaneStages[0]) return {};
  const auto* first = std::find(std::begin(kLaneStages), std::end(kLaneStages), timed_.first);
  return lane_->run(kLaneStages[0], *(first - 1), untimed_);
}

Result<void> PipelineSystem::run(Recorder& recorder) {
  return lane_->run(timed_.first, timed_.last, recorder);
}

Result<void> PipelineSystem::finish() {
  const Stage last = *(std::end(kLaneStages) - 1);
  if (timed_.last == last) return {};
  const auto* end = std::find(std::begin(kLaneStages), std::end(kLaneStages), timed_.last);
  return lane_->run(*(end + 1), last, untimed_);
}

}  // namespace vivace::system
