// The public library as its users call it, on a small stand-in.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include <gtest/gtest.h>

#include "support/tiny_checkpoint.h"
#include "vivace/vivace.h"

namespace vivace {
namespace {

namespace fs = std::filesystem;
using test::TinyCheckpoint;

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(static_cast<int>(i % 97) - 48) / 24.0f;
  }
  return values;
}

TEST(Model, InfoTellsTheSizes) {
  const TinyCheckpoint checkpoint;
  const auto model = Model::load(checkpoint.folder());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->info().family, "ijepa");
  EXPECT_EQ(model->info().tokens, 16);
  EXPECT_EQ(model->info().width, 32);
  EXPECT_EQ(model->info().depth, 2);
  EXPECT_EQ(model->info().classes, 0);
  EXPECT_FALSE(model->info().stand_in);
  EXPECT_GT(model->info().flops, 0);
}

TEST(Model, AFolderThatIsNotThereIsNamed) {
  const auto model = Model::load("no/such/folder");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kMissingInput);
  EXPECT_NE(model.error().message.find("no/such/folder"), std::string::npos);
}

TEST(Session, BatchesEqualSingleItemsAndThreadsDoNotMatter) {
  const TinyCheckpoint checkpoint;
  const auto model = Model::load(checkpoint.folder()).value();
  const std::size_t item = 3 * 32 * 32;
  const std::vector<float> pixels = ramp(3 * item);
  Session one(model, {.threads = 1, .layers = false});
  Session three(model, {.threads = 3, .layers = false});
  const auto batch = three.embed_pixels(pixels).value();
  ASSERT_EQ(batch.batch, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto single = one.embed_pixels(std::span(pixels).subspan(i * item, item)).value();
    for (std::size_t k = 0; k < single.tokens.size(); ++k) {
      ASSERT_NEAR(single.tokens[k], batch.tokens[i * single.tokens.size() + k], 1e-5);
    }
  }
}

TEST(Session, RunsAreEqualBitForBit) {
  const TinyCheckpoint checkpoint;
  const auto model = Model::load(checkpoint.folder()).value();
  const std::vector<float> pixels = ramp(3 * 32 * 32);
  Session session(model, {.threads = 2, .layers = false});
  const auto first = session.embed_pixels(pixels).value();
  const std::vector<float> kept(first.tokens.begin(), first.tokens.end());
  const auto second = session.embed_pixels(pixels).value();
  EXPECT_TRUE(std::equal(kept.begin(), kept.end(), second.tokens.begin()));
}

TEST(Session, PooledIsTheMeanOfTheTokens) {
  const TinyCheckpoint checkpoint;
  const auto model = Model::load(checkpoint.folder()).value();
  Session session(model, {.threads = 1, .layers = false});
  const auto result = session.embed_pixels(ramp(3 * 32 * 32)).value();
  for (std::int64_t d = 0; d < result.width; ++d) {
    double mean = 0;
    for (std::int64_t n = 0; n < result.token_count; ++n) {
      mean += result.tokens[static_cast<std::size_t>(n * result.width + d)];
    }
    EXPECT_NEAR(result.pooled[static_cast<std::size_t>(d)],
                mean / static_cast<double>(result.token_count), 1e-5);
  }
}

TEST(Session, RgbIsPreprocessedAndStagesAreStamped) {
  const TinyCheckpoint checkpoint;
  const auto model = Model::load(checkpoint.folder()).value();
  Session session(model, {.threads = 1, .layers = false});
  const std::vector<std::uint8_t> white(2 * 32 * 32 * 3, 255);
  const auto result = session.embed_rgb(white, 2, {32, 32}).value();
  EXPECT_EQ(result.batch, 2);
  for (const float value : result.pixels) ASSERT_FLOAT_EQ(value, 1.0f);
  ASSERT_EQ(result.stages.size(), 5U);
  EXPECT_EQ(result.stages[3].stage, "context_encode");
  EXPECT_GT(result.stages[3].elapsed_ns, 0);
}

TEST(Session, WrongSizesAreErrors) {
  const TinyCheckpoint checkpoint;
  const auto model = Model::load(checkpoint.folder()).value();
  Session session(model, {.threads = 1, .layers = false});
  const std::vector<float> pixels = ramp(100);
  EXPECT_EQ(session.embed_pixels(pixels).error().code, ErrorCode::kUsage);
  EXPECT_EQ(session.embed_pixels({}).error().code, ErrorCode::kUsage);
  const std::vector<std::uint8_t> rgb(10);
  EXPECT_EQ(session.embed_rgb(rgb, 1, {2, 2}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(session.embed_rgb(rgb, -1, {2, 2}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(session.embed_file("no/such.jpg").error().code, ErrorCode::kMissingInput);
  // A failed call does not spoil the next.
  EXPECT_TRUE(session.embed_pixels(ramp(3 * 32 * 32)));
}

TEST(Model, ResolutionInterpolatesAndIsChecked) {
  const TinyCheckpoint checkpoint;
  const auto larger = Model::load(checkpoint.folder(), {.resolution = Resolution{48, 64}});
  ASSERT_TRUE(larger) << larger.error().message;
  EXPECT_EQ(larger->info().tokens, 6 * 8);
  const auto odd = Model::load(checkpoint.folder(), {.resolution = Resolution{33, 64}});
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().code, ErrorCode::kUsage);
  const auto zero = Model::load(checkpoint.folder(), {.resolution = Resolution{0, 64}});
  ASSERT_FALSE(zero);
}

}  // namespace
}  // namespace vivace
