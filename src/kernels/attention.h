// softmax(q k^T * scale) v, a tile of query rows at a time.
//
// Keys are packed once per head into panels of 16 keys, values into panels of 16 dimensions, so
// both products run through the register tile of the linear layers. Scores exist only for one tile
// of rows times one block of keys; over several blocks the maximum and the sum of each row are
// carried along and what was summed is rescaled (Milakov and Gimelshein, arXiv 1805.02867, section
// 3).
#pragma once

#include <cstdint>

#include "core/arena.h"
#include "platform/thread_pool.h"

namespace vivace::kernels {

struct Attention {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t queries = 0;  // M; of self-attention the same as N
  std::int64_t keys = 0;     // N
  std::int64_t head_dim = 0;
  const float* q = nullptr;  // [B, H, M, d]
  const float* k = nullptr;  // [B, H, N, d]
  const float* v = nullptr;
  float scale = 1.0f;    // > 0
  float* out = nullptr;  // [B, M, H*d]
};

void attention(platform::ThreadPool& threads, Arena& scratch, const Attention& call);

}  // namespace vivace::kernels
