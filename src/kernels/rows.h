// Kernels that work row by row: layer norm, the mean over tokens, the packing of panels, and the
// elementwise functions on their own (products apply them fused).
#pragma once

#include <cstdint>

#include "platform/thread_pool.h"

namespace vivace::kernels {

/// Writes `count` <= 16 rows of `depth` values as one panel [depth][16]; missing columns are zero.
void pack_panel(const float* rows, std::int64_t row_stride, std::int64_t count, std::int64_t depth,
                float* panel);

/// x [rows, width] -> out, each row (x - mean) / sqrt(variance + eps) * weight + bias. weight and
/// bias may both be null. The mean is corrected by a second pass, so that rows whose spread is
/// small against their mean keep their digits; out may be x.
void layer_norm(platform::ThreadPool& threads, const float* x, std::int64_t rows,
                std::int64_t width, const float* weight, const float* bias, float eps, float* out);

/// x [batch, tokens, width] -> out [batch, width].
void mean_tokens(platform::ThreadPool& threads, const float* x, std::int64_t batch,
                 std::int64_t tokens, std::int64_t width, float* out);

/// values[i] = x Phi(x), within 1e-6 of libm's erf form.
void gelu_erf(float* values, std::int64_t count);
/// values[i] = 2^x for x <= 127, within 2 ulp; 2^-126 below that exponent.
void exp2(float* values, std::int64_t count);

}  // namespace vivace::kernels
