// Stand-in checkpoints: the sizes of a published model under a name, with seeded weights and so no
// knowledge. Speed, memory and shapes are the real ones'; what the model says about a picture is
// not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"

namespace vivace::model {

/// The key under which a stand-in says so in its safetensors metadata.
inline constexpr std::string_view kStandInKey = "vivace.stand_in";

struct Preset {
  std::string_view name;  ///< "ijepa-vith14"
  std::int64_t width;
  std::int64_t depth;
  std::int64_t heads;
  std::int64_t mlp_width;
  std::int64_t patch;
  std::int64_t image;
  std::string_view published_as;  ///< the checkpoint whose sizes these are, or ""
};

std::span<const Preset> presets();

/// The preset, or kUsage with the nearest name.
Result<Preset> find_preset(std::string_view name);

/// Writes config.json, preprocessor_config.json and model.safetensors into `folder` (made where
/// absent). Weights: normal with standard deviation 0.02 (the reference truncates at +-2, which is
/// 100 deviations and never met), biases 0, norms 1 and 0, the position table as the authors' sine
/// and cosine of [w | h]. The same bytes on every machine. `progress` is called with the share
/// done; when `stop` says so, nothing is left behind. Errors: kCannotCreate (also for a folder that
/// holds a checkpoint that is no stand-in), kInputOutput, kInterrupted.
Result<void> write_stand_in(const Preset& preset, std::uint64_t seed,
                            const std::filesystem::path& folder, int thread_count,
                            const std::function<void(double)>& progress = {},
                            const std::function<bool()>& stop = {});

}  // namespace vivace::model
