// Preprocessing against transformers' own results (data/preprocess_golden.json, made by
// tools/reference/make_preprocess_golden.py), and the reading of its configuration.
#include "media/preprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "support/safetensors_lite.h"

namespace vivace::media {
namespace {

using ::testing::HasSubstr;

Json parsed(const std::string& text) { return parse_json(text).value(); }

Image computed_picture(std::int64_t height, std::int64_t width) {
  Image image{height, width, {}};
  for (std::int64_t row = 0; row < height; ++row) {
    for (std::int64_t column = 0; column < width; ++column) {
      for (std::int64_t channel = 0; channel < 3; ++channel) {
        image.rgb.push_back(static_cast<std::uint8_t>(
            (7 * row + 13 * column + 29 * channel + 5 * ((row * column) % 31)) % 256));
      }
    }
  }
  return image;
}

TEST(Preprocess, EqualsTransformers) {
  const Json document = test::read_json(std::filesystem::path(VIVACE_SOURCE_DIR) /
                                        "tests/media/data/preprocess_golden.json");
  const JsonArray& cases = document.find("cases")->as_array();
  ASSERT_GE(cases.size(), 18u);
  PreprocessScratch scratch;
  for (const Json& golden : cases) {
    SCOPED_TRACE(write_json(*golden.find("config")));
    const JsonArray& input = golden.find("input")->as_array();
    const Image image = computed_picture(input[0].as_integer(), input[1].as_integer());
    const auto config = parse_preprocess_config(*golden.find("config"));
    ASSERT_TRUE(config) << config.error().message;
    const Preprocessor preprocessor = Preprocessor::create(*config).value();
    const Size2 size = preprocessor.output_size(image.size()).value();
    const JsonArray& shape = golden.find("shape")->as_array();
    ASSERT_EQ(size.height, shape[1].as_integer());
    ASSERT_EQ(size.width, shape[2].as_integer());
    if (preprocessor.output_size()) {
      EXPECT_EQ(*preprocessor.output_size(), size);
    }
    // Filled beforehand, so that a value that is never written shows.
    std::vector<float> out(static_cast<std::size_t>(3 * size.height * size.width), NAN);
    ASSERT_TRUE(preprocessor.run(image, scratch, out));

    double sum = 0;
    for (const float value : out) sum += double{value};
    EXPECT_NEAR(sum / static_cast<double>(out.size()), golden.find("mean")->as_number(), 1e-6);
    const std::int64_t step = golden.find("step")->as_integer();
    const JsonArray& values = golden.find("values")->as_array();
    std::size_t at = 0;
    for (std::int64_t channel = 0; channel < 3; ++channel) {
      for (std::int64_t row = 0; row < size.height; row += step) {
        for (std::int64_t column = 0; column < size.width; column += step) {
          const std::int64_t index = (channel * size.height + row) * size.width + column;
          ASSERT_NEAR(double{out[static_cast<std::size_t>(index)]}, values[at++].as_number(), 1e-6)
              << "at " << channel << ", " << row << ", " << column;
        }
      }
    }
    EXPECT_EQ(at, values.size());
  }
}

TEST(Preprocess, ResolutionReplacesSizeAndCrop) {
  const auto config = parse_preprocess_config(
      parsed(R"({"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 64}})"));
  const auto preprocessor = Preprocessor::create(*config, Size2{12, 34});
  ASSERT_TRUE(preprocessor);
  EXPECT_EQ(preprocessor->output_size(), (Size2{12, 34}));
  EXPECT_EQ(preprocessor->output_size({99, 7}).value(), (Size2{12, 34}));
}

TEST(Preprocess, AResolutionThatIsNoSizeIsRefused) {
  for (const Size2 size : {Size2{0, 5}, Size2{5, -1}, Size2{5, 40000}}) {
    const auto preprocessor = Preprocessor::create({}, size);
    ASSERT_FALSE(preprocessor);
    EXPECT_EQ(preprocessor.error().code, ErrorCode::kUsage);
  }
}

TEST(Preprocess, ShortestEdgeDependsOnTheInput) {
  PreprocessConfig config;
  config.shortest_edge = 292;
  const Preprocessor preprocessor = Preprocessor::create(config).value();
  EXPECT_EQ(preprocessor.output_size(), std::nullopt);
  EXPECT_EQ(preprocessor.output_size({427, 640}).value(), (Size2{292, 437}));  // truncated
  EXPECT_EQ(preprocessor.output_size({640, 427}).value(), (Size2{437, 292}));
  EXPECT_EQ(preprocessor.output_size({100, 100}).value(), (Size2{292, 292}));
}

TEST(Preprocess, ExtremeShapesAreRefusedBeforeMemoryIsTaken) {
  PreprocessConfig config;
  config.shortest_edge = 32768;
  const Preprocessor preprocessor = Preprocessor::create(config).value();
  for (const Size2 size : {Size2{1, 1'000'000}, Size2{1, 20}, Size2{1, 2'000'000}, Size2{0, 4}}) {
    const auto output = preprocessor.output_size(size);
    ASSERT_FALSE(output) << size.width;
    EXPECT_EQ(output.error().code, ErrorCode::kBadData);
  }
}

TEST(PreprocessConfig, DefaultsAreViTs) {
  const auto config = parse_preprocess_config(parsed("{}"));
  ASSERT_TRUE(config);
  EXPECT_EQ(config->size, (Size2{224, 224}));
  EXPECT_EQ(config->shortest_edge, 0);
  EXPECT_TRUE(config->do_resize && config->do_rescale && config->do_normalize);
  EXPECT_FALSE(config->do_center_crop);
  EXPECT_EQ(config->filter, Filter::kBilinear);
  EXPECT_EQ(config->rescale_factor, 1.0 / 255.0);
  EXPECT_EQ(config->mean[1], 0.5);
  EXPECT_EQ(config->std[2], 0.5);
}

TEST(PreprocessConfig, NullMeansDefault) {
  const auto config = parse_preprocess_config(parsed(
      R"({"size": null, "crop_size": null, "do_center_crop": null, "resample": null,
          "image_mean": null, "do_pad": null, "image_std": 0.25})"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->size, (Size2{224, 224}));
  EXPECT_EQ(config->std[0], 0.25);
}

TEST(PreprocessConfig, VJepa2TakesItsEdgeFromTheCrop) {
  const auto config = parse_preprocess_config(parsed(
      R"({"video_processor_type": "VJEPA2VideoProcessor", "crop_size": {"height": 384, "width": 384},
          "size": {"shortest_edge": 1}})"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->shortest_edge, 438);
  EXPECT_TRUE(config->do_center_crop);
  EXPECT_EQ(config->mean[0], 0.485);
}

struct BadConfig {
  const char* json;
  const char* field;  // must be named
};

TEST(PreprocessConfig, NonsenseIsRefusedByName) {
  const BadConfig cases[] = {
      {R"([])", "configuration"},
      {R"(3)", "configuration"},
      {R"({"size": 0})", "size"},
      {R"({"size": -224})", "size"},
      {R"({"size": 1e9})", "size"},
      {R"({"size": 224.5})", "size"},
      {R"({"size": "224"})", "size"},
      {R"({"size": true})", "size"},
      {R"({"size": []})", "size"},
      {R"({"size": [224]})", "size"},
      {R"({"size": [224, "x"]})", "size[1]"},
      {R"({"size": {}})", "size"},
      {R"({"size": {"height": 224}})", "size"},
      {R"({"size": {"height": 224, "width": -1}})", "size.width"},
      {R"({"size": {"height": 99999999999999999999, "width": 1}})", "size.height"},
      {R"({"size": {"shortest_edge": 0}})", "size.shortest_edge"},
      {R"({"size": {"shortest_edge": 224, "longest_edge": 500}})", "size.longest_edge"},
      {R"({"size": {"shortest_edge": 224, "height": 500}})", "size"},
      {R"({"size": {"max_height": 5, "max_width": 5}})", "size.max_height"},
      {R"({"crop_size": 0, "do_center_crop": true})", "crop_size"},
      {R"({"crop_size": {"shortest_edge": 5}})", "crop_size"},
      {R"({"crop_size": {"height": 5, "width": null}})", "crop_size"},
      {R"({"resample": 0})", "nearest"},
      {R"({"resample": 1})", "lanczos"},
      {R"({"resample": 7})", "resample"},
      {R"({"resample": "bilinear"})", "resample"},
      {R"({"resample": 2.0})", "resample"},
      {R"({"do_resize": 1})", "do_resize"},
      {R"({"do_normalize": "yes"})", "do_normalize"},
      {R"({"do_convert_rgb": 3})", "do_convert_rgb"},
      {R"({"do_pad": true})", "do_pad"},
      {R"({"rescale_factor": 0})", "rescale_factor"},
      {R"({"rescale_factor": -0.004})", "rescale_factor"},
      {R"({"rescale_factor": 1e400})", ""},
      {R"({"rescale_factor": "1/255"})", "rescale_factor"},
      {R"({"image_mean": [0.5, 0.5]})", "image_mean"},
      {R"({"image_mean": [0.5, 0.5, 0.5, 0.5]})", "image_mean"},
      {R"({"image_mean": [0.5, null, 0.5]})", "image_mean[1]"},
      {R"({"image_mean": {"r": 1}})", "image_mean"},
      {R"({"image_mean": 1e300})", "image_mean"},
      {R"({"image_std": [0.5, 0, 0.5]})", "image_std"},
      {R"({"image_std": [0.5, -1, 0.5]})", "image_std"},
      {R"({"image_std": 1e-320})", "image_std"},
      {R"({"image_std": []})", "image_std"},
      {R"({"image_processor_type": 5})", "image_processor_type"},
  };
  for (const BadConfig& bad : cases) {
    SCOPED_TRACE(bad.json);
    const auto json = parse_json(bad.json);
    if (!json) continue;  // a number that JSON itself refuses
    const auto config = parse_preprocess_config(*json);
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().code, ErrorCode::kBadData);
    EXPECT_THAT(config.error().message, HasSubstr(bad.field));
  }
}

TEST(PreprocessConfig, NotANumberIsRefused) {
  Json json;
  json.set("image_mean", std::nan(""));
  const auto config = parse_preprocess_config(json);
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, HasSubstr("image_mean"));
}

}  // namespace
}  // namespace vivace::media
