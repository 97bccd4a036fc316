#include "kernels/packed_matrix.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "core/check.h"
#include "kernels/rows.h"
#include "kernels/simd.h"

namespace vivace::kernels {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

float* allocate(std::size_t bytes) {
  // Weights are read start to end in every call; huge pages spare that stream its TLB misses.
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : 64;
  bytes = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
  if (alignment == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return static_cast<float*>(memory);
}

}  // namespace

void PackedMatrix::Free::operator()(float* memory) const { std::free(memory); }

std::int64_t PackedMatrix::panel_count() const { return (out_ + kPanel - 1) / kPanel; }
std::int64_t PackedMatrix::padded_out() const { return panel_count() * kPanel; }

PackedMatrix::PackedMatrix(std::span<const TensorView> weights,
                           std::span<const TensorView> biases) {
  VIVACE_CHECK(!weights.empty());
  VIVACE_CHECK(biases.empty() || biases.size() == weights.size());
  VIVACE_CHECK(weights[0].rank() == 2);
  in_ = weights[0].extent(1);
  for (const TensorView& weight : weights) {
    VIVACE_CHECK(weight.rank() == 2 && weight.extent(1) == in_);
    out_ += weight.extent(0);
  }
  bytes_ = static_cast<std::size_t>(padded_out() * (in_ + 1)) * sizeof(float);
  memory_.reset(allocate(bytes_));
  float* const bias = memory_.get();
  std::fill(bias, bias + padded_out(), 0.0f);

  // Sixteen rows at a time, whichever matrix each comes from.
  std::vector<float> rows(static_cast<std::size_t>(kPanel * in_));
  float* panel = bias + padded_out();
  std::int64_t column = 0;
  const auto flush = [&](std::int64_t count) {
    pack_panel(rows.data(), in_, count, in_, panel);
    panel += in_ * kPanel;
  };
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const TensorView& weight = weights[i];
    const std::int64_t extent = weight.extent(0);
    if (!biases.empty() && !biases[i].is_null()) {
      VIVACE_CHECK(biases[i].size() == extent);
      convert_to_f32(biases[i], {bias + column, static_cast<std::size_t>(extent)});
    }
    const std::size_t row_bytes = static_cast<std::size_t>(in_) * size_of(weight.type());
    for (std::int64_t row = 0; row < extent; ++row, ++column) {
      const auto* source =
          static_cast<const std::byte*>(weight.data()) + static_cast<std::size_t>(row) * row_bytes;
      convert_to_f32(TensorView(source, weight.type(), {in_}),
                     {rows.data() + column % kPanel * in_, static_cast<std::size_t>(in_)});
      if (column % kPanel == kPanel - 1) flush(kPanel);
    }
  }
  if (column % kPanel != 0) flush(column % kPanel);
}

}  // namespace vivace::kernels
