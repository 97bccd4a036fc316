// Expands inputs and reads them with read(2): the bytes go straight into the caller's buffer, and a
// pipe or /proc file, whose size nobody knows, is read like any other.
#include "media/source.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/text.h"
#include "media/decode.h"

namespace vivace::media {
namespace {

constexpr std::string_view kSynthetic = "synthetic";
constexpr Size2 kSyntheticSize = {480, 640};
constexpr std::int64_t kSyntheticPixelsMax = 178'956'970;  // as for decoded pictures

// A missing file and one behind a forbidden folder are the same to the caller, with other reasons.
tl::unexpected<Error> cannot_read(const std::string& path, int number) {
  // Only a pipe or terminal is waited for so long that a signal ends the wait: somebody wants out.
  if (number == EINTR) {
    return fail(ErrorCode::kInterrupted, "interrupted while waiting for " + quote(path));
  }
  return fail(ErrorCode::kMissingInput,
              "input " + quote(path) + " cannot be read: " + errno_text(number));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int value) : value_(value) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (value_ > STDIN_FILENO) ::close(value_);
  }
  int value() const { return value_; }

 private:
  int value_;
};

Source file_source(std::string path) {
  Source source;
  source.kind = Source::Kind::kFile;
  source.name = path;
  source.path = std::move(path);
  return source;
}

// FILE.npy or FILE.safetensors:NAME.
std::optional<Source> tensor_source(const std::string& input) {
  Source source;
  source.kind = Source::Kind::kTensor;
  source.name = input;
  // Without a name a .safetensors is still a tensor's file: who opens it tells what names it has.
  if (lower(input).ends_with(".npy") || lower(input).ends_with(".safetensors")) {
    source.path = input;
    return source;
  }
  constexpr std::string_view kMark = ".safetensors:";
  const std::size_t mark = lower(input).rfind(kMark);
  if (mark == std::string::npos) return std::nullopt;
  source.path = input.substr(0, mark + kMark.size() - 1);
  source.tensor_name = input.substr(mark + kMark.size());
  return source;
}

Result<Source> synthetic_source(const std::string& input) {
  Source source;
  source.kind = Source::Kind::kSynthetic;
  source.name = input;
  source.synthetic_size = kSyntheticSize;
  if (input.size() == kSynthetic.size()) return source;
  const std::string shape = input.substr(kSynthetic.size() + 1);
  const std::vector<std::string_view> parts = split(shape, 'x');
  if (parts.size() == 3 && parts[2] != "1") {
    return fail(ErrorCode::kUnavailable, "input " + quote(input) +
                                             ": video inputs are not available in this version; " +
                                             "leave out the number of frames");
  }
  const std::size_t size_end = parts.size() == 3 ? shape.rfind('x') : shape.size();
  const Result<Size2> size = parse_size(shape.substr(0, size_end));
  if (!size) return tl::unexpected(with_context(size.error(), "input " + quote(input)));
  if (size->height < 1 || size->width < 1 || size->height > kSyntheticPixelsMax / size->width) {
    return fail(ErrorCode::kUsage,
                ErrorParts{.what = "input " + quote(input) + " is no size for a picture",
                           .expected = "1 to " + std::to_string(kSyntheticPixelsMax) + " pixels",
                           .got = shape,
                           .advice = {}});
  }
  source.synthetic_size = *size;
  return source;
}

void add_sorted(std::vector<std::string> paths, std::vector<Source>& sources) {
  std::sort(paths.begin(), paths.end());
  for (std::string& path : paths) sources.push_back(file_source(std::move(path)));
}

Result<void> add_folder(const std::string& folder, std::vector<Source>& sources) {
  std::error_code error;
  std::vector<std::string> paths;
  std::size_t other_count = 0;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string path = entry->path().string();
    std::error_code ignored;
    const bool hidden = entry->path().filename().string().starts_with('.');
    // A pipe or device would be waited for; a link to nothing is named when it is opened.
    const bool readable = !entry->exists(ignored) || entry->is_regular_file(ignored);
    if (!hidden && has_image_extension(path) && readable) {
      paths.push_back(path);
    } else {
      ++other_count;
    }
  }
  if (error) return cannot_read(folder, error.value());
  if (paths.empty()) {
    return fail(ErrorCode::kMissingInput,
                ErrorParts{.what = "folder " + quote(folder) + " holds no pictures",
                           .expected = "files ending in .jpg, .jpeg, .png or .webp",
                           .got = std::to_string(other_count) + " other entries",
                           .advice = "sub-folders are not searched; name them, or use a glob"});
  }
  add_sorted(std::move(paths), sources);
  return {};
}

Result<void> add_glob(const std::string& pattern, std::vector<Source>& sources) {
  glob_t found{};
  const int status = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths;
  for (std::size_t i = 0; status == 0 && i < found.gl_pathc; ++i) {
    struct stat about;
    if (::stat(found.gl_pathv[i], &about) == 0 && !S_ISREG(about.st_mode)) continue;
    paths.emplace_back(found.gl_pathv[i]);
  }
  ::globfree(&found);
  if (paths.empty()) {
    return fail(ErrorCode::kMissingInput, "input " + quote(pattern) + " matches no file");
  }
  add_sorted(std::move(paths), sources);
  return {};
}

Result<void> add_list(const std::string& list_path, std::vector<Source>& sources) {
  std::vector<std::uint8_t> bytes;
  VIVACE_CHECK_OK(read_source(file_source(list_path), bytes));
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // Editors of some systems begin a text with a byte order mark.
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t before = sources.size();
  std::size_t line_number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++line_number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos || line.starts_with('#')) continue;
    struct stat about;
    const std::string path(line);
    if (line.find('\0') != std::string_view::npos || ::stat(path.c_str(), &about) != 0) {
      return fail(ErrorCode::kMissingInput,
                  "input " + quote(path) + " cannot be read: " + errno_text(ENOENT) + " (line " +
                      std::to_string(line_number) + " of list " + quote(list_path) + ")");
    }
    sources.push_back(file_source(path));
  }
  if (sources.size() == before) {
    return fail(ErrorCode::kMissingInput, "list " + quote(list_path) + " names no files");
  }
  return {};
}

Result<void> add_path(const std::string& input, std::vector<Source>& sources) {
  struct stat about;
  if (::stat(input.c_str(), &about) == 0) {
    if (S_ISDIR(about.st_mode)) return add_folder(input, sources);
    sources.push_back(file_source(input));
    return {};
  }
  const int reason = errno;
  if (input.find_first_of("*?[") != std::string::npos) return add_glob(input, sources);
  return cannot_read(input, reason);
}

Result<void> add_input(const std::string& input, std::vector<Source>& sources) {
  if (input.empty()) return fail(ErrorCode::kUsage, "an input is empty");
  if (input == "-") {
    for (const Source& source : sources) {
      if (source.kind == Source::Kind::kStdin) {
        return fail(ErrorCode::kUsage, "standard input is named twice; it can be read once");
      }
    }
    Source source;
    source.kind = Source::Kind::kStdin;
    source.name = "standard input";
    sources.push_back(std::move(source));
    return {};
  }
  if (input.starts_with('@')) return add_list(input.substr(1), sources);
  if (input == kSynthetic || input.starts_with("synthetic:")) {
    VIVACE_TRY(Source source, synthetic_source(input));
    sources.push_back(std::move(source));
    return {};
  }
  const std::string scheme = lower(input.substr(0, 8));
  if (scheme.starts_with("http://") || scheme.starts_with("https://")) {
    return fail(ErrorCode::kUnavailable,
                "input " + quote(input) + ": inputs over the network are not available in this " +
                    "version; download the file and name it");
  }
  if (std::optional<Source> tensor = tensor_source(input)) {
    sources.push_back(std::move(*tensor));
    return {};
  }
  return add_path(input, sources);
}

// Reads to the end; the size in the file system is only a hint (pipes and /proc have none).
Result<void> read_all(int descriptor, std::size_t size_hint, const std::string& name,
                      std::vector<std::uint8_t>& bytes) {
  constexpr std::size_t kBlock = 1 << 16;
  const auto limit = static_cast<std::size_t>(kSourceBytesMax);
  std::size_t filled = 0;
  // One byte more than expected, so that the end is seen without growing.
  bytes.resize(std::max(size_hint + 1, kBlock));
  while (true) {
    if (filled == bytes.size()) bytes.resize(std::min(limit + 1, 2 * bytes.size()));
    const ssize_t count = ::read(descriptor, bytes.data() + filled, bytes.size() - filled);
    if (count == 0) break;
    if (count < 0) {
      if (errno == EINTR || errno == EISDIR) return cannot_read(name, errno);
      return fail(ErrorCode::kInputOutput,
                  "reading " + quote(name) + " failed: " + errno_text(errno));
    }
    filled += static_cast<std::size_t>(count);
    if (filled > limit) {
      return fail(ErrorCode::kBadData,
                  ErrorParts{.what = "input " + quote(name) + " is too large",
                             .expected = "at most " + std::to_string(kSourceBytesMax) + " bytes",
                             .got = "more",
                             .advice = {}});
    }
  }
  bytes.resize(filled);
  return {};
}

}  // namespace

Result<std::vector<Source>> expand_inputs(std::span<const std::string> inputs) {
  std::vector<Source> sources;
  for (const std::string& input : inputs) VIVACE_CHECK_OK(add_input(input, sources));
  return sources;
}

Result<void> read_source(const Source& source, std::vector<std::uint8_t>& bytes) {
  if (source.kind != Source::Kind::kFile && source.kind != Source::Kind::kStdin) {
    return fail(ErrorCode::kInternal, "input " + quote(source.name) + " has no bytes to read");
  }
  const bool from_stdin = source.kind == Source::Kind::kStdin;
  const FileDescriptor file(from_stdin ? STDIN_FILENO
                                       : ::open(source.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.value() < 0) return cannot_read(source.path, errno);
  struct stat about;
  if (::fstat(file.value(), &about) != 0) return cannot_read(source.name, errno);
  if (S_ISDIR(about.st_mode)) return cannot_read(source.name, EISDIR);
  if (about.st_size > kSourceBytesMax) {
    return fail(ErrorCode::kBadData,
                ErrorParts{.what = "input " + quote(source.name) + " is too large",
                           .expected = "at most " + std::to_string(kSourceBytesMax) + " bytes",
                           .got = std::to_string(about.st_size),
                           .advice = {}});
  }
  const std::size_t size_hint =
      S_ISREG(about.st_mode) ? static_cast<std::size_t>(about.st_size) : 0;
  try {
    return read_all(file.value(), size_hint, source.name, bytes);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kTemporary, "not enough memory to read " + quote(source.name));
  }
}

}  // namespace vivace::media
