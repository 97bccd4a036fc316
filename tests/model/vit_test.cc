// The position table's resampling against torch, and what a vision transformer promises its
// callers.
#include "model/vit.h"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.h"
#include "model/model.h"
#include "platform/file.h"
#include "support/tiny_checkpoint.h"

namespace vivace::model {
namespace {

using testing::HasSubstr;

Size2 size_of_pair(const Json& pair) {
  return {pair.as_array()[0].as_integer(), pair.as_array()[1].as_integer()};
}

std::vector<float> floats(const Json& array) {
  std::vector<float> values;
  for (const Json& value : array.as_array()) {
    values.push_back(static_cast<float>(value.as_number()));
  }
  return values;
}

TEST(Interpolation, AgreesWithTorch) {
  const auto text = platform::read_text(std::filesystem::path(VIVACE_SOURCE_DIR) /
                                        "tests/model/data/interpolation_golden.json");
  ASSERT_TRUE(text) << text.error().message;
  const Json golden = parse_json(*text).value();
  int cases = 0;
  for (const Json& item : golden.find("cases")->as_array()) {
    const std::vector<float> want = floats(*item.find("resampled"));
    const std::vector<float> got =
        interpolate_positions(floats(*item.find("table")), size_of_pair(*item.find("in")),
                              size_of_pair(*item.find("out")), item.find("width")->as_integer());
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      // Places up to 14 in float32, times slopes of neighbours that differ by up to 8.
      ASSERT_NEAR(got[i], want[i], 1e-5) << write_json(*item.find("out")) << " at " << i;
    }
    ++cases;
  }
  EXPECT_EQ(cases, 8);
}

class VitTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto loaded = Model::load(tiny_.folder());
    ASSERT_TRUE(loaded) << loaded.error().message;
    model_ = *loaded;
  }
  const Vit& vit() const { return model_->encoder(); }

  test::TinyCheckpoint tiny_;
  std::shared_ptr<const Model> model_;
};

TEST_F(VitTest, ASizeMustFitThePatches) {
  for (const Size2 good : {Size2{32, 32}, {8, 8}, {64, 24}, {40, 32}}) {
    EXPECT_TRUE(vit().check_size(good));
  }
  for (const Size2 bad : {Size2{33, 32}, {32, 31}, {0, 32}, {32, 0}, {4, 4}}) {
    const auto checked = vit().check_size(bad);
    ASSERT_FALSE(checked) << bad.height << 'x' << bad.width;
    EXPECT_EQ(checked.error().code, ErrorCode::kUsage);
    EXPECT_THAT(checked.error().message, HasSubstr("--resolution 32x32"));
  }
}

TEST_F(VitTest, AnOblongTableIsNotInterpolated) {
  tiny_.config().set("image_size", JsonArray{16, 64});  // 2 x 8 = 16 positions still
  tiny_.write();
  const auto model = Model::load(tiny_.folder());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_TRUE((*model)->encoder().check_size({16, 64}));
  const auto checked = (*model)->encoder().check_size({32, 32});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kUnavailable);
}

TEST_F(VitTest, AWorkspaceMayChangeItsSize) {
  const auto run = [&](Workspace& workspace, Size2 size) {
    std::vector<float> pixels(static_cast<std::size_t>(3 * size.height * size.width));
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i % 7) - 3;
    std::vector<float> tokens(static_cast<std::size_t>(vit().geometry().tokens(size) * 32));
    vit().prepare(workspace, size);
    vit().encode(workspace, pixels.data(), 1, size, tokens.data(), nullptr);
    return tokens;
  };
  Workspace fresh(1);
  const std::vector<float> want = run(fresh, {32, 32});
  Workspace used(1);
  (void)run(used, {48, 16});
  EXPECT_EQ(run(used, {32, 32}), want);
  const std::vector<float> oblong = run(used, {48, 16});
  Workspace other(1);
  EXPECT_EQ(run(other, {48, 16}), oblong);
  for (const float value : oblong) ASSERT_TRUE(std::isfinite(value));
}

TEST_F(VitTest, LayersAreTheEmbeddingAndEachBlock) {
  const std::size_t values = 16 * 32;
  std::vector<float> pixels(3 * 32 * 32, 0.5f);
  std::vector<float> tokens(values);
  std::vector<float> layers(3 * values);
  std::vector<float> alone(values);
  Workspace workspace(1);
  vit().prepare(workspace, {32, 32});
  vit().encode(workspace, pixels.data(), 1, {32, 32}, tokens.data(), layers.data());
  vit().encode(workspace, pixels.data(), 1, {32, 32}, alone.data(), nullptr);
  EXPECT_EQ(tokens, alone) << "keeping the layers changes nothing";
  // Layer 0 of a constant picture: bias + half the weights' sum + position.
  const auto& weight = tiny_.tensor("embeddings.patch_embeddings.projection.weight").values;
  const auto& bias = tiny_.tensor("embeddings.patch_embeddings.projection.bias").values;
  const auto& position = tiny_.tensor("embeddings.position_embeddings").values;
  for (std::size_t n = 0; n < 16; ++n) {
    for (std::size_t d = 0; d < 32; ++d) {
      double sum = bias[d] + position[n * 32 + d];
      for (std::size_t i = 0; i < 192; ++i) sum += 0.5 * weight[d * 192 + i];
      ASSERT_NEAR(layers[n * 32 + d], sum, 1e-4);
    }
  }
  // The tokens are the last layer, normed.
  const auto& scale = tiny_.tensor("layernorm.weight").values;
  const auto& shift = tiny_.tensor("layernorm.bias").values;
  const float* last = layers.data() + 2 * values;
  for (std::size_t n = 0; n < 16; ++n) {
    double mean = 0;
    double variance = 0;
    for (std::size_t d = 0; d < 32; ++d) mean += last[n * 32 + d] / 32.0;
    for (std::size_t d = 0; d < 32; ++d) variance += std::pow(last[n * 32 + d] - mean, 2) / 32.0;
    for (std::size_t d = 0; d < 32; ++d) {
      const double want =
          (last[n * 32 + d] - mean) / std::sqrt(variance + 1e-6) * scale[d] + shift[d];
      ASSERT_NEAR(tokens[n * 32 + d], want, 1e-4);
    }
  }
}

}  // namespace
}  // namespace vivace::model
