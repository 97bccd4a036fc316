// Result files: what is accepted must be written and read back as the same document.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/json.h"
#include "result/document.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = vivace::parse_json(text);
  if (!json) return 0;
  const auto document = vivace::result::from_json(*json);
  if (!document) return 0;
  const vivace::Json written = vivace::result::to_json(*document);
  const auto again = vivace::result::from_json(written);
  if (!again) std::abort();
  if (vivace::write_json(vivace::result::to_json(*again)) != vivace::write_json(written)) {
    std::abort();
  }
  return 0;
}
