// Files: mapped for reading, and written so that a reader never sees half of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"

namespace vivace::platform {

/// A whole file mapped read-only. Moving keeps the address.
class MappedFile {
 public:
  /// Errors: kMissingInput (absent, a folder, not readable), kInputOutput,
  /// kTemporary (no memory to map it). An empty file is an
  /// empty span.
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A small text file whole. Errors as MappedFile::open; kBadData beyond `bytes_max`.
Result<std::string> read_text(const std::filesystem::path& path,
                              std::size_t bytes_max = std::size_t{64} << 20);

/// A file under a temporary name beside its target, renamed by `commit()`; without it nothing
/// stays behind. Errors: kCannotCreate, kInputOutput (a full disk, say), naming the target.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::filesystem::path& target);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  /// Flushes to disk and puts the file in its place.
  Result<void> commit();

 private:
  AtomicFile(int descriptor, std::filesystem::path temporary, std::filesystem::path target)
      : descriptor_(descriptor), temporary_(std::move(temporary)), target_(std::move(target)) {}
  Result<void> failed(std::string_view action) const;

  int descriptor_ = -1;
  std::filesystem::path temporary_;
  std::filesystem::path target_;
};

Result<void> write_file_atomically(const std::filesystem::path& target, std::string_view contents);

/// Fails now, before hours of work, when `target` could not be created later.
Result<void> check_writable(const std::filesystem::path& target);

}  // namespace vivace::platform
