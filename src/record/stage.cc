#include "record/stage.h"

namespace vivace {
namespace {

constexpr std::array<std::string_view, kStageCount> kNames = {
    "network",     "queue",          "fetch",          "read",          "decode",
    "preprocess",  "host_to_device", "context_encode", "target_encode", "predict",
    "postprocess", "device_to_host", "respond",        "unattributed"};

}  // namespace

std::string_view name_of(Stage stage) { return kNames[static_cast<std::size_t>(stage)]; }

std::optional<Stage> stage_named(std::string_view name) {
  for (std::size_t i = 0; i < kStageCount; ++i) {
    if (kNames[i] == name) return static_cast<Stage>(i);
  }
  return std::nullopt;
}

}  // namespace vivace
