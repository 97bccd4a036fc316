// The specification of every kernel: plain loops, sums in double, functions from libm. Slow and
// obvious; tests hold each instruction set against it. Shapes as in the kernels' own headers.
#pragma once

#include <cstdint>

namespace vivace::kernels::reference {

double gelu_erf(double x);

/// a [rows, in] x weight [out, in] -> out [rows, out], plus bias [out] (or null), then GELU if
/// asked for, then residual [rows, out] (or null).
void linear(const float* a, std::int64_t rows, std::int64_t in, const float* weight,
            std::int64_t out_features, const float* bias, bool gelu, const float* residual,
            float* out);

void layer_norm(const float* x, std::int64_t rows, std::int64_t width, const float* weight,
                const float* bias, float eps, float* out);

/// q [B, H, M, d], k, v [B, H, N, d] -> out [B, M, H*d].
void attention(std::int64_t batch, std::int64_t heads, std::int64_t queries, std::int64_t keys,
               std::int64_t head_dim, const float* q, const float* k, const float* v, float scale,
               float* out);

/// pixels [B, C, H, W] -> out [B, patches, C*P_h*P_w].
void patches(std::int64_t batch, std::int64_t channels, std::int64_t height, std::int64_t width,
             std::int64_t patch_height, std::int64_t patch_width, const float* pixels, float* out);

void mean_tokens(const float* x, std::int64_t batch, std::int64_t tokens, std::int64_t width,
                 float* out);

}  // namespace vivace::kernels::reference
