#include "result/document.h"

#include "core/error.h"
#include "platform/file.h"

namespace vivace::result {
namespace {

// A million samples of ten stages are about 150 MB; what is far beyond is no result of ours.
constexpr std::size_t kFileBytesMax = std::size_t{2} << 30;

}  // namespace

Result<void> write_result(const std::filesystem::path& path, const Document& document) {
  return platform::write_file_atomically(path, write_json(to_json(document)));
}

Result<Document> read_result(const std::filesystem::path& path) {
  VIVACE_TRY(const std::string text, platform::read_text(path, kFileBytesMax));
  auto json = parse_json(text);
  if (!json) return tl::unexpected(with_context(std::move(json).error(), path.string()));
  auto document = from_json(*json);
  if (!document) return tl::unexpected(with_context(std::move(document).error(), path.string()));
  return document;
}

}  // namespace vivace::result
