// Other tools' files: what is imported, recognised or under the name of any format, is a document
// that can be written and read back; what is refused is refused with a message.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/json.h"
#include "result/document.h"
#include "result/import.h"

namespace {

void check(std::string_view text, const vivace::result::ImportOptions& options) {
  const auto document = vivace::result::import_result(text, options);
  if (!document) {
    if (document.error().message.empty()) std::abort();
    return;
  }
  if (document->samples.latency_ns.empty() || !document->summary) std::abort();
  const std::string written = vivace::write_json(vivace::result::to_json(*document));
  auto json = vivace::parse_json(written);
  if (!json) std::abort();
  const auto again = vivace::result::from_json(std::move(*json));
  if (!again || vivace::write_json(vivace::result::to_json(*again)) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  vivace::result::ImportOptions options;
  check(text, options);
  options.select = "1";
  options.column = "1";
  options.unit = "ms";
  check(text, options);
  for (const std::string_view format : vivace::result::import_formats()) {
    options.format = format;
    check(text, options);
  }
  return 0;
}
