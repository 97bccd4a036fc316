// Every picture of the reference cases: decoded, resized, and as a model's input, against Pillow,
// torchvision and transformers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "core/json.h"
#include "media/decode.h"
#include "media/preprocess.h"
#include "media/resize.h"
#include "support/cases.h"
#include "support/safetensors_lite.h"
#include "support/sha256.h"

namespace vivace::media {
namespace {

using test::SafetensorsLite;
using test::sha256_hex;

std::string text(const Json& object, const char* key) { return object.find(key)->as_string(); }
std::int64_t whole(const Json& object, const char* key) { return object.find(key)->as_integer(); }

// Where `dpkg -x` unpacked the packages that hold photographs.
std::filesystem::path media_root() {
  const char* chosen = std::getenv("VIVACE_MEDIA");
  if (chosen != nullptr) return chosen;
  return std::filesystem::path(VIVACE_SOURCE_DIR) / "build" / "media-samples";
}

// The picture's bytes, or nothing with `why` set where a package's file is not at hand.
std::optional<std::vector<std::uint8_t>> source_bytes(const std::filesystem::path& folder,
                                                      const Json& image, std::string& why) {
  const Json& source = *image.find("source");
  const bool packaged = source.find("package") != nullptr;
  const std::filesystem::path path =
      packaged ? media_root() / text(source, "path") : folder / text(source, "file");
  if (packaged && !std::filesystem::exists(path)) {
    why = path.string() + " is absent (package " + text(source, "package") + ")";
    return std::nullopt;
  }
  std::vector<std::uint8_t> bytes = test::read_bytes(path);
  if (sha256_hex(bytes) != text(source, "sha256")) {
    if (packaged) {
      why = path.string() + " is another version than the recorded one";
      return std::nullopt;
    }
    ADD_FAILURE() << path << " does not have the recorded SHA-256";
  }
  return bytes;
}

int level_difference_max(const Image& image, const Json& group, const SafetensorsLite& tensors) {
  const std::string name = text(group, "tensor");
  const auto expected = tensors.values<std::uint8_t>(name);
  const auto shape = tensors.shape(name);
  const std::int64_t step = whole(group, "step");
  int worst = 0;
  std::size_t at = 0;
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    for (std::int64_t column = 0; column < shape[1]; ++column) {
      const std::uint8_t* pixel = image.rgb.data() + (row * step * image.width + column * step) * 3;
      for (std::int64_t c = 0; c < 3; ++c) {
        worst = std::max(worst, std::abs(int{pixel[c]} - int{expected[at++]}));
      }
    }
  }
  return worst;
}

void check_decoded(const Json& image, const Image& pixels, const DecodeReport& report,
                   const SafetensorsLite& tensors) {
  const Json& decoded = *image.find("decoded");
  ASSERT_EQ(pixels.height, whole(decoded, "height"));
  ASSERT_EQ(pixels.width, whole(decoded, "width"));
  EXPECT_EQ(report.exif_orientation, whole(image, "exif_orientation"));
  const bool cmyk = text(image, "pillow_mode") == "CMYK";
  EXPECT_LE(level_difference_max(pixels, decoded, tensors), cmyk ? 1 : 0);
  if (!cmyk) {
    EXPECT_EQ(sha256_hex(pixels.rgb), text(decoded, "sha256"));
  }
}

int check_resized(const Json& image, const Image& pixels, Resizer& resizer) {
  const Json* list = image.find("resized");
  if (list == nullptr) return 0;
  int count = 0;
  for (const Json& resized : list->as_array()) {
    const std::string backend = text(resized, "backend");
    if (backend == "pillow13" || resized.find("error") != nullptr) continue;
    const Size2 size{whole(resized, "height"), whole(resized, "width")};
    const Filter filter =
        text(resized, "filter") == "bilinear" ? Filter::kBilinear : Filter::kBicubic;
    Image out{size.height, size.width, {}};
    out.rgb.resize(static_cast<std::size_t>(size.height * size.width * 3));
    resizer.run({pixels.size(),
                 size,
                 filter,
                 {0, 0, size.height, size.width},
                 backend == "pillow" ? Resampler::kPillow : Resampler::kAten},
                pixels.rgb, out.rgb);
    EXPECT_EQ(sha256_hex(out.rgb), text(resized, "sha256")) << text(resized, "tensor");
    ++count;
  }
  return count;
}

PreprocessConfig config_of(const Json& entry) {
  PreprocessConfig config;
  if (text(entry, "processor") == "ijepa") {
    config.size = {whole(entry, "size"), whole(entry, "size")};
  } else {
    const std::int64_t crop = whole(entry, "crop");
    Json json;
    json.set("video_processor_type", "VJEPA2VideoProcessor");
    json.set("crop_size", crop);
    config = parse_preprocess_config(json).value();
  }
  config.resampler = text(entry, "backend") == "pillow" ? Resampler::kPillow : Resampler::kAten;
  return config;
}

int check_model_input(const Json& image, const Image& pixels, const SafetensorsLite& tensors,
                      PreprocessScratch& scratch) {
  const Json* list = image.find("model_input");
  if (list == nullptr) return 0;
  int count = 0;
  for (const Json& entry : list->as_array()) {
    if (entry.find("error") != nullptr) continue;
    const Preprocessor preprocessor = Preprocessor::create(config_of(entry)).value();
    const Size2 size = preprocessor.output_size(pixels.size()).value();
    std::vector<float> out(static_cast<std::size_t>(size.height * size.width * 3));
    EXPECT_TRUE(preprocessor.run(pixels, scratch, out));

    const std::string name = text(entry, "tensor");
    const auto shape = tensors.shape(name);  // [.., 3, H', W']
    const std::int64_t step = whole(entry, "step");
    const auto expected = tensors.values<float>(name);
    const std::int64_t rows = shape[shape.size() - 2];
    const std::int64_t columns = shape[shape.size() - 1];
    EXPECT_EQ(rows, (size.height + step - 1) / step);
    double worst = 0;
    std::size_t at = 0;
    for (std::int64_t c = 0; c < 3; ++c) {
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
          const std::int64_t index = (c * size.height + row * step) * size.width + column * step;
          worst = std::max(worst, std::fabs(double{out[static_cast<std::size_t>(index)]} -
                                            double{expected[at++]}));
        }
      }
    }
    EXPECT_LE(worst, 1e-6) << name;
    ++count;
  }
  return count;
}

struct Counts {
  int pictures = 0;
  int resized = 0;
  int model_inputs = 0;
  std::string skipped;  // the pictures that were left out, and why
};

Counts check_case(const std::filesystem::path& folder) {
  const Json document = test::read_json(folder / "case.json");
  const SafetensorsLite tensors(folder / "expected.safetensors");
  DecodeScratch decode_scratch;
  PreprocessScratch preprocess_scratch;
  Resizer resizer;
  Image pixels;  // one for all, as in a server: leftovers of the picture before must not show
  Counts counts;
  for (const Json& image : document.find("images")->as_array()) {
    SCOPED_TRACE(text(image, "id"));
    std::string why;
    const auto bytes = source_bytes(folder, image, why);
    if (!bytes) {
      counts.skipped += why + "; ";
      continue;
    }
    const auto report = decode_image(*bytes, {}, decode_scratch, pixels);
    if (!report) {
      ADD_FAILURE() << report.error().message;
      continue;
    }
    check_decoded(image, pixels, *report, tensors);
    counts.resized += check_resized(image, pixels, resizer);
    counts.model_inputs += check_model_input(image, pixels, tensors, preprocess_scratch);
    ++counts.pictures;
  }
  return counts;
}

TEST(MediaCases, FormatsDecodeExactly) {
  VIVACE_REQUIRE_CASES(cases);
  const Counts counts = check_case(cases / "media-formats");
  EXPECT_EQ(counts.pictures, 67);
  EXPECT_GE(counts.model_inputs, 5);
}

TEST(MediaCases, ResizeIsBitExact) {
  VIVACE_REQUIRE_CASES(cases);
  const Counts counts = check_case(cases / "media-resize");
  EXPECT_EQ(counts.pictures, 5);
  EXPECT_GE(counts.resized, 50);
}

TEST(MediaCases, PhotosOfDebianPackages) {
  VIVACE_REQUIRE_CASES(cases);
  const Counts counts = check_case(cases / "media-photos");
  if (!counts.skipped.empty() && !HasFailure()) {
    GTEST_SKIP() << counts.pictures << " checked; " << counts.skipped
                 << "unpack the packages by dpkg -x and name the folder in $VIVACE_MEDIA";
  }
  if (counts.skipped.empty()) {
    EXPECT_EQ(counts.pictures, 6);
  }
  EXPECT_GE(counts.resized, 12 * counts.pictures);
}

// The model cases that say which picture became their input.
TEST(MediaCases, PicturesBecomeTheModelsInputs) {
  VIVACE_REQUIRE_CASES(cases);
  int checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cases)) {
    if (!std::filesystem::exists(entry.path() / "case.json") ||
        !std::filesystem::exists(entry.path() / "preprocessor_config.json")) {
      continue;
    }
    const Json document = test::read_json(entry.path() / "case.json");
    const Json* image = document.find("image");
    if (image == nullptr || image->find("file") == nullptr) continue;
    SCOPED_TRACE(entry.path().filename().string());

    DecodeScratch scratch;
    Image pixels;
    ASSERT_TRUE(
        decode_image(test::read_bytes(entry.path() / text(*image, "file")), {}, scratch, pixels));
    const auto config =
        parse_preprocess_config(test::read_json(entry.path() / "preprocessor_config.json"));
    ASSERT_TRUE(config) << config.error().message;
    const Preprocessor preprocessor = Preprocessor::create(*config).value();
    const Size2 size = preprocessor.output_size(pixels.size()).value();
    std::vector<float> out(static_cast<std::size_t>(3 * size.height * size.width));
    PreprocessScratch preprocess_scratch;
    ASSERT_TRUE(preprocessor.run(pixels, preprocess_scratch, out));

    const SafetensorsLite inputs(entry.path() / "inputs.safetensors");
    const auto expected = inputs.values<float>(text(*image, "input"));
    const std::size_t first = static_cast<std::size_t>(whole(*image, "item")) * out.size();
    ASSERT_GE(expected.size(), first + out.size());
    double worst = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      worst = std::max(worst, std::fabs(double{out[i]} - double{expected[first + i]}));
    }
    EXPECT_LE(worst, image->find("max_abs_tolerance")->as_number());
    ++checked;
  }
  EXPECT_GE(checked, 3);
}

}  // namespace
}  // namespace vivace::media
