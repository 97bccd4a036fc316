// Products of activations with a packed weight: out = activation(A W^T + bias) + residual.
//
// Rows and columns are shared among the threads, the depth never: results are the same, bit for
// bit, for every number of threads.
#pragma once

#include <cstdint>

#include "core/arena.h"
#include "kernels/packed_matrix.h"
#include "platform/thread_pool.h"

namespace vivace::kernels {

/// Patches of clips as rows of A: token (gt, gy, gx) of clip b is its patch of `tubelet` frames in
/// the order (channel, frame, y, x). A clip shorter than a tubelet is repeated; frames, rows and
/// columns beyond the last whole patch are left out. A picture is a clip of one frame.
struct PatchRows {
  const float* pixels = nullptr;  // [B, T, C, H, W]; null: A is `Gemm::a`
  std::int64_t frames = 1;
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t tubelet = 1;
  std::int64_t patch_height = 0;
  std::int64_t patch_width = 0;
  /// [B, ids_per_item]: row (b, i) is token ids[b, i]; null: all tokens in order.
  const std::int64_t* ids = nullptr;
  std::int64_t ids_per_item = 0;
};

/// Where a product for query, key and value goes: columns (which, head, dim), rows (b, token).
struct HeadMajor {
  float* parts[3] = {nullptr, nullptr, nullptr};  // each [B, H, N, d]; null: `Gemm::out`
  std::int64_t tokens = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
};

struct Gemm {
  const PackedMatrix* weight = nullptr;
  std::int64_t rows = 0;
  const float* a = nullptr;  // [rows, in]
  PatchRows patches;
  bool gelu = false;
  const float* residual = nullptr;  // [rows, out]; may be `out`
  std::int64_t residual_rows = 0;   // > 0: it has so many rows and repeats
  float* out = nullptr;             // [rows, out]; must not overlap A
  HeadMajor heads;
};

void gemm(platform::ThreadPool& threads, Arena& scratch, const Gemm& call);

}  // namespace vivace::kernels
