// JSON: what parses must be written and read back as the same text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const vivace::Result<vivace::Json> value = vivace::parse_json(text);
  if (!value) {
    if (value.error().message.empty()) std::abort();
    return 0;
  }
  const std::string written = vivace::write_json(*value);
  const vivace::Result<vivace::Json> again = vivace::parse_json(written);
  if (!again || vivace::write_json(*again) != written) std::abort();
  return 0;
}
