// The steps of a request. One closed list feeds results, tables, traces and server headers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vivace {

/// In the order in which a request passes them.
enum class Stage : std::uint8_t {
  kNetwork,
  kQueue,
  kFetch,
  kRead,
  kDecode,
  kPreprocess,
  kHostToDevice,
  kContextEncode,
  kTargetEncode,
  kPredict,
  kPostprocess,
  kDeviceToHost,
  kRespond,
  kUnattributed,  ///< wall time that no stage claims
};
inline constexpr std::size_t kStageCount = 14;

/// "context_encode": the name in files and on the command line.
std::string_view name_of(Stage stage);
std::optional<Stage> stage_named(std::string_view name);

/// Nanoseconds per stage.
using StageTimes = std::array<std::int64_t, kStageCount>;

}  // namespace vivace
