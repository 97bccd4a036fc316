#include "result/document.h"

#include <string>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "platform/file.h"

namespace vivace::result {
namespace {

// A million samples with all their stages and covariates are about 150 MB; what is far beyond is no
// result of ours.
constexpr std::size_t kFileBytesMax = std::size_t{2} << 30;
// Shorter arrays of numbers are trees like everything else in a document.
constexpr std::size_t kPackFrom = 1024;

/// The tree outlives the file's text, which is a mapping and no copy.
Result<Json> read_json(const std::filesystem::path& path) {
  VIVACE_TRY(const platform::MappedFile file, platform::MappedFile::open(path));
  const auto bytes = file.bytes();
  if (bytes.size() > kFileBytesMax) {
    return fail(ErrorCode::kBadData,
                {.what = quote(path.string(), 400) + " is too large",
                 .expected = "at most " + std::to_string(kFileBytesMax) + " bytes",
                 .got = std::to_string(bytes.size()),
                 .advice = {}});
  }
  auto json = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, kPackFrom);
  if (!json) return tl::unexpected(with_context(std::move(json).error(), path.string()));
  return json;
}

}  // namespace

Result<void> write_result(const std::filesystem::path& path, const Document& document) {
  VIVACE_TRY(platform::AtomicFile file, platform::AtomicFile::create(path));
  const JsonSink sink = [&file](std::string_view piece) { return file.write(piece); };
  VIVACE_CHECK_OK(write_result(sink, document));
  return file.commit();
}

Result<Document> read_result(const std::filesystem::path& path) {
  VIVACE_TRY(Json json, read_json(path));
  auto document = from_json(std::move(json));
  if (!document) return tl::unexpected(with_context(std::move(document).error(), path.string()));
  return document;
}

}  // namespace vivace::result
