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

/// Rotary embedding of x [batch, heads, tokens, head_dim] in place: every pair (2k, 2k + 1) of a
/// token's vector is added to its own quarter turn, x * cos + (-x[2k+1], x[2k]) * sin, by the
/// token's row of `table` [rows, 2, head_dim] (cos, then sin, of each dimension). rows is `tokens`,
/// or batch * tokens where items differ; head_dim is even. Which dimension has which angle is the
/// table's matter, so the same kernel serves every layout of pairs that lie side by side.
void rotate(platform::ThreadPool& threads, std::int64_t batch, std::int64_t heads,
            std::int64_t tokens, std::int64_t head_dim, const float* table, std::int64_t rows,
            float* x);

/// x [batch, tokens, width] -> out [batch, count, width]: row i of an item is its token
/// ids[item, i]. ids [batch, count] are in [0, tokens); out must not overlap x.
void gather_rows(platform::ThreadPool& threads, const float* x, std::int64_t batch,
                 std::int64_t tokens, std::int64_t width, const std::int64_t* ids,
                 std::int64_t count, float* out);

/// values[i] = x Phi(x), within 1e-6 of libm's erf form.
void gelu_erf(float* values, std::int64_t count);
/// values[i] = 2^x for x <= 127, within 2 ulp; 2^-126 below that exponent.
void exp2(float* values, std::int64_t count);

}  // namespace vivace::kernels
