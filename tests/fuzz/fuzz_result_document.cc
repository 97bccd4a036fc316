// Result files: what is accepted must be written and read back as the same document, whether arrays
// are packed and viewed, as in files, or trees; both readers accept the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "core/json.h"
#include "result/document.h"

namespace {

std::string streamed(const vivace::result::Document& document) {
  std::string text;
  const vivace::JsonSink sink = [&text](std::string_view piece) -> vivace::Result<void> {
    text += piece;
    return {};
  };
  if (!vivace::result::write_result(sink, document)) std::abort();
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto tree = vivace::parse_json(text);
  auto packed = vivace::parse_json(text, 2);
  if (tree.has_value() != packed.has_value()) std::abort();
  if (!tree) return 0;
  const auto document = vivace::result::from_json(std::move(*tree));
  const auto of_packed = vivace::result::from_json(std::move(*packed));
  // An array of numbers where an array of other things belongs is refused either way.
  if (document.has_value() != of_packed.has_value()) std::abort();
  if (!document) return 0;
  const std::string written = vivace::write_json(vivace::result::to_json(*document));
  if (streamed(*document) != written) std::abort();
  auto again = vivace::parse_json(written, 2);
  if (!again) std::abort();
  const auto back = vivace::result::from_json(std::move(*again));
  if (!back || streamed(*back) != streamed(*of_packed)) std::abort();
  return 0;
}
