// A weight matrix in the layout that products read: panels of 16 output columns, each [in][16], so
// that one step of the inner product reads one cache line. Made once at load, the same for every
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/tensor.h"

namespace vivace::kernels {

class PackedMatrix {
 public:
  /// Stacks weights [out_i, in] (F32, F16 or BF16, values unaligned or not) along the rows. A bias
  /// is [out_i] or empty; `biases` itself may be empty. The programmer has checked the shapes.
  PackedMatrix(std::span<const TensorView> weights, std::span<const TensorView> biases);

  std::int64_t in() const { return in_; }
  std::int64_t out() const { return out_; }
  std::int64_t panel_count() const;
  std::size_t bytes() const { return bytes_; }

  /// [panel_count][in][16], aligned to a cache line; columns beyond `out` are zero.
  const float* panels() const { return memory_.get() + padded_out(); }
  /// [panel_count * 16], zero where there is none.
  const float* bias() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(float* memory) const;
  };
  std::int64_t padded_out() const;

  std::int64_t in_ = 0;
  std::int64_t out_ = 0;
  std::size_t bytes_ = 0;
  std::unique_ptr<float, Free> memory_;
};

}  // namespace vivace::kernels
