// A tensor by reference: where its values lie, of which type, in which shape. Views are passed by
// value, never own memory, and are dense in C order (the last extent varies fastest).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"

namespace vivace {

enum class DType : std::uint8_t { kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU8, kBool };

std::size_t size_of(DType type);       // bytes of one value
std::string_view name_of(DType type);  // as safetensors spells it: "F32", "BF16", "U8"

using Shape = std::vector<std::int64_t>;

/// "[2, 3, 224, 224]".
std::string to_string(std::span<const std::int64_t> shape);
/// The product of the extents (1 for a scalar). The caller knows that it does not overflow.
std::int64_t element_count(std::span<const std::int64_t> shape);

/// A dense view of at most kRankMax extents.
class TensorView {
 public:
  static constexpr std::size_t kRankMax = 6;

  TensorView() = default;
  TensorView(const void* data, DType type, std::span<const std::int64_t> extents)
      : data_(data), type_(type), rank_(static_cast<std::uint8_t>(extents.size())) {
    VIVACE_CHECK(extents.size() <= kRankMax);
    for (std::size_t i = 0; i < extents.size(); ++i) extents_[i] = extents[i];
  }
  TensorView(const void* data, DType type, std::initializer_list<std::int64_t> extents)
      : TensorView(data, type, std::span(extents.begin(), extents.size())) {}

  const void* data() const { return data_; }
  DType type() const { return type_; }
  std::size_t rank() const { return rank_; }
  std::int64_t extent(std::size_t axis) const {
    VIVACE_DCHECK(axis < rank_);
    return extents_[axis];
  }
  std::span<const std::int64_t> shape() const { return {extents_.data(), rank_}; }
  std::int64_t size() const { return element_count(shape()); }
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * size_of(type_); }
  /// True for the view of nothing, as `TensorView()` makes it.
  bool is_null() const { return data_ == nullptr; }

  std::span<const float> f32() const {
    VIVACE_CHECK(type_ == DType::kF32);
    return {static_cast<const float*>(data_), static_cast<std::size_t>(size())};
  }
  std::span<const std::uint8_t> u8() const {
    VIVACE_CHECK(type_ == DType::kU8);
    return {static_cast<const std::uint8_t*>(data_), static_cast<std::size_t>(size())};
  }

 private:
  const void* data_ = nullptr;
  DType type_ = DType::kF32;
  std::uint8_t rank_ = 0;
  std::array<std::int64_t, kRankMax> extents_{};
};

/// F16 or BF16 bits as the float they denote (exact, subnormals, infinities and NaN included).
float float_from_f16(std::uint16_t bits);
inline float float_from_bf16(std::uint16_t bits) {
  const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16;
  float value;
  static_assert(sizeof value == sizeof word);
  __builtin_memcpy(&value, &word, sizeof value);
  return value;
}

/// Writes the values of an F32, F16 or BF16 view as float32. `out.size()` equals `view.size()`.
/// The data of the view need not be aligned (safetensors promises no alignment).
void convert_to_f32(const TensorView& view, std::span<float> out);

}  // namespace vivace
