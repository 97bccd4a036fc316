#include "model/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "core/json.h"
#include "core/text.h"

namespace vivace::model {
namespace {

constexpr std::size_t kHeaderBytesMax = 100'000'000;
constexpr std::size_t kLengthBytes = 8;

constexpr std::array kTypes = {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kI64,
                               DType::kI32, DType::kI16, DType::kI8,  DType::kU8,   DType::kBool};

tl::unexpected<Error> bad(std::string what, std::string expected = {}, std::string got = {}) {
  return fail(ErrorCode::kBadData, {.what = std::move(what),
                                    .expected = std::move(expected),
                                    .got = std::move(got),
                                    .advice = {}});
}

Result<DType> parse_type(const std::string& tensor, const Json& value) {
  std::string known;
  for (const DType type : kTypes) {
    if (value.is_string() && value.as_string() == name_of(type)) return type;
    known += (known.empty() ? "" : ", ") + std::string(name_of(type));
  }
  return bad(fmt::format("tensor {} has an unsupported dtype", tensor), known,
             value.is_string() ? quote(value.as_string()) : std::string(value.kind_name()));
}

Result<Shape> parse_shape(const std::string& tensor, const Json& value) {
  if (!value.is_array()) {
    return bad(fmt::format("the shape of tensor {}", tensor), "an array",
               std::string(value.kind_name()));
  }
  Shape shape;
  for (const Json& extent : value.as_array()) {
    if (!extent.is_integer() || extent.as_integer() < 0) {
      return bad(fmt::format("the shape of tensor {}", tensor), "whole numbers from 0",
                 extent.is_integer() ? std::to_string(extent.as_integer())
                                     : std::string(extent.kind_name()));
    }
    shape.push_back(extent.as_integer());
  }
  return shape;
}

/// shape x dtype in bytes, or nothing when that overflows.
std::optional<std::size_t> extent_bytes(const Shape& shape, DType type) {
  std::size_t bytes = size_of(type);
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes))
      return std::nullopt;
  }
  return bytes;
}

Result<std::pair<std::size_t, std::size_t>> parse_offsets(const std::string& tensor,
                                                          const Json& value) {
  const bool two = value.is_array() && value.as_array().size() == 2 &&
                   value.as_array()[0].is_integer() && value.as_array()[1].is_integer() &&
                   value.as_array()[0].as_integer() >= 0 && value.as_array()[1].as_integer() >= 0;
  if (!two) {
    return bad(fmt::format("the data_offsets of tensor {}", tensor), "two whole numbers from 0",
               value.is_array() ? fmt::format("an array of {}", value.as_array().size())
                                : std::string(value.kind_name()));
  }
  return std::pair(static_cast<std::size_t>(value.as_array()[0].as_integer()),
                   static_cast<std::size_t>(value.as_array()[1].as_integer()));
}

/// One header member; `begin` is still counted from the start of the data.
Result<TensorEntry> parse_entry(const std::string& key, const Json& value, std::size_t data_bytes) {
  const std::string name = quote(key);
  if (!value.is_object()) {
    return bad(fmt::format("the entry of tensor {}", name), "an object",
               std::string(value.kind_name()));
  }
  for (const char* member : {"dtype", "shape", "data_offsets"}) {
    if (value.find(member) == nullptr) {
      return bad(fmt::format("the entry of tensor {} has no \"{}\"", name, member));
    }
  }
  for (const auto& [member, unused] : value.as_object()) {
    if (member != "dtype" && member != "shape" && member != "data_offsets") {
      return bad(fmt::format("the entry of tensor {} has an unknown member", name),
                 "dtype, shape, data_offsets", quote(member));
    }
  }
  TensorEntry entry;
  entry.name = key;
  VIVACE_TRY(entry.type, parse_type(name, *value.find("dtype")));
  VIVACE_TRY(entry.shape, parse_shape(name, *value.find("shape")));
  VIVACE_TRY(const auto offsets, parse_offsets(name, *value.find("data_offsets")));
  const auto [begin, end] = offsets;
  if (begin > end || end > data_bytes) {
    return bad(fmt::format("tensor {} lies outside of the file", name),
               fmt::format("data_offsets in ascending order up to {}", data_bytes),
               fmt::format("[{}, {}]; the file may be cut short: fetch it again", begin, end));
  }
  const auto bytes = extent_bytes(entry.shape, entry.type);
  if (!bytes) {
    return bad(fmt::format("the shape {} of tensor {} overflows", to_string(entry.shape), name));
  }
  if (*bytes != end - begin) {
    return bad(fmt::format("tensor {} of shape {} and dtype {}", name, to_string(entry.shape),
                           name_of(entry.type)),
               fmt::format("{} bytes", *bytes), fmt::format("{}", end - begin));
  }
  entry.begin = begin;
  entry.bytes = *bytes;
  return entry;
}

Result<void> parse_metadata(const Json& value, SafetensorsIndex& index) {
  if (!value.is_object()) {
    return bad("__metadata__", "an object of strings", std::string(value.kind_name()));
  }
  for (const auto& [key, text] : value.as_object()) {
    if (!text.is_string()) {
      return bad(fmt::format("__metadata__ member {}", quote(key)), "a string",
                 std::string(text.kind_name()));
    }
    index.metadata.emplace_back(key, text.as_string());
  }
  return {};
}

/// The extents, in order, must cover the data exactly.
Result<void> check_cover(const std::vector<TensorEntry>& tensors, std::size_t data_bytes) {
  std::size_t end = 0;
  for (const TensorEntry& entry : tensors) {
    if (entry.begin < end) {
      return bad(fmt::format("tensor {} overlaps the one before it", quote(entry.name)),
                 fmt::format("data from byte {}", end), fmt::format("{}", entry.begin));
    }
    if (entry.begin > end) {
      return bad(fmt::format("there is a hole before tensor {}", quote(entry.name)),
                 fmt::format("data from byte {}", end), fmt::format("{}", entry.begin));
    }
    end = entry.begin + entry.bytes;
  }
  if (end != data_bytes) {
    return bad("the file goes on after its last tensor", fmt::format("{} bytes of data", end),
               fmt::format("{}", data_bytes));
  }
  return {};
}

std::string header_text(std::span<const TensorDeclaration> tensors,
                        std::span<const std::pair<std::string, std::string>> metadata) {
  Json header{JsonObject{}};
  if (!metadata.empty()) {
    JsonObject members;
    for (const auto& [key, text] : metadata) members.emplace_back(key, text);
    header.as_object().emplace_back("__metadata__", std::move(members));
  }
  std::size_t begin = 0;
  for (const TensorDeclaration& tensor : tensors) {
    const std::size_t end =
        begin + static_cast<std::size_t>(element_count(tensor.shape)) * size_of(tensor.type);
    JsonArray shape;
    for (const std::int64_t extent : tensor.shape) shape.emplace_back(extent);
    JsonObject entry;
    entry.emplace_back("dtype", name_of(tensor.type));
    entry.emplace_back("shape", std::move(shape));
    entry.emplace_back("data_offsets", JsonArray{Json(begin), Json(end)});
    header.as_object().emplace_back(tensor.name, std::move(entry));
    begin = end;
  }
  std::string text = write_json(header);
  // Readers map the data: spaces bring it to a multiple of 64 bytes, a cache line.
  while ((kLengthBytes + text.size()) % 64 != 0) text += ' ';
  return text;
}

}  // namespace

Result<SafetensorsIndex> parse_safetensors(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes) {
    return bad("not a safetensors file", "at least 8 bytes", fmt::format("{}", file.size()));
  }
  std::uint64_t header_bytes = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    header_bytes |= static_cast<std::uint64_t>(file[i]) << (8 * i);
  }
  if (header_bytes > kHeaderBytesMax) {
    return bad("not a safetensors file: its header is too long",
               fmt::format("at most {} bytes", kHeaderBytesMax), fmt::format("{}", header_bytes));
  }
  if (header_bytes > file.size() - kLengthBytes) {
    return bad(
        "the header ends after the file", fmt::format("{} bytes of header", header_bytes),
        fmt::format("{}; the file may be cut short: fetch it again", file.size() - kLengthBytes));
  }
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes,
                              static_cast<std::size_t>(header_bytes));
  if (!text.starts_with('{')) return bad("the header does not start with \"{\"");
  auto header = parse_json(text);
  if (!header) return tl::unexpected(with_context(std::move(header).error(), "the header"));
  if (!header->is_object()) return bad("the header", "an object", std::string(header->kind_name()));

  const std::size_t data_begin = kLengthBytes + text.size();
  const std::size_t data_bytes = file.size() - data_begin;
  SafetensorsIndex index;
  for (const auto& [key, value] : header->as_object()) {
    if (key == "__metadata__") {
      VIVACE_CHECK_OK(parse_metadata(value, index));
      continue;
    }
    VIVACE_TRY(TensorEntry entry, parse_entry(key, value, data_bytes));
    index.tensors.push_back(std::move(entry));
  }
  std::stable_sort(index.tensors.begin(), index.tensors.end(),
                   [](const TensorEntry& a, const TensorEntry& b) {
                     // Empty tensors may share a place with the one that follows.
                     return std::pair(a.begin, a.bytes) < std::pair(b.begin, b.bytes);
                   });
  VIVACE_CHECK_OK(check_cover(index.tensors, data_bytes));
  for (TensorEntry& entry : index.tensors) entry.begin += data_begin;
  return index;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  SafetensorsFile result;
  VIVACE_TRY(result.file_, platform::MappedFile::open(path));
  auto index = parse_safetensors(result.file_.bytes());
  if (!index) return tl::unexpected(with_context(std::move(index).error(), path.string()));
  result.index_ = std::move(*index);
  return result;
}

TensorView SafetensorsFile::view(const TensorEntry& entry) const {
  return {file_.bytes().data() + entry.begin, entry.type, entry.shape};
}

std::optional<TensorView> SafetensorsFile::find(std::string_view name) const {
  for (const TensorEntry& entry : index_.tensors) {
    if (entry.name == name && entry.shape.size() <= TensorView::kRankMax) return view(entry);
  }
  return std::nullopt;
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  names.reserve(index_.tensors.size());
  for (const TensorEntry& entry : index_.tensors) names.push_back(entry.name);
  return names;
}

Result<SafetensorsWriter> SafetensorsWriter::create(
    const std::filesystem::path& path, std::span<const TensorDeclaration> tensors,
    std::span<const std::pair<std::string, std::string>> metadata) {
  const std::string header = header_text(tensors, metadata);
  std::size_t bytes = 0;
  for (const TensorDeclaration& tensor : tensors) {
    bytes += static_cast<std::size_t>(element_count(tensor.shape)) * size_of(tensor.type);
  }
  VIVACE_TRY(platform::AtomicFile file, platform::AtomicFile::create(path));
  SafetensorsWriter writer(std::move(file), bytes);
  std::array<std::byte, kLengthBytes> length;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length[i] = static_cast<std::byte>((header.size() >> (8 * i)) & 0xff);
  }
  VIVACE_CHECK_OK(writer.file_.write(length));
  VIVACE_CHECK_OK(writer.file_.write(header));
  return writer;
}

Result<void> SafetensorsWriter::append(std::span<const std::byte> bytes) {
  VIVACE_CHECK(bytes.size() <= bytes_missing_);
  bytes_missing_ -= bytes.size();
  return file_.write(bytes);
}

Result<void> SafetensorsWriter::commit() {
  VIVACE_CHECK(bytes_missing_ == 0);
  return file_.commit();
}

}  // namespace vivace::model
