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

/// pixels [B, T, C, H, W] -> out [B, tokens, C*P_t*P_h*P_w]. T < P_t: the clip repeated P_t times;
/// what is beyond the last whole patch in any direction is left out.
void patches(std::int64_t batch, std::int64_t frames, std::int64_t channels, std::int64_t height,
             std::int64_t width, std::int64_t tubelet, std::int64_t patch_height,
             std::int64_t patch_width, const float* pixels, float* out);

/// x [B, H, N, d] in place: each (2k, 2k+1) of token n's vector becomes its sum with its quarter
/// turn (-x[2k+1], x[2k]) by the row of the table: x * cos + turned * sin. table [rows, 2, d] holds
/// cos and sin per dimension; rows is N, or B*N.
void rotate(std::int64_t batch, std::int64_t heads, std::int64_t tokens, std::int64_t head_dim,
            const float* table, std::int64_t rows, float* x);

void mean_tokens(const float* x, std::int64_t batch, std::int64_t tokens, std::int64_t width,
                 float* out);

}  // namespace vivace::kernels::reference
