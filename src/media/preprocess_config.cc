// preprocessor_config.json to PreprocessConfig. Every field that decides a pixel is checked for
// kind and range; one that cannot be honoured is refused by name rather than ignored, because a
// picture prepared otherwise than in training gives a plausible and wrong embedding.
#include <cmath>
#include <string_view>

#include "core/text.h"
#include "media/preprocess.h"

namespace vivace::media {
namespace {

constexpr std::int64_t kSideMax = 32768;

tl::unexpected<Error> bad_field(std::string_view field, std::string expected, std::string got,
                                std::string advice = {}) {
  return fail(
      ErrorCode::kBadData,
      ErrorParts{.what = "preprocessor configuration: " + std::string(field) + " is not usable",
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .advice = std::move(advice)});
}

std::string shown(const Json& value) {
  if (value.is_string()) return quote(value.as_string(), 40);
  if (value.is_integer()) return std::to_string(value.as_integer());
  if (value.is_number() || value.is_bool()) {
    std::string text = write_json(value);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }
  return std::string(value.kind_name());
}

// The member, or null where it is absent or null: Python writes None for "the default".
const Json* member(const Json& object, std::string_view name) {
  const Json* value = object.find(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<void> read_flag(const Json& json, std::string_view name, bool& flag) {
  const Json* value = member(json, name);
  if (value == nullptr) return {};
  if (!value->is_bool()) return bad_field(name, "true or false", shown(*value));
  flag = value->as_bool();
  return {};
}

Result<std::int64_t> read_side(const Json& value, const std::string& field) {
  // Python's JSON may carry 224.0 for 224.
  if (value.is_number()) {
    const double side = value.as_number();
    if (side >= 1.0 && side <= static_cast<double>(kSideMax) && side == std::floor(side)) {
      return static_cast<std::int64_t>(side);
    }
  }
  return bad_field(field, "a whole number from 1 to " + std::to_string(kSideMax), shown(value));
}

Result<double> read_number(const Json& value, const std::string& field) {
  if (!value.is_number() || !std::isfinite(value.as_number())) {
    return bad_field(field, "a finite number", shown(value));
  }
  return value.as_number();
}

// One number for all channels, or three.
Result<void> read_channels(const Json& json, std::string_view name,
                           std::array<double, 3>& channels) {
  const Json* value = member(json, name);
  if (value == nullptr) return {};
  const std::string field(name);
  if (value->is_number()) {
    VIVACE_TRY(const double number, read_number(*value, field));
    channels.fill(number);
    return {};
  }
  if (!value->is_array() || value->as_array().size() != channels.size()) {
    return bad_field(
        field, "three numbers",
        value->is_array() ? std::to_string(value->as_array().size()) + " elements" : shown(*value));
  }
  for (std::size_t i = 0; i < channels.size(); ++i) {
    VIVACE_TRY(channels[i],
               read_number(value->as_array()[i], field + "[" + std::to_string(i) + "]"));
  }
  return {};
}

Result<Size2> read_height_width(const Json& value, const std::string& field) {
  const Json* height = member(value, "height");
  const Json* width = member(value, "width");
  if (height == nullptr || width == nullptr) {
    return bad_field(field, "an object with height and width", "an object without them");
  }
  VIVACE_TRY(const std::int64_t rows, read_side(*height, field + ".height"));
  VIVACE_TRY(const std::int64_t columns, read_side(*width, field + ".width"));
  return Size2{rows, columns};
}

// A list, in old files, is [height, width].
Result<Size2> read_list(const Json& value, const std::string& field) {
  const JsonArray& list = value.as_array();
  if (list.size() != 2) {
    return bad_field(field, "[height, width]", std::to_string(list.size()) + " elements");
  }
  VIVACE_TRY(const std::int64_t rows, read_side(list[0], field + "[0]"));
  VIVACE_TRY(const std::int64_t columns, read_side(list[1], field + "[1]"));
  return Size2{rows, columns};
}

// A plain number means a square in some classes and the shorter edge in others.
Result<void> read_size(const Json& json, bool number_is_square, PreprocessConfig& config) {
  const Json* value = member(json, "size");
  if (value == nullptr) return {};
  const Json* edge = nullptr;
  if (value->is_object()) {
    for (const std::string_view other : {"longest_edge", "max_height", "max_width"}) {
      if (member(*value, other) != nullptr) {
        return bad_field("size." + std::string(other), "height and width, or shortest_edge alone",
                         shown(*member(*value, other)));
      }
    }
    edge = member(*value, "shortest_edge");
  } else if (value->is_number() && !number_is_square) {
    edge = value;
  }
  if (edge != nullptr) {
    if (value->is_object() &&
        (member(*value, "height") != nullptr || member(*value, "width") != nullptr)) {
      return bad_field("size", "height and width, or shortest_edge", "both");
    }
    VIVACE_TRY(config.shortest_edge,
               read_side(*edge, value->is_object() ? "size.shortest_edge" : "size"));
    return {};
  }
  config.shortest_edge = 0;
  if (value->is_number()) {
    VIVACE_TRY(const std::int64_t side, read_side(*value, "size"));
    config.size = {side, side};
    return {};
  }
  if (value->is_array()) {
    VIVACE_TRY(config.size, read_list(*value, "size"));
    return {};
  }
  if (!value->is_object()) {
    return bad_field("size", "a number, or an object with height and width or shortest_edge",
                     shown(*value));
  }
  VIVACE_TRY(config.size, read_height_width(*value, "size"));
  return {};
}

Result<void> read_crop_size(const Json& json, Size2& crop_size) {
  const Json* value = member(json, "crop_size");
  if (value == nullptr) return {};
  if (value->is_object()) {
    VIVACE_TRY(crop_size, read_height_width(*value, "crop_size"));
    return {};
  }
  if (value->is_array()) {
    VIVACE_TRY(crop_size, read_list(*value, "crop_size"));
    return {};
  }
  VIVACE_TRY(const std::int64_t side, read_side(*value, "crop_size"));
  crop_size = {side, side};
  return {};
}

Result<void> read_resample(const Json& json, Filter& filter) {
  const Json* value = member(json, "resample");
  if (value == nullptr) return {};
  constexpr std::string_view kNames[] = {"nearest", "lanczos", "bilinear",
                                         "bicubic", "box",     "hamming"};
  if (!value->is_integer()) {
    return bad_field("resample", "2 (bilinear) or 3 (bicubic)", shown(*value));
  }
  const std::int64_t number = value->as_integer();
  if (number == 2 || number == 3) {
    filter = number == 2 ? Filter::kBilinear : Filter::kBicubic;
    return {};
  }
  std::string got = std::to_string(number);
  if (number >= 0 && number < 6) got += " (" + std::string(kNames[number]) + ")";
  return bad_field("resample", "2 (bilinear) or 3 (bicubic)", got);
}

// What the class itself assumes where the file is silent.
void apply_class_defaults(PreprocessConfig& config) {
  if (config.processor.starts_with("CLIP")) {
    config.shortest_edge = 224;
    config.filter = Filter::kBicubic;
    config.do_center_crop = true;
    config.mean = {0.48145466, 0.4578275, 0.40821073};
    config.std = {0.26862954, 0.26130258, 0.27577711};
  } else if (config.processor.starts_with("VJEPA2")) {
    config.do_center_crop = true;
    config.crop_size = {256, 256};
    config.mean = {0.485, 0.456, 0.406};
    config.std = {0.229, 0.224, 0.225};
  }
}

Result<void> read_processor(const Json& json, std::string& processor) {
  for (const std::string_view name :
       {"image_processor_type", "video_processor_type", "feature_extractor_type"}) {
    const Json* value = member(json, name);
    if (value == nullptr) continue;
    if (!value->is_string()) return bad_field(name, "the name of a class", shown(*value));
    processor = value->as_string();
    return {};
  }
  return {};
}

Result<void> read_arithmetic(const Json& json, PreprocessConfig& config) {
  VIVACE_CHECK_OK(read_flag(json, "do_rescale", config.do_rescale));
  VIVACE_CHECK_OK(read_flag(json, "do_normalize", config.do_normalize));
  if (const Json* factor = member(json, "rescale_factor"); factor != nullptr) {
    VIVACE_TRY(config.rescale_factor, read_number(*factor, "rescale_factor"));
    if (!(config.rescale_factor > 0.0 && config.rescale_factor <= 1e6)) {
      return bad_field("rescale_factor", "a number above 0 and at most 1000000", shown(*factor));
    }
  }
  VIVACE_CHECK_OK(read_channels(json, "image_mean", config.mean));
  VIVACE_CHECK_OK(read_channels(json, "image_std", config.std));
  for (std::size_t channel = 0; channel < 3; ++channel) {
    // As float32 it is divided by: a denormal would give infinities.
    if (!(config.std[channel] >= 1e-12 && config.std[channel] <= 1e12)) {
      return bad_field("image_std", "numbers above 0", shown(Json(config.std[channel])));
    }
    if (std::fabs(config.mean[channel]) > 1e12) {
      return bad_field("image_mean", "numbers near the pixels' range",
                       shown(Json(config.mean[channel])));
    }
  }
  return {};
}

}  // namespace

Result<PreprocessConfig> parse_preprocess_config(const Json& json) {
  if (!json.is_object()) {
    return fail(ErrorCode::kBadData, ErrorParts{.what = "the preprocessor configuration",
                                                .expected = "an object",
                                                .got = std::string(json.kind_name()),
                                                .advice = {}});
  }
  PreprocessConfig config;
  VIVACE_CHECK_OK(read_processor(json, config.processor));
  apply_class_defaults(config);
  VIVACE_CHECK_OK(read_flag(json, "do_resize", config.do_resize));
  VIVACE_CHECK_OK(read_flag(json, "do_center_crop", config.do_center_crop));
  // Pictures always arrive as RGB here, so its value changes nothing; its kind is still checked.
  bool do_convert_rgb = true;
  VIVACE_CHECK_OK(read_flag(json, "do_convert_rgb", do_convert_rgb));
  bool do_pad = false;
  VIVACE_CHECK_OK(read_flag(json, "do_pad", do_pad));
  if (do_pad) return bad_field("do_pad", "false", "true");

  bool number_is_square = !config.processor.starts_with("CLIP");
  VIVACE_CHECK_OK(read_flag(json, "default_to_square", number_is_square));
  VIVACE_CHECK_OK(read_size(json, number_is_square, config));
  VIVACE_CHECK_OK(read_crop_size(json, config.crop_size));
  if (config.processor.starts_with("VJEPA2")) {
    // This class computes its edge from the crop and does not look at `size`
    // (huggingface/transformers:src/transformers/models/vjepa2/video_processing_vjepa2.py).
    config.shortest_edge =
        static_cast<std::int64_t>(static_cast<double>(config.crop_size.height) * 256.0 / 224.0);
  }
  VIVACE_CHECK_OK(read_resample(json, config.filter));
  VIVACE_CHECK_OK(read_arithmetic(json, config));
  return config;
}

}  // namespace vivace::media
