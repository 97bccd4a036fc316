// The pipeline as a system under test: what is timed, what is not, and whose turn it is.
#include "system/pipeline_system.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "pipeline/pipeline_fixture.h"

namespace vivace::system {
namespace {

using pipeline::kLaneStages;
using testing::HasSubstr;
using Stages = std::vector<Stage>;

std::string error_of(const Stages& include, const Stages& exclude) {
  const auto timed = select_stages(include, exclude);
  if (timed) return "accepted";
  EXPECT_EQ(timed.error().code, ErrorCode::kUsage);
  return timed.error().message;
}

TEST(SelectStages, EverythingUnlessSaid) {
  const TimedStages timed = select_stages({}, {}).value();
  EXPECT_EQ(timed.first, Stage::kRead);
  EXPECT_EQ(timed.last, Stage::kPostprocess);
  EXPECT_TRUE(timed.contains(Stage::kDecode));
}

TEST(SelectStages, ARunOfNeighbours) {
  const auto expect = [](const Stages& include, const Stages& exclude, Stage first, Stage last) {
    const auto timed = select_stages(include, exclude);
    ASSERT_TRUE(timed) << timed.error().message;
    EXPECT_EQ(timed->first, first);
    EXPECT_EQ(timed->last, last);
  };
  using enum Stage;
  expect({}, Stages{kRead}, kDecode, kPostprocess);
  expect({}, Stages{kDecode, kRead}, kPreprocess, kPostprocess);
  expect({}, Stages{kPostprocess}, kRead, kContextEncode);
  expect({}, Stages{kRead, kPostprocess}, kDecode, kContextEncode);
  expect(Stages{kContextEncode}, {}, kContextEncode, kContextEncode);
  expect(Stages{kContextEncode, kPreprocess}, {}, kPreprocess, kContextEncode);
  expect(Stages{kRead, kDecode, kPreprocess}, Stages{kRead}, kDecode, kPreprocess);
  expect(Stages{kDecode, kDecode}, {}, kDecode, kDecode);
  const TimedStages one = select_stages(Stages{kContextEncode}, {}).value();
  EXPECT_FALSE(one.contains(kPreprocess));
  EXPECT_FALSE(one.contains(kPostprocess));
}

TEST(SelectStages, GapsAndNothingAndStrangersAreRefused) {
  using enum Stage;
  EXPECT_THAT(error_of({}, {kDecode}), HasSubstr("gap before preprocess"));
  EXPECT_THAT(error_of({}, {kRead, kPreprocess}), HasSubstr("not neighbours"));
  EXPECT_THAT(error_of({kRead, kPostprocess}, {}), HasSubstr("gap before postprocess"));
  EXPECT_THAT(error_of({kRead, kDecode, kPreprocess}, {kDecode}), HasSubstr("not neighbours"));
  EXPECT_THAT(error_of({kRead}, {kRead}), HasSubstr("no stage is left"));
  EXPECT_THAT(error_of({}, Stages(std::begin(kLaneStages), std::end(kLaneStages))),
              HasSubstr("no stage is left"));
  for (const Stage stranger : {kNetwork, kQueue, kPredict, kUnattributed}) {
    EXPECT_THAT(error_of({stranger}, {}), HasSubstr("no such stage"));
    EXPECT_THAT(error_of({}, {stranger}), HasSubstr(name_of(stranger)));
  }
}

class PipelineSystemTest : public pipeline::test::PipelineTest {
 protected:
  PipelineSystem system(const std::vector<pipeline::Input>& inputs, std::int64_t batch,
                        TimedStages timed = {}) const {
    return {std::make_unique<pipeline::Lane>(engine(), 1), inputs, batch, timed};
  }
  /// One request; its stamps.
  static StageTimes request(PipelineSystem& system) {
    Recorder recorder;
    EXPECT_TRUE(system.prepare());
    EXPECT_TRUE(system.run(recorder));
    EXPECT_TRUE(system.finish());
    return recorder.times();
  }
};

TEST_F(PipelineSystemTest, InputsTakeTurnsInBatches) {
  for (const std::size_t count : {1U, 2U, 3U}) {
    const auto all = inputs({pixels("p.npy", static_cast<std::int64_t>(count))});
    // The items differ: values() does not repeat at their length.
    for (const std::int64_t batch : {1, 2, 3, 5}) {
      PipelineSystem system = this->system(all, batch);
      EXPECT_EQ(system.items_per_run(), batch);
      std::size_t turn = 0;
      for (int i = 0; i < 7; ++i) {
        (void)request(system);
        const auto got = system.lane().pixels();
        ASSERT_EQ(got.size(), static_cast<std::size_t>(batch) * 3 * 32 * 32);
        for (std::size_t k = 0; k < static_cast<std::size_t>(batch); ++k) {
          const auto want = all[turn % count].item.f32();
          ASSERT_TRUE(std::equal(want.begin(), want.end(), got.begin() + k * want.size()))
              << count << " inputs, batch " << batch << ", request " << i << ", item " << k;
          ++turn;
        }
      }
    }
  }
}

TEST_F(PipelineSystemTest, ExcludedStagesRunOutsideOfTheStamps) {
  const auto picture = inputs({jpeg("p.jpg", 60, 60)});
  PipelineSystem reference = system(picture, 1);
  (void)request(reference);
  const std::vector<float> want(reference.lane().pooled().begin(), reference.lane().pooled().end());
  for (std::size_t first = 0; first < std::size(kLaneStages); ++first) {
    for (std::size_t last = first; last < std::size(kLaneStages); ++last) {
      const TimedStages timed{kLaneStages[first], kLaneStages[last]};
      PipelineSystem system = this->system(picture, 1, timed);
      for (int i = 0; i < 2; ++i) {
        const StageTimes times = request(system);
        for (std::size_t s = 0; s < kStageCount; ++s) {
          const auto stage = static_cast<Stage>(s);
          const bool runs = std::find(std::begin(kLaneStages), std::end(kLaneStages), stage) !=
                            std::end(kLaneStages);
          EXPECT_EQ(times[s] > 0, runs && timed.contains(stage)) << name_of(stage);
        }
        // All stages ran all the same.
        const auto pooled = system.lane().pooled();
        EXPECT_TRUE(std::equal(want.begin(), want.end(), pooled.begin(), pooled.end()));
      }
    }
  }
}

TEST_F(PipelineSystemTest, ErrorsComeFromThePhaseTheyHappenIn) {
  const auto broken = inputs({file("bad.jpg", {1, 2, 3})});
  PipelineSystem timed = system(broken, 1);
  Recorder recorder;
  EXPECT_TRUE(timed.prepare());
  EXPECT_FALSE(timed.run(recorder));
  PipelineSystem untimed = system(broken, 1, {Stage::kContextEncode, Stage::kPostprocess});
  const auto prepared = untimed.prepare();
  ASSERT_FALSE(prepared);
  EXPECT_THAT(prepared.error().message, HasSubstr("bad.jpg"));
}

}  // namespace
}  // namespace vivace::system
