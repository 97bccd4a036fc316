#include "core/tensor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace vivace {
namespace {

/// What IEEE 754 says of sixteen bits with these widths.
double reference(std::uint16_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

void expect_same(float got, double want, int bits) {
  if (std::isnan(want)) {
    ASSERT_TRUE(std::isnan(got)) << bits;
    return;
  }
  ASSERT_EQ(static_cast<double>(got), want) << bits;
  ASSERT_EQ(std::signbit(got), std::signbit(want)) << bits;
}

TEST(Tensor, EveryHalfIsExact) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto word = static_cast<std::uint16_t>(bits);
    expect_same(float_from_f16(word), reference(word, 5, 10), bits);
  }
}

TEST(Tensor, EveryBFloatIsExact) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto word = static_cast<std::uint16_t>(bits);
    expect_same(float_from_bf16(word), reference(word, 8, 7), bits);
  }
}

TEST(Tensor, ConversionNeedsNoAlignment) {
  const std::vector<float> values = {1.5f, -2.25f, 1e-40f, 3e38f};
  std::vector<std::byte> bytes(1 + values.size() * 4);
  std::memcpy(bytes.data() + 1, values.data(), values.size() * 4);
  std::vector<float> out(values.size());
  convert_to_f32(TensorView(bytes.data() + 1, DType::kF32, {2, 2}), out);
  EXPECT_EQ(out, values);

  const std::uint16_t halves[] = {0x3c00, 0xc000, 0x0001};
  std::memcpy(bytes.data() + 1, halves, sizeof halves);
  std::vector<float> three(3);
  convert_to_f32(TensorView(bytes.data() + 1, DType::kF16, {3}), three);
  EXPECT_EQ(three, (std::vector<float>{1.0f, -2.0f, 0x1p-24f}));
  const std::uint16_t brains[] = {0x3f80, 0xc000, 0x7f80};
  std::memcpy(bytes.data() + 1, brains, sizeof brains);
  convert_to_f32(TensorView(bytes.data() + 1, DType::kBF16, {3}), three);
  EXPECT_EQ(three, (std::vector<float>{1.0f, -2.0f, HUGE_VALF}));
  convert_to_f32(TensorView(nullptr, DType::kF32, {0, 3}), {});
}

TEST(Tensor, ViewsKnowTheirSizes) {
  const TensorView view(nullptr, DType::kBF16, {2, 3, 4});
  EXPECT_EQ(view.rank(), 3U);
  EXPECT_EQ(view.extent(1), 3);
  EXPECT_EQ(view.size(), 24);
  EXPECT_EQ(view.bytes(), 48U);
  EXPECT_TRUE(view.is_null());
  EXPECT_EQ(to_string(view.shape()), "[2, 3, 4]");
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(element_count(Shape{}), 1) << "a scalar";
  EXPECT_EQ(element_count(Shape{5, 0}), 0);
}

TEST(Tensor, TypesHaveSizesAndNames) {
  struct Row {
    DType type;
    std::size_t size;
    const char* name;
  };
  for (const Row& row : {Row{DType::kF64, 8, "F64"},
                         {DType::kF32, 4, "F32"},
                         {DType::kF16, 2, "F16"},
                         {DType::kBF16, 2, "BF16"},
                         {DType::kI64, 8, "I64"},
                         {DType::kI32, 4, "I32"},
                         {DType::kI16, 2, "I16"},
                         {DType::kI8, 1, "I8"},
                         {DType::kU8, 1, "U8"},
                         {DType::kBool, 1, "BOOL"}}) {
    EXPECT_EQ(size_of(row.type), row.size) << row.name;
    EXPECT_EQ(name_of(row.type), row.name);
  }
}

TEST(TensorDeathTest, ABugIsCaught) {
  std::vector<float> out(3);
  const std::vector<float> in(4);
  EXPECT_DEATH(convert_to_f32(TensorView(in.data(), DType::kF32, {4}), out), "check failed");
  EXPECT_DEATH(convert_to_f32(TensorView(in.data(), DType::kI32, {3}), out), "convert_to_f32");
  EXPECT_DEATH((void)TensorView(in.data(), DType::kU8, {4}).f32(), "kF32");
  EXPECT_DEATH((void)TensorView(nullptr, DType::kU8, {1, 1, 1, 1, 1, 1, 1}), "kRankMax");
}

}  // namespace
}  // namespace vivace
