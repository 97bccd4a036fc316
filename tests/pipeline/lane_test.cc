// One request after the other through a lane: stages, batches, errors, and no memory of the last.
#include "pipeline/lane.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include "pipeline/pipeline_fixture.h"

namespace vivace::pipeline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::int64_t time_of(const Recorder& recorder, Stage stage) {
  return recorder.times()[static_cast<std::size_t>(stage)];
}

class LaneTest : public test::PipelineTest {
 protected:
  std::vector<float> tokens_of(Lane& lane, const std::vector<Input>& request) {
    lane.set_inputs(request);
    Recorder recorder;
    const auto done = run(lane, recorder);
    EXPECT_TRUE(done) << done.error().message;
    return {lane.tokens().begin(), lane.tokens().end()};
  }
  std::string error_of(Lane& lane, const std::vector<Input>& request) {
    lane.set_inputs(request);
    Recorder recorder;
    const auto done = run(lane, recorder);
    return done ? "accepted" : done.error().message;
  }
};

TEST_F(LaneTest, EveryStageOfAPictureIsStampedAndNoOther) {
  Lane lane(engine(), 1);
  const auto request = inputs({jpeg("p.jpg", 100, 80)});
  lane.set_inputs(request);
  Recorder recorder;
  const std::int64_t start_ns = platform::now_ns();
  ASSERT_TRUE(run(lane, recorder));
  const std::int64_t elapsed_ns = platform::now_ns() - start_ns;
  for (std::size_t i = 0; i < kStageCount; ++i) {
    const auto stage = static_cast<Stage>(i);
    const bool runs =
        std::find(std::begin(kLaneStages), std::end(kLaneStages), stage) != std::end(kLaneStages);
    EXPECT_EQ(time_of(recorder, stage) > 0, runs) << name_of(stage);
  }
  EXPECT_LE(recorder.sum_ns(), elapsed_ns);
}

TEST_F(LaneTest, OnlyTheStagesAskedForRun) {
  Lane lane(engine(), 1);
  const auto request = inputs({jpeg("p.jpg", 100, 80)});
  lane.set_inputs(request);
  Recorder before;
  ASSERT_TRUE(lane.run(Stage::kRead, Stage::kPreprocess, before));
  EXPECT_EQ(time_of(before, Stage::kContextEncode), 0);
  EXPECT_EQ(lane.pixels().size(), 3U * 32 * 32);
  EXPECT_TRUE(lane.tokens().empty());
  Recorder after;
  ASSERT_TRUE(lane.run(Stage::kContextEncode, Stage::kPostprocess, after));
  EXPECT_EQ(time_of(after, Stage::kDecode), 0);
  EXPECT_GT(time_of(after, Stage::kContextEncode), 0);
  EXPECT_EQ(lane.tokens().size(), 16U * 32);
  EXPECT_EQ(lane.pooled().size(), 32U);
  EXPECT_TRUE(lane.logits().empty());
}

TEST_F(LaneTest, PixelsAreWhatThePreprocessorMakes) {
  const auto engine = this->engine();
  Lane lane(engine, 1);
  const auto request = inputs({jpeg("p.jpg", 100, 80)});
  (void)tokens_of(lane, request);
  media::Image image;
  media::DecodeScratch decode_scratch;
  const auto bytes = media::test::encode_jpeg(media::test::picture(100, 80));
  ASSERT_TRUE(media::decode_image(bytes, {}, decode_scratch, image));
  media::PreprocessScratch scratch;
  std::vector<float> want(3 * 32 * 32);
  ASSERT_TRUE(engine->preprocessor().value()->run(image, scratch, want));
  EXPECT_THAT(lane.pixels(), testing::ElementsAreArray(want));
}

TEST_F(LaneTest, DecodedTensorsAreTreatedAsPictures) {
  media::Image image;
  media::make_synthetic_image({50, 70}, 0, image);
  const media::Source decoded =
      npy("p.npy", DType::kU8, {1, 50, 70, 3}, std::as_bytes(std::span(image.rgb)));
  Lane lane(engine(), 1);
  const auto want = tokens_of(lane, inputs({synthetic(50, 70)}));
  EXPECT_EQ(tokens_of(lane, inputs({decoded})), want);
}

TEST_F(LaneTest, ABatchIsItsItems) {
  const std::vector<Input> all =
      inputs({jpeg("a.jpg", 64, 48), pixels("p.npy", 2), synthetic(40, 30), jpeg("b.jpg", 33, 99)});
  ASSERT_EQ(all.size(), 5U);
  Lane batched(engine(), 2);
  const auto batch = tokens_of(batched, all);
  EXPECT_EQ(batched.batch(), 5);
  EXPECT_EQ(batched.pooled().size(), 5U * 32);
  const std::size_t item = 16 * 32;
  Lane single(engine(), 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto one = tokens_of(single, {all[i]});
    for (std::size_t k = 0; k < item; ++k) ASSERT_NEAR(one[k], batch[i * item + k], 1e-5) << i;
  }
}

TEST_F(LaneTest, ARequestForgetsTheOneBefore) {
  const auto picture = inputs({jpeg("a.jpg", 64, 48)});
  const auto ready = inputs({pixels("p.npy", 1)});
  const auto made = inputs({synthetic(40, 30)});
  const auto other = inputs({synthetic(30, 40)});
  std::vector<Input> two = {picture[0], made[0]};
  Lane fresh_a(engine(), 1);
  Lane fresh_b(engine(), 1);
  Lane fresh_c(engine(), 1);
  const auto a = tokens_of(fresh_a, picture);
  const auto b = tokens_of(fresh_b, ready);
  const auto c = tokens_of(fresh_c, made);
  Lane lane(engine(), 1);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(tokens_of(lane, made), c);
    EXPECT_EQ(tokens_of(lane, picture), a) << "not the synthetic picture of before";
    EXPECT_EQ(tokens_of(lane, ready), b);
    EXPECT_NE(tokens_of(lane, other), c) << "of another size";
    EXPECT_EQ(tokens_of(lane, two).size(), 2 * c.size());
    EXPECT_EQ(lane.batch(), 2);
  }
}

TEST_F(LaneTest, SyntheticPicturesFollowTheSeed) {
  const auto made = inputs({synthetic(40, 30)});
  Lane zero(engine(), 1);
  Lane again(engine(), 1);
  Lane one(engine({.resolution = {}, .limits = {}, .seed = 1}), 1);
  const auto want = tokens_of(zero, made);
  EXPECT_EQ(tokens_of(again, made), want);
  EXPECT_NE(tokens_of(one, made), want);
}

TEST_F(LaneTest, LayersAreKeptWhenAskedFor) {
  Lane lane(engine(), 1);
  const auto request = inputs({pixels("p.npy", 2)});
  lane.set_inputs(request);
  Recorder recorder;
  ASSERT_TRUE(lane.run(Stage::kRead, Stage::kPostprocess, recorder, true));
  EXPECT_EQ(lane.layers().size(), 3U * 2 * 16 * 32);
  ASSERT_TRUE(lane.run(Stage::kRead, Stage::kPostprocess, recorder, false));
  EXPECT_TRUE(lane.layers().empty());
}

TEST_F(LaneTest, ErrorsNameTheInput) {
  Lane lane(engine(), 1);
  EXPECT_THAT(error_of(lane, inputs({jpeg("good.jpg", 9, 9), file("bad.jpg", {0xff, 0xd8, 0xff})})),
              HasSubstr(path("bad.jpg").string()));
  const auto gone = inputs({jpeg("gone.jpg", 9, 9)});
  std::filesystem::remove(path("gone.jpg"));
  EXPECT_THAT(error_of(lane, gone), HasSubstr("gone.jpg"));
  const std::vector<float> small(3 * 16 * 32);
  const auto wrong =
      inputs({npy("small.npy", DType::kF32, {1, 3, 16, 32}, std::as_bytes(std::span(small)))});
  EXPECT_THAT(error_of(lane, wrong),
              AllOf(HasSubstr("small.npy"), HasSubstr("expected 32x32"), HasSubstr("got 16x32"),
                    HasSubstr("--resolution 16x32")));
  // The lane still serves after an error.
  EXPECT_EQ(tokens_of(lane, inputs({pixels("p.npy", 1)})).size(), 16U * 32);
}

TEST_F(LaneTest, TheDecodersLimitsHold) {
  EngineOptions options;
  options.limits.pixels_max = 100;
  Lane lane(engine(options), 1);
  EXPECT_THAT(error_of(lane, inputs({jpeg("large.jpg", 11, 10)})), HasSubstr("at most 100 pixels"));
}

TEST_F(LaneTest, AMisleadingNameIsWarnedOfOnce) {
  std::vector<std::string> warnings;
  Lane lane(engine(), 1, [&](const std::string& warning) { warnings.push_back(warning); });
  const auto request = inputs({jpeg("really.png", 20, 20)});
  for (int i = 0; i < 3; ++i) (void)tokens_of(lane, request);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], AllOf(HasSubstr("really.png"), HasSubstr("JPEG")));
}

TEST_F(LaneTest, AClassifierGivesLogits) {
  for (auto& tensor : tiny_.tensors()) {
    tensor.declaration.name = "ijepa." + tensor.declaration.name;
  }
  tiny_.add("classifier.weight", {5, 32});
  tiny_.add("classifier.bias", {5});
  tiny_.write();
  Lane lane(engine(), 1);
  (void)tokens_of(lane, inputs({pixels("p.npy", 2)}));
  ASSERT_EQ(lane.logits().size(), 10U);
  for (const float value : lane.logits()) EXPECT_TRUE(std::isfinite(value));
}

}  // namespace
}  // namespace vivace::pipeline
