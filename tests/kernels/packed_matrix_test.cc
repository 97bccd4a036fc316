#include "kernels/packed_matrix.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/on_every_target.h"

namespace vivace::kernels {
namespace {

/// What the panels must hold for element (row, column) of the stacked matrix.
float packed_at(const PackedMatrix& matrix, std::int64_t row, std::int64_t column) {
  return matrix.panels()[(row / 16 * matrix.in() + column) * 16 + row % 16];
}

TEST(PackedMatrix, StacksMatricesAndPadsTheLastPanel) {
  test::on_every_target([] {
    const std::int64_t in = 7;
    const auto first = test::normal_values(13 * in, 1);
    const auto second = test::normal_values(21 * in, 2);
    const auto bias = test::normal_values(21, 3);
    const TensorView weights[] = {{first.data(), DType::kF32, {13, in}},
                                  {second.data(), DType::kF32, {21, in}}};
    const TensorView biases[] = {{}, {bias.data(), DType::kF32, {21}}};
    const PackedMatrix matrix(weights, biases);
    EXPECT_EQ(matrix.out(), 34);
    EXPECT_EQ(matrix.in(), in);
    EXPECT_EQ(matrix.panel_count(), 3);
    EXPECT_GE(matrix.bytes(), static_cast<std::size_t>(48 * (in + 1)) * sizeof(float));
    for (std::int64_t row = 0; row < 48; ++row) {
      for (std::int64_t column = 0; column < in; ++column) {
        const float want = row < 13   ? first[static_cast<std::size_t>(row * in + column)]
                           : row < 34 ? second[static_cast<std::size_t>((row - 13) * in + column)]
                                      : 0.0f;
        ASSERT_EQ(packed_at(matrix, row, column), want) << row << ", " << column;
      }
      const float want = row < 13 || row >= 34 ? 0.0f : bias[static_cast<std::size_t>(row - 13)];
      ASSERT_EQ(matrix.bias()[row], want);
    }
  });
}

TEST(PackedMatrix, ReadsUnalignedHalfPrecision) {
  // 1.5 in BF16 and in F16, at an odd address.
  for (const auto& [type, bits] : {std::pair{DType::kBF16, std::uint16_t{0x3FC0}},
                                   std::pair{DType::kF16, std::uint16_t{0x3E00}}}) {
    std::vector<std::byte> storage(1 + 2 * 17 * 5);
    for (std::size_t i = 0; i < 17 * 5; ++i) std::memcpy(storage.data() + 1 + 2 * i, &bits, 2);
    const TensorView weights[] = {{storage.data() + 1, type, {17, 5}}};
    const PackedMatrix matrix(weights, {});
    for (std::int64_t row = 0; row < 32; ++row) {
      for (std::int64_t column = 0; column < 5; ++column) {
        ASSERT_EQ(packed_at(matrix, row, column), row < 17 ? 1.5f : 0.0f);
      }
    }
  }
}

}  // namespace
}  // namespace vivace::kernels
