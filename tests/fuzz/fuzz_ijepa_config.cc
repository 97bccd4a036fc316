// An I-JEPA config.json: accepted or refused with a message, whatever its numbers.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/json.h"
#include "model/ijepa.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = vivace::parse_json(text);
  if (!json) return 0;
  const auto config = vivace::model::parse_ijepa_config(*json);
  if (!config && config.error().message.empty()) std::abort();
  return 0;
}
