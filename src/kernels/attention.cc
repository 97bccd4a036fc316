#include "kernels/attention.h"

#include <algorithm>

#include "core/check.h"
#include "kernels/rows.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/math-inl.h"
#include "kernels/tile-inl.h"

#ifndef VIVACE_KERNELS_ATTENTION_ONCE_
#define VIVACE_KERNELS_ATTENTION_ONCE_
namespace vivace::kernels {

// A block of scores (14 rows x 512 keys, 28 KiB) stays in L1 or close, its keys and values (at d 64
// 256 KiB) in L2.
inline constexpr std::int64_t kKeyBlock = 512;
inline constexpr std::int64_t kScoreStride = kKeyBlock + kPanel;
inline constexpr std::int64_t kTileRowsMax = 14;
// Row tiles of one task: they share the key blocks in L2.
inline constexpr std::int64_t kTilesPerTask = 4;
inline constexpr std::int64_t kTaskRowsMax = kTileRowsMax * kTilesPerTask;

/// Query rows [row_begin, row_end) of one head.
struct AttentionTask {
  const float* q;         // the head's first row
  const float* k_panels;  // [ceil(N / 16)][d][16]
  const float* v_panels;  // [ceil(d / 16)][N][16]
  std::int64_t keys;
  std::int64_t head_dim;
  std::int64_t row_begin;
  std::int64_t row_end;
  float scale;
  float* scores;  // [kTileRowsMax][kScoreStride]
  float* sums;    // [kTaskRowsMax][d rounded up to panels]: the values weighted so far
  float* out;     // the head's first row
  std::int64_t out_stride;
};

}  // namespace vivace::kernels
#endif  // VIVACE_KERNELS_ATTENTION_ONCE_

HWY_BEFORE_NAMESPACE();
namespace vivace::kernels {
namespace HWY_NAMESPACE {
namespace {

HWY_ALIGN constexpr float kZeros[kTileWidth] = {};
static_assert(kTileRows <= kTileRowsMax);

/// What is known of a row after some blocks of keys.
struct RowState {
  float maximum;
  float sum;
};

/// Scores of one row become exp2((score - maximum) * scale2). Returns the factor by which what was
/// summed before must shrink.
HWY_INLINE float SoftmaxRow(float* scores, size_t keys, float scale2, bool first, RowState& state) {
  const Floats d;
  // Padding keys weigh nothing, and must not raise the maximum.
  const size_t padded = (keys + kLanes - 1) / kLanes * kLanes;
  for (size_t i = keys; i < padded; ++i) scores[i] = -1e30f;
  auto max0 = hn::LoadU(d, scores);
  auto max1 = max0;
  size_t i = 0;
  for (; i + 2 * kLanes <= padded; i += 2 * kLanes) {
    max0 = hn::Max(max0, hn::LoadU(d, scores + i));
    max1 = hn::Max(max1, hn::LoadU(d, scores + i + kLanes));
  }
  if (i < padded) max0 = hn::Max(max0, hn::LoadU(d, scores + i));
  float maximum = hn::GetLane(hn::MaxOfLanes(d, hn::Max(max0, max1)));
  float shrink = 0.0f;
  if (!first) {
    if (maximum < state.maximum) maximum = state.maximum;
    shrink = hn::GetLane(Exp2(d, hn::Set(d, (state.maximum - maximum) * scale2)));
  }
  const auto by = hn::Set(d, scale2);
  const auto shift = hn::Set(d, maximum * scale2);
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  i = 0;
  for (; i + 2 * kLanes <= padded; i += 2 * kLanes) {
    const auto p0 = Exp2(d, hn::MulSub(hn::LoadU(d, scores + i), by, shift));
    const auto p1 = Exp2(d, hn::MulSub(hn::LoadU(d, scores + i + kLanes), by, shift));
    sum0 = hn::Add(sum0, p0);
    sum1 = hn::Add(sum1, p1);
    hn::StoreU(p0, d, scores + i);
    hn::StoreU(p1, d, scores + i + kLanes);
  }
  if (i < padded) {
    const auto p0 = Exp2(d, hn::MulSub(hn::LoadU(d, scores + i), by, shift));
    sum0 = hn::Add(sum0, p0);
    hn::StoreU(p0, d, scores + i);
  }
  const float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  state.sum = first ? sum : state.sum * shrink + sum;
  state.maximum = maximum;
  return shrink;
}

HWY_INLINE void ScaleRow(float* values, size_t count, float factor) {
  const Floats d;
  const auto by = hn::Set(d, factor);
  for (size_t j = 0; j < count; j += kLanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, values + j), by), d, values + j);
  }
}

/// Keys [key_begin, key_end) for one tile of rows: scores, softmax, weighted values.
void KeyBlock(const AttentionTask& task, size_t row, size_t rows, size_t key_begin, size_t key_end,
              RowState* states, float* sums) {
  const auto dim = static_cast<size_t>(task.head_dim);
  const size_t dim_panels = (dim + kPanel - 1) / kPanel;
  const size_t dim_padded = dim_panels * kPanel;
  const size_t keys = key_end - key_begin;
  const bool first = key_begin == 0;

  TileCall tile{};
  tile.a = task.q + row * dim;
  tile.a_stride = dim;
  tile.depth = dim;
  tile.init = kZeros;
  tile.out_stride = kScoreStride;
  const Panels k{task.k_panels, dim, 0};
  const size_t panel_begin = key_begin / kPanel;
  const size_t panel_end = (key_end + kPanel - 1) / kPanel;
  const size_t key_tiles = CountColumnTiles(panel_end - panel_begin);
  for (size_t i = 0; i < key_tiles; ++i) {
    const ColumnSpan span = ColumnTile(panel_begin, panel_end, i);
    tile.out = task.scores + (span.first - key_begin);
    RunTile(k, 0, span, rows, tile);
  }

  const float scale2 = task.scale * 1.44269504f;  // log2 e
  for (size_t r = 0; r < rows; ++r) {
    const float shrink = SoftmaxRow(task.scores + r * kScoreStride, keys, scale2, first, states[r]);
    if (!first && shrink != 1.0f) ScaleRow(sums + r * dim_padded, dim_padded, shrink);
  }

  tile.a = task.scores;
  tile.a_stride = kScoreStride;
  tile.depth = keys;
  tile.add_stride = dim_padded;
  tile.out_stride = dim_padded;
  const Panels v{task.v_panels, static_cast<size_t>(task.keys), dim_panels};
  const size_t dim_tiles = CountColumnTiles(dim_panels);
  for (size_t i = 0; i < dim_tiles; ++i) {
    const ColumnSpan span = ColumnTile(0, dim_panels, i);
    tile.out = sums + span.first;
    tile.add = first ? nullptr : tile.out;
    RunTile(v, key_begin, span, rows, tile);
  }
}

void AttentionRows(const AttentionTask& task) {
  const auto dim = static_cast<size_t>(task.head_dim);
  const size_t dim_padded = (dim + kPanel - 1) / kPanel * kPanel;
  const auto keys = static_cast<size_t>(task.keys);
  const auto row_begin = static_cast<size_t>(task.row_begin);
  const auto rows = static_cast<size_t>(task.row_end - task.row_begin);
  const size_t row_tiles = (rows + kTileRows - 1) / kTileRows;
  const size_t key_blocks = (keys + kKeyBlock - 1) / kKeyBlock;
  // Blocks of equal size but for the last, each of whole pairs of panels.
  constexpr size_t kPair = 2 * kPanel;
  const size_t block = ((keys + key_blocks - 1) / key_blocks + kPair - 1) / kPair * kPair;
  RowState states[kTaskRowsMax];
  for (size_t key = 0; key < keys; key += block) {
    const size_t key_end = key + block < keys ? key + block : keys;
    for (size_t t = 0; t < row_tiles; ++t) {
      const RowSpan part = RowPart(rows, row_tiles, t);
      KeyBlock(task, row_begin + part.begin, part.end - part.begin, key, key_end,
               states + part.begin, task.sums + part.begin * dim_padded);
    }
  }
  for (size_t r = 0; r < rows; ++r) {
    const float inverse = 1.0f / states[r].sum;
    const float* sums = task.sums + r * dim_padded;
    float* out = task.out + (row_begin + r) * static_cast<size_t>(task.out_stride);
    for (size_t j = 0; j < dim; ++j) out[j] = sums[j] * inverse;
  }
}

std::int64_t RowsPerTask() { return kTileRows * kTilesPerTask; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vivace::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vivace::kernels {
namespace {

HWY_EXPORT(AttentionRows);
HWY_EXPORT(RowsPerTask);

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// One head's keys and values as panels.
void pack_head(const Attention& call, std::int64_t head, float* k_panels, float* v_panels) {
  const std::int64_t dim = call.head_dim;
  const std::int64_t keys = call.keys;
  const float* k = call.k + head * keys * dim;
  for (std::int64_t first = 0; first < keys; first += kPanel) {
    pack_panel(k + first * dim, dim, std::min<std::int64_t>(kPanel, keys - first), dim,
               k_panels + first * dim);
  }
  const float* v = call.v + head * keys * dim;
  for (std::int64_t first = 0; first < dim; first += kPanel) {
    const std::int64_t width = std::min<std::int64_t>(kPanel, dim - first);
    float* panel = v_panels + first * keys;
    for (std::int64_t token = 0; token < keys; ++token, panel += kPanel) {
      std::copy_n(v + token * dim + first, width, panel);
      std::fill(panel + width, panel + kPanel, 0.0f);
    }
  }
}

}  // namespace

void attention(platform::ThreadPool& threads, Arena& scratch, const Attention& call) {
  VIVACE_CHECK(call.scale > 0.0f);
  VIVACE_CHECK(call.queries == 0 || call.keys > 0);
  const Arena::Scope scope(scratch);
  const std::int64_t heads = call.batch * call.heads;
  if (heads * call.queries == 0) return;
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  const std::int64_t dim_padded = divide_up(call.head_dim, kPanel) * kPanel;
  const std::int64_t k_size = divide_up(call.keys, kPanel) * kPanel * call.head_dim;
  const std::int64_t v_size = call.keys * dim_padded;
  const auto k_panels = scratch.allocate<float>(size(heads * k_size));
  const auto v_panels = scratch.allocate<float>(size(heads * v_size));
  const std::int64_t own_size = kTileRowsMax * kScoreStride + kTaskRowsMax * dim_padded;
  const auto own = scratch.allocate<float>(size(own_size * threads.thread_count()));

  threads.parallel_for(size(heads), [&](std::size_t head, int) {
    const auto h = static_cast<std::int64_t>(head);
    pack_head(call, h, k_panels.data() + h * k_size, v_panels.data() + h * v_size);
  });

  const std::int64_t blocks = divide_up(call.queries, HWY_DYNAMIC_DISPATCH(RowsPerTask)());
  threads.parallel_for(size(heads * blocks), [&](std::size_t index, int thread) {
    const std::int64_t head = static_cast<std::int64_t>(index) / blocks;
    const std::int64_t block = static_cast<std::int64_t>(index) % blocks;
    AttentionTask task{};
    task.q = call.q + head * call.queries * call.head_dim;
    task.k_panels = k_panels.data() + head * k_size;
    task.v_panels = v_panels.data() + head * v_size;
    task.keys = call.keys;
    task.head_dim = call.head_dim;
    task.row_begin = call.queries * block / blocks;
    task.row_end = call.queries * (block + 1) / blocks;
    task.scale = call.scale;
    task.scores = own.data() + own_size * thread;
    task.sums = task.scores + kTileRowsMax * kScoreStride;
    task.out_stride = call.heads * call.head_dim;
    task.out = call.out + head / call.heads * call.queries * task.out_stride +
               head % call.heads * call.head_dim;
    HWY_DYNAMIC_DISPATCH(AttentionRows)(task);
  });
}

}  // namespace vivace::kernels
#endif  // HWY_ONCE
