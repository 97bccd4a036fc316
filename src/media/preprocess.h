// Pixels to the floats that a checkpoint's encoder was trained on, as the checkpoint's own
// preprocessor_config.json says and as transformers' Pillow-based processors compute it: resize,
// centre crop (zero-padded where the picture is smaller), rescale, normalise.
//
// Cropping happens inside the resize: rows and columns that the crop would throw away are never
// computed. Rescaling and normalising go through one table of 256 floats per channel, filled by the
// reference's own float32 arithmetic, so the floats are the reference's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/units.h"
#include "media/image.h"
#include "media/resize.h"

namespace vivace::media {

/// The defaults are ViTImageProcessor's.
struct PreprocessConfig {
  std::string processor;  ///< `image_processor_type` or its older and video names, "" if absent
  bool do_resize = true;
  Size2 size = {224, 224};         ///< squashed to this, unless shortest_edge is set
  std::int64_t shortest_edge = 0;  ///< > 0: the shorter edge becomes this, aspect kept
  Filter filter = Filter::kBilinear;
  bool do_center_crop = false;
  Size2 crop_size = {224, 224};
  bool do_rescale = true;
  double rescale_factor = 1.0 / 255.0;
  bool do_normalize = true;
  std::array<double, 3> mean = {0.5, 0.5, 0.5};
  std::array<double, 3> std = {0.5, 0.5, 0.5};
  Resampler resampler = Resampler::kPillow;  ///< not in the file; the caller's choice
};

/// Reads a preprocessor_config.json (or video_preprocessor_config.json, for its frames). Fields
/// that are absent or null take the defaults of the named processor class: those above; CLIP's and
/// V-JEPA 2's where the class is theirs. Fields about other things are not looked at. Errors:
/// kBadData, naming the field.
Result<PreprocessConfig> parse_preprocess_config(const Json& json);

/// Buffers and plans that Preprocessor::run() keeps between calls. One per thread.
struct PreprocessScratch {
  Resizer resizer;
  std::vector<std::uint8_t> resized;  // the part of the resized picture that the crop shows
};

/// Immutable once made; any number of threads may run it, each with a scratch of its own.
class Preprocessor {
 public:
  /// With `resolution`, pictures are squashed to that size and not cropped, whatever the file says
  /// about size. Errors: kUsage for a resolution that is no size.
  static Result<Preprocessor> create(const PreprocessConfig& config,
                                     std::optional<Size2> resolution = std::nullopt);

  /// The output's size where it is the same for every input.
  std::optional<Size2> output_size() const;
  /// The output's size for an input of this size. Errors: kBadData where either is out of bounds.
  Result<Size2> output_size(Size2 input) const;

  /// `out` is [3, H, W] with output_size(image.size()). Allocates only when the sizes differ from
  /// those of the call before. Errors: as output_size().
  Result<void> run(const Image& image, PreprocessScratch& scratch, std::span<float> out) const;

  const PreprocessConfig& config() const { return config_; }

 private:
  explicit Preprocessor(const PreprocessConfig& config);
  Result<Size2> resized_size(Size2 input) const;

  PreprocessConfig config_;
  std::array<std::array<float, 256>, 3> level_value_;  // per channel: the float of each level
};

}  // namespace vivace::media
