// The safetensors file format: 8 bytes of header length, a JSON header, the tensors' bytes.
// Format: huggingface/safetensors:README.md ("Format"). The file is mapped, not read, and every
// promise of the format is checked before a tensor can be seen, so that a view can be trusted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/tensor.h"
#include "platform/file.h"

namespace vivace::model {

struct TensorEntry {
  std::string name;
  DType type = DType::kF32;
  Shape shape;
  std::size_t begin = 0;  ///< first byte, counted from the start of the file
  std::size_t bytes = 0;
};

struct SafetensorsIndex {
  std::vector<TensorEntry> tensors;  ///< in the order of their bytes
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Checks a whole file: header length (at most 100 MB, within the file), JSON without duplicate
/// keys, known dtypes, shape x dtype = extent without overflow, and that the extents cover the data
/// without overlap, hole or tail. Error: kBadData; names the tensor.
Result<SafetensorsIndex> parse_safetensors(std::span<const std::byte> file);

/// A mapped and checked file.
class SafetensorsFile {
 public:
  /// Errors carry the path.
  static Result<SafetensorsFile> open(const std::filesystem::path& path);

  const std::vector<TensorEntry>& tensors() const { return index_.tensors; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const {
    return index_.metadata;
  }
  std::span<const std::byte> bytes() const { return file_.bytes(); }
  TensorView view(const TensorEntry& entry) const;
  /// The tensor, or nothing.
  std::optional<TensorView> find(std::string_view name) const;
  std::vector<std::string> names() const;

 private:
  platform::MappedFile file_;
  SafetensorsIndex index_;
};

/// One tensor to write: name and type in the header, then its bytes in the same order.
struct TensorDeclaration {
  std::string name;
  DType type = DType::kF32;
  Shape shape;
};

/// Writes a file tensor by tensor without holding it: declare all, then append the bytes of each in
/// the order of declaration, in pieces of any size; the file appears with commit().
class SafetensorsWriter {
 public:
  static Result<SafetensorsWriter> create(
      const std::filesystem::path& path, std::span<const TensorDeclaration> tensors,
      std::span<const std::pair<std::string, std::string>> metadata = {});

  Result<void> append(std::span<const std::byte> bytes);
  Result<void> append(std::span<const float> values) { return append(std::as_bytes(values)); }
  Result<void> commit();

 private:
  SafetensorsWriter(platform::AtomicFile file, std::size_t bytes_declared)
      : file_(std::move(file)), bytes_missing_(bytes_declared) {}

  platform::AtomicFile file_;
  std::size_t bytes_missing_;
};

}  // namespace vivace::model
