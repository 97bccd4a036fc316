// Reads expected tensors of the reference cases. Trusts the file: for tests of folders that stand
// below the product's own reader.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/json.h"

namespace vivace::test {

inline std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline Json read_json(const std::filesystem::path& path) {
  const std::vector<std::uint8_t> bytes = read_bytes(path);
  Result<Json> json = parse_json(std::string(bytes.begin(), bytes.end()));
  if (!json) throw std::runtime_error(path.string() + ": " + json.error().message);
  return *json;
}

class SafetensorsLite {
 public:
  explicit SafetensorsLite(const std::filesystem::path& path) : bytes_(read_bytes(path)) {
    std::uint64_t header_bytes = 0;
    std::memcpy(&header_bytes, bytes_.data(), sizeof header_bytes);
    data_ = 8 + static_cast<std::size_t>(header_bytes);
    Result<Json> header = parse_json(
        std::string(bytes_.begin() + 8, bytes_.begin() + static_cast<std::ptrdiff_t>(data_)));
    if (!header) throw std::runtime_error(path.string() + ": " + header.error().message);
    header_ = *header;
  }

  std::vector<std::int64_t> shape(const std::string& name) const {
    std::vector<std::int64_t> extents;
    for (const Json& extent : entry(name).find("shape")->as_array()) {
      extents.push_back(extent.as_integer());
    }
    return extents;
  }

  /// The values of a tensor whose type is as wide as T.
  template <class T>
  std::vector<T> values(const std::string& name) const {
    const JsonArray& offsets = entry(name).find("data_offsets")->as_array();
    const auto begin = static_cast<std::size_t>(offsets[0].as_integer());
    const auto end = static_cast<std::size_t>(offsets[1].as_integer());
    std::vector<T> out((end - begin) / sizeof(T));
    std::memcpy(out.data(), bytes_.data() + data_ + begin, end - begin);
    return out;
  }

 private:
  const Json& entry(const std::string& name) const {
    const Json* found = header_.find(name);
    if (found == nullptr) throw std::runtime_error("no tensor " + name);
    return *found;
  }

  std::vector<std::uint8_t> bytes_;
  std::size_t data_ = 0;
  Json header_;
};

}  // namespace vivace::test
