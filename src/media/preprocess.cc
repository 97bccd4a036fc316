// The geometry of a processor (which rows and columns of the resized picture are wanted, and where
// they go) and the fused arithmetic on them. Compiled without contraction, as resize.cc is.
#include "media/preprocess.h"

#include <algorithm>
#include <limits>

#include "core/check.h"

namespace vivace::media {
namespace {

// More floats than any encoder takes; a config or a very long picture could ask for billions.
constexpr std::int64_t kOutputPixelsMax = 178'956'970;

std::string text_of(Size2 size) {
  return std::to_string(size.height) + "x" + std::to_string(size.width);
}

// The reference's steps in the reference's precision: rescale in double, rounded to float32; then
// float32 (transformers/image_transforms.py: rescale, normalize).
float value_of_level(const PreprocessConfig& config, std::size_t channel, int level) {
  auto value = static_cast<float>(level);
  if (config.do_rescale) {
    value = static_cast<float>(static_cast<double>(level) * config.rescale_factor);
  }
  if (config.do_normalize) {
    const auto mean = static_cast<float>(config.mean[channel]);
    const auto deviation = static_cast<float>(config.std[channel]);
    value = (value - mean) / deviation;
  }
  return value;
}

// One axis of the centre crop: which outputs show the picture, and from where in it.
struct CropSpan {
  std::int64_t out_first = 0;
  std::int64_t in_first = 0;
  std::int64_t count = 0;
};

CropSpan crop_span(std::int64_t picture, std::int64_t crop) {
  // Where the picture is smaller it is padded, the odd line before it
  // (transformers/image_transforms.py: center_crop).
  if (picture >= crop) return {0, (picture - crop) / 2, crop};
  return {(crop - picture + 1) / 2, 0, picture};
}

}  // namespace

Result<Preprocessor> Preprocessor::create(const PreprocessConfig& config,
                                          std::optional<Size2> resolution) {
  PreprocessConfig chosen = config;
  if (resolution) {
    constexpr std::int64_t kSideMax = 32768;
    if (resolution->height < 1 || resolution->width < 1 || resolution->height > kSideMax ||
        resolution->width > kSideMax) {
      return fail(ErrorCode::kUsage,
                  ErrorParts{.what = "the resolution is no size for a picture",
                             .expected = "1 to " + std::to_string(kSideMax) + " each way",
                             .got = text_of(*resolution),
                             .advice = {}});
    }
    chosen.do_resize = true;
    chosen.size = *resolution;
    chosen.shortest_edge = 0;
    chosen.do_center_crop = false;
  }
  return Preprocessor(chosen);
}

Preprocessor::Preprocessor(const PreprocessConfig& config) : config_(config) {
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (int level = 0; level < 256; ++level) {
      level_value_[channel][static_cast<std::size_t>(level)] =
          value_of_level(config_, channel, level);
    }
  }
}

std::optional<Size2> Preprocessor::output_size() const {
  if (config_.do_center_crop) return config_.crop_size;
  if (config_.do_resize && config_.shortest_edge == 0) return config_.size;
  return std::nullopt;
}

Result<Size2> Preprocessor::output_size(Size2 input) const {
  VIVACE_TRY(const Size2 resized, resized_size(input));
  const Size2 output = config_.do_center_crop ? config_.crop_size : resized;
  if (output.height > kOutputPixelsMax / output.width) {
    return fail(
        ErrorCode::kBadData,
        ErrorParts{.what = "a picture of " + text_of(input) + " would become too large for a model",
                   .expected = "at most " + std::to_string(kOutputPixelsMax) + " pixels",
                   .got = text_of(output),
                   .advice = "crop it to a less extreme shape"});
  }
  return output;
}

Result<Size2> Preprocessor::resized_size(Size2 input) const {
  if (input.height < 1 || input.width < 1 || input.height > Resizer::kSideMax ||
      input.width > Resizer::kSideMax) {
    return fail(ErrorCode::kBadData,
                ErrorParts{.what = "the picture's size is out of bounds",
                           .expected = "1 to " + std::to_string(Resizer::kSideMax) + " each way",
                           .got = text_of(input),
                           .advice = {}});
  }
  if (!config_.do_resize) return input;
  if (config_.shortest_edge == 0) return config_.size;
  // int(size * long / short) of the reference: one exact product, one rounded division, truncated
  // (transformers/image_transforms.py: get_resize_output_image_size).
  const bool upright = input.width <= input.height;
  const std::int64_t shorter = upright ? input.width : input.height;
  const std::int64_t longer = upright ? input.height : input.width;
  const auto new_long = static_cast<std::int64_t>(
      static_cast<double>(config_.shortest_edge * longer) / static_cast<double>(shorter));
  if (new_long > Resizer::kSideMax) {
    return fail(ErrorCode::kBadData,
                ErrorParts{.what = "a picture of " + text_of(input) + " is too long to resize",
                           .expected = "a longer edge of at most " +
                                       std::to_string(Resizer::kSideMax) + " afterwards",
                           .got = std::to_string(new_long),
                           .advice = "crop it to a less extreme shape"});
  }
  return upright ? Size2{new_long, config_.shortest_edge} : Size2{config_.shortest_edge, new_long};
}

Result<void> Preprocessor::run(const Image& image, PreprocessScratch& scratch,
                               std::span<float> out) const {
  VIVACE_TRY(const Size2 output, output_size(image.size()));
  VIVACE_TRY(const Size2 resized, resized_size(image.size()));
  VIVACE_CHECK(out.size() == static_cast<std::size_t>(output.height * output.width * 3));

  const CropSpan down = crop_span(resized.height, output.height);
  const CropSpan across = crop_span(resized.width, output.width);
  const Window window{down.in_first, across.in_first, down.count, across.count};
  scratch.resized.resize(static_cast<std::size_t>(window.height * window.width * 3));
  scratch.resizer.run({image.size(), resized, config_.filter, window, config_.resampler}, image.rgb,
                      scratch.resized);

  const bool padded = window.height < output.height || window.width < output.width;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    float* const plane =
        out.data() + static_cast<std::int64_t>(channel) * output.height * output.width;
    const std::array<float, 256>& value = level_value_[channel];
    // The padding is there before rescaling and normalising, so it is level 0, not 0.0.
    if (padded) std::fill_n(plane, output.height * output.width, value[0]);
    for (std::int64_t row = 0; row < window.height; ++row) {
      const std::uint8_t* from = scratch.resized.data() + row * window.width * 3 + channel;
      float* to = plane + (down.out_first + row) * output.width + across.out_first;
      for (std::int64_t column = 0; column < window.width; ++column) {
        to[column] = value[from[3 * column]];
      }
    }
  }
  return {};
}

}  // namespace vivace::media
