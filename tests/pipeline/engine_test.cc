// The engine: what a checkpoint folder must say, and when.
#include "pipeline/engine.h"

#include <gmock/gmock.h>

#include "pipeline/pipeline_fixture.h"

namespace vivace::pipeline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class EngineTest : public test::PipelineTest {
 protected:
  std::string load_error(const EngineOptions& options = {}) const {
    tiny_.write();
    const auto loaded = Engine::load(tiny_.folder(), options);
    return loaded ? "accepted" : loaded.error().message;
  }
};

TEST_F(EngineTest, KnowsItsSizes) {
  const auto engine = this->engine();
  EXPECT_EQ(engine->size(), (Size2{32, 32}));
  EXPECT_EQ(engine->tokens(), 16);
  EXPECT_EQ(engine->width(), 32);
  ASSERT_TRUE(engine->preprocessor());
  EXPECT_EQ(this->engine({.resolution = Size2{48, 16}, .limits = {}, .seed = 0})->tokens(), 12);
}

TEST_F(EngineTest, WithoutAPreprocessorOnlyPicturesFail) {
  std::filesystem::remove(tiny_.folder() / "preprocessor_config.json");
  const auto engine = this->engine();
  const auto preprocessor = engine->preprocessor();
  ASSERT_FALSE(preprocessor);
  EXPECT_EQ(preprocessor.error().code, ErrorCode::kMissingInput);
  EXPECT_THAT(preprocessor.error().message, HasSubstr("preprocessor_config.json"));

  Lane lane(engine, 1);
  Recorder recorder;
  const auto ready = inputs({pixels("p.npy", 1)});
  lane.set_inputs(ready);
  EXPECT_TRUE(run(lane, recorder));
  const auto picture = inputs({jpeg("p.jpg", 32, 32)});
  lane.set_inputs(picture);
  const auto done = run(lane, recorder);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kMissingInput);
}

TEST_F(EngineTest, ABrokenPreprocessorIsNamed) {
  for (const char* text : {"", "{", "[]", "3", R"({"size": "large"})", R"({"resample": 77})"}) {
    tiny_.preprocessor() = text;
    EXPECT_THAT(load_error(), HasSubstr("preprocessor_config.json")) << text;
  }
}

TEST_F(EngineTest, SizesThatDisagreeAreNamedWithTheWayOut) {
  tiny_.preprocessor() = R"({"size": {"height": 40, "width": 48}})";
  EXPECT_THAT(load_error(), AllOf(HasSubstr("expected 32x32"), HasSubstr("got 40x48"),
                                  HasSubstr("--resolution 32x32")));
  // Saying a resolution settles it, whichever.
  for (const Size2 size : {Size2{32, 32}, Size2{40, 48}}) {
    const auto engine = Engine::load(tiny_.folder(), {.resolution = size, .limits = {}, .seed = 0});
    ASSERT_TRUE(engine) << engine.error().message;
    EXPECT_EQ((*engine)->tokens(), size.height * size.width / 64);
  }
}

TEST_F(EngineTest, AResolutionThatIsTooLargeIsNotTheFilesFault) {
  const std::string message =
      load_error({.resolution = Size2{60000, 60000}, .limits = {}, .seed = 0});
  EXPECT_THAT(message,
              AllOf(HasSubstr("60000"), testing::Not(HasSubstr("preprocessor_config.json"))));
}

TEST_F(EngineTest, AResolutionMustFitThePatches) {
  const auto engine =
      Engine::load(tiny_.folder(), {.resolution = Size2{33, 32}, .limits = {}, .seed = 0});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace vivace::pipeline
