#include "platform/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/text.h"

namespace vivace::platform {
namespace {

tl::unexpected<Error> cannot_open(const std::filesystem::path& path, int error) {
  return fail(ErrorCode::kMissingInput,
              "cannot open " + quote(path.string(), 400) + ": " + errno_text(error));
}

/// A symbolic link stays a link: what it points to, there or not yet, is what gets written. Links
/// of the kernel's own (/dev/stdout to a pipe) name no path; they are opened as they are.
std::filesystem::path link_target(const std::filesystem::path& wanted) {
  constexpr int kLinksMax = 40;  // as the kernel
  std::error_code error;
  std::filesystem::path target = wanted;
  for (int i = 0; i < kLinksMax && std::filesystem::is_symlink(target, error); ++i) {
    const std::filesystem::path next =
        target.parent_path() / std::filesystem::read_symlink(target, error);
    if (!std::filesystem::exists(next, error) && std::filesystem::exists(target, error)) break;
    target = next;
  }
  return target;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_open(path, errno);
  struct stat facts{};
  const int stat_error = fstat(descriptor, &facts) == 0 ? 0 : errno;
  if (stat_error != 0 || !S_ISREG(facts.st_mode)) {
    ::close(descriptor);
    if (stat_error != 0) return cannot_open(path, stat_error);
    return fail(ErrorCode::kMissingInput,
                {.what = "cannot read " + quote(path.string(), 400),
                 .expected = "a file",
                 .got = S_ISDIR(facts.st_mode) ? "a folder" : "a device or pipe",
                 .advice = {}});
  }
  MappedFile file;
  file.size_ = static_cast<std::size_t>(facts.st_size);
  if (file.size_ > 0) {
    void* memory = mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory == MAP_FAILED) {
      const int error = errno;
      ::close(descriptor);
      file.size_ = 0;
      return fail(error == ENOMEM ? ErrorCode::kTemporary : ErrorCode::kInputOutput,
                  "cannot map " + quote(path.string(), 400) + ": " + errno_text(error));
    }
    file.data_ = static_cast<const std::byte*>(memory);
  }
  ::close(descriptor);
  return file;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Result<std::string> read_text(const std::filesystem::path& path, std::size_t bytes_max) {
  VIVACE_TRY(const MappedFile file, MappedFile::open(path));
  const auto bytes = file.bytes();
  if (bytes.size() > bytes_max) {
    return fail(ErrorCode::kBadData, {.what = quote(path.string(), 400) + " is too large",
                                      .expected = "at most " + std::to_string(bytes_max) + " bytes",
                                      .got = std::to_string(bytes.size()),
                                      .advice = {}});
  }
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& wanted) {
  std::error_code ignored;
  const std::filesystem::path target = link_target(wanted);
  if (!target.has_filename() || std::filesystem::is_directory(target, ignored)) {
    return fail(ErrorCode::kCannotCreate, {.what = "cannot create " + quote(target.string(), 400),
                                           .expected = "a file name",
                                           .got = target.empty() ? "nothing" : "a folder",
                                           .advice = {}});
  }
  if (std::filesystem::exists(target, ignored) &&
      !std::filesystem::is_regular_file(target, ignored)) {
    // A device or pipe (/dev/null, /dev/stdout) is written to, never replaced.
    const int descriptor = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) {
      return fail(ErrorCode::kCannotCreate,
                  "cannot open " + quote(target.string(), 400) + ": " + errno_text(errno));
    }
    return AtomicFile(descriptor, {}, target);
  }
  std::string name = target.string() + ".part-XXXXXX";
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) {
    return fail(ErrorCode::kCannotCreate,
                "cannot create " + quote(target.string(), 400) + ": " + errno_text(errno));
  }
  // mkostemp makes the file private; a result is as public as the umask says.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, 0666 & ~mask);
  return AtomicFile(descriptor, name, target);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      temporary_(std::move(other.temporary_)),
      target_(std::move(other.target_)) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("write");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> AtomicFile::commit() {
  if (fsync(descriptor_) != 0 && errno != EINVAL) return failed("write");
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (temporary_.empty()) {
    if (!closed) return failed("write");
    return {};
  }
  if (!closed || ::rename(temporary_.c_str(), target_.c_str()) != 0) {
    auto result = failed("write");
    ::unlink(temporary_.c_str());
    return result;
  }
  return {};
}

Result<void> AtomicFile::failed(std::string_view action) const {
  return fail(ErrorCode::kInputOutput, "cannot " + std::string(action) + " " +
                                           quote(target_.string(), 400) + ": " + errno_text(errno));
}

Result<void> write_file_atomically(const std::filesystem::path& target, std::string_view contents) {
  VIVACE_TRY(AtomicFile file, AtomicFile::create(target));
  VIVACE_CHECK_OK(file.write(contents));
  return file.commit();
}

Result<void> check_writable(const std::filesystem::path& target) {
  std::error_code ignored;
  if (std::filesystem::is_fifo(target, ignored)) {
    // Opening a pipe would wait for its reader, and closing it again would end that reader.
    if (::access(target.c_str(), W_OK) == 0) return {};
    return fail(ErrorCode::kCannotCreate,
                "cannot open " + quote(target.string(), 400) + ": " + errno_text(errno));
  }
  VIVACE_TRY(const AtomicFile probe, AtomicFile::create(target));
  (void)probe;
  return {};
}

}  // namespace vivace::platform
