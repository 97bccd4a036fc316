// The driver cuts the output into tasks (rows that fit in L2 times a range of weight panels); the
// per-target part runs one task's tiles: column tiles outside, so that a panel stays in L1 or L2
// while the rows pass, row tiles inside.
#include "kernels/gemm.h"

#include <algorithm>

#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/math-inl.h"
#include "kernels/tile-inl.h"

#ifndef VIVACE_KERNELS_GEMM_ONCE_
#define VIVACE_KERNELS_GEMM_ONCE_
namespace vivace::kernels {

/// One task: rows [row_begin, row_end) times panels [panel_begin, panel_end).
struct GemmTask {
  const Gemm* call;
  const float* a;  // row `row_begin`
  std::int64_t a_stride;
  std::int64_t row_begin;
  std::int64_t row_end;
  std::int64_t panel_begin;
  std::int64_t panel_end;
};

}  // namespace vivace::kernels
#endif  // VIVACE_KERNELS_GEMM_ONCE_

HWY_BEFORE_NAMESPACE();
namespace vivace::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Where rows [begin, end) x columns [span] of the output may be written directly: the rows lie one
/// stride apart and the columns side by side.
struct Target2D {
  float* out = nullptr;  // null: not contiguous
  size_t stride = 0;
};

HWY_INLINE Target2D DirectTarget(const Gemm& call, size_t columns, size_t row, size_t row_last,
                                 ColumnSpan span) {
  if (span.first + span.width > columns) return {};
  const HeadMajor& heads = call.heads;
  if (heads.parts[0] == nullptr) return {call.out + row * columns + span.first, columns};
  const auto dim = static_cast<size_t>(heads.head_dim);
  const auto tokens = static_cast<size_t>(heads.tokens);
  const size_t head = span.first / dim;
  if ((span.first + span.width - 1) / dim != head || row / tokens != row_last / tokens) return {};
  const auto count = static_cast<size_t>(heads.heads);
  float* part = heads.parts[head / count];
  const size_t slot = row / tokens * count + head % count;
  return {part + (slot * tokens + row % tokens) * dim + span.first % dim, dim};
}

/// Address of one element of the output; only for what DirectTarget refuses.
HWY_INLINE float* Element(const Gemm& call, size_t columns, size_t row, size_t column) {
  const HeadMajor& heads = call.heads;
  if (heads.parts[0] == nullptr) return call.out + row * columns + column;
  const auto dim = static_cast<size_t>(heads.head_dim);
  const auto tokens = static_cast<size_t>(heads.tokens);
  const auto count = static_cast<size_t>(heads.heads);
  const size_t head = column / dim;
  const size_t slot = row / tokens * count + head % count;
  return heads.parts[head / count] + (slot * tokens + row % tokens) * dim + column % dim;
}

HWY_INLINE size_t ResidualRow(const Gemm& call, size_t row) {
  return call.residual_rows > 0 ? row % static_cast<size_t>(call.residual_rows) : row;
}

void GeluRows(float* values, size_t rows, size_t stride, size_t width) {
  const Floats d;
  for (size_t r = 0; r < rows; ++r) {
    for (size_t j = 0; j < width; j += kLanes) {
      float* at = values + r * stride + j;
      hn::StoreU(GeluErf(d, hn::LoadU(d, at)), d, at);
    }
  }
}

/// A tile whose output is not contiguous, or whose epilogue needs both activation and residual: it
/// is computed on the stack and copied.
void BufferedTile(const Gemm& call, const Panels& panels, ColumnSpan span, size_t row, size_t rows,
                  TileCall& tile) {
  HWY_ALIGN float buffer[kTileRows * kTileWidth];
  const auto columns = static_cast<size_t>(call.weight->out());
  tile.add = nullptr;
  tile.out = buffer;
  tile.out_stride = kTileWidth;
  RunTile(panels, 0, span, rows, tile);
  if (call.gelu) GeluRows(buffer, rows, kTileWidth, span.width);
  const size_t width = span.first + span.width <= columns ? span.width : columns - span.first;
  for (size_t r = 0; r < rows; ++r) {
    const float* residual = call.residual == nullptr
                                ? nullptr
                                : call.residual + ResidualRow(call, row + r) * columns + span.first;
    for (size_t j = 0; j < width; ++j) {
      float value = buffer[r * kTileWidth + j];
      if (residual != nullptr) value += residual[j];
      *Element(call, columns, row + r, span.first + j) = value;
    }
  }
}

void OneTile(const Gemm& call, const Panels& panels, ColumnSpan span, size_t row, size_t rows,
             TileCall& tile) {
  const auto columns = static_cast<size_t>(call.weight->out());
  const Target2D direct = DirectTarget(call, columns, row, row + rows - 1, span);
  const bool residual = call.residual != nullptr;
  const size_t residual_row = residual ? ResidualRow(call, row) : 0;
  const bool residual_wraps =
      residual && ResidualRow(call, row + rows - 1) != residual_row + rows - 1;
  if (direct.out == nullptr || residual_wraps || (residual && call.gelu)) {
    BufferedTile(call, panels, span, row, rows, tile);
    return;
  }
  tile.add = residual ? call.residual + residual_row * columns + span.first : nullptr;
  tile.add_stride = columns;
  tile.out = direct.out;
  tile.out_stride = direct.stride;
  RunTile(panels, 0, span, rows, tile);
  // The tile is still in L1, and the product's loop keeps its registers to itself.
  if (call.gelu) GeluRows(direct.out, rows, direct.stride, span.width);
}

void GemmTiles(const GemmTask& task) {
  const Gemm& call = *task.call;
  const auto depth = static_cast<size_t>(call.weight->in());
  const Panels panels{call.weight->panels(), depth,
                      static_cast<size_t>(call.weight->panel_count())};
  const auto rows = static_cast<size_t>(task.row_end - task.row_begin);
  const auto panel_begin = static_cast<size_t>(task.panel_begin);
  const auto panel_end = static_cast<size_t>(task.panel_end);
  const size_t row_tiles = (rows + kTileRows - 1) / kTileRows;
  const size_t column_tiles = CountColumnTiles(panel_end - panel_begin);
  const auto a_stride = static_cast<size_t>(task.a_stride);
  TileCall tile{};
  tile.a_stride = a_stride;
  tile.depth = depth;
  for (size_t i = 0; i < column_tiles; ++i) {
    const ColumnSpan span = ColumnTile(panel_begin, panel_end, i);
    // Narrow tiles may lie wholly in the padding of the last panel.
    if (span.first >= static_cast<size_t>(call.weight->out())) break;
    tile.init = call.weight->bias() + span.first;
    for (size_t t = 0; t < row_tiles; ++t) {
      const RowSpan part = RowPart(rows, row_tiles, t);
      tile.a = task.a + part.begin * a_stride;
      OneTile(call, panels, span, static_cast<size_t>(task.row_begin) + part.begin,
              part.end - part.begin, tile);
    }
  }
}

std::int64_t TileRows() { return kTileRows; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vivace::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vivace::kernels {
namespace {

HWY_EXPORT(GemmTiles);
HWY_EXPORT(TileRows);

// Rows of A of one task: half of the smallest L2 in use (512 KiB), the rest is for the panels.
constexpr std::int64_t kRowBlockBytes = std::int64_t{256} * 1024;
// A product below this (some 10 us of one core) is not worth waking another thread.
constexpr std::int64_t kFlopsPerTaskMin = 1'000'000;
constexpr std::int64_t kTasksPerThread = 6;
// Row strides that are a multiple of this fall into the same few sets of L1.
constexpr std::int64_t kAliasFloats = 512;
constexpr std::int64_t kStridePad = 16;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

struct Plan {
  std::int64_t row_blocks;
  std::int64_t panel_blocks;
  bool gathered;          // rows are copied into scratch first
  std::int64_t a_stride;  // of the rows as the tiles read them
  std::int64_t block_rows_max;
};

/// How many blocks of rows and of panels; depends on the thread count, results do not.
Plan plan_of(const Gemm& call, int thread_count) {
  const std::int64_t depth = call.weight->in();
  const std::int64_t panels = call.weight->panel_count();
  const std::int64_t tile_rows = HWY_DYNAMIC_DISPATCH(TileRows)();
  const std::int64_t row_tiles = divide_up(call.rows, tile_rows);
  const std::int64_t tiles_per_block =
      std::max<std::int64_t>(1, kRowBlockBytes / (depth * tile_rows * std::int64_t{sizeof(float)}));
  Plan plan{};
  plan.row_blocks = divide_up(row_tiles, tiles_per_block);
  plan.panel_blocks = 1;
  if (thread_count > 1) {
    const std::int64_t flops = 2 * call.rows * depth * call.weight->out();
    const std::int64_t tasks =
        std::min(flops / kFlopsPerTaskMin, std::int64_t{thread_count} * kTasksPerThread);
    // Pairs of panels stay together: they are one tile where a tile is widest.
    const std::int64_t pairs = divide_up(panels, 2);
    plan.panel_blocks = std::clamp<std::int64_t>(divide_up(tasks, plan.row_blocks), 1, pairs);
  }
  // A copy with a padded stride costs one pass over the rows and spares the tiles L1 conflicts.
  const bool aliases = depth % kAliasFloats == 0 && call.rows > 4;
  plan.gathered = call.patches.pixels != nullptr || aliases;
  plan.a_stride = plan.gathered ? depth + kStridePad : depth;
  plan.block_rows_max = divide_up(call.rows, plan.row_blocks);
  return plan;
}

void gather_patches(const PatchRows& patches, std::int64_t row_begin, std::int64_t row_end,
                    std::int64_t stride, float* out) {
  const std::int64_t grid_width = patches.width / patches.patch_width;
  const std::int64_t grid = patches.height / patches.patch_height * grid_width;
  // A clip shorter than a tubelet makes as many tubelets as it has frames: it is repeated so often.
  const std::int64_t tubelets =
      patches.frames < patches.tubelet ? patches.frames : patches.frames / patches.tubelet;
  const std::int64_t per_item = patches.ids != nullptr ? patches.ids_per_item : tubelets * grid;
  for (std::int64_t row = row_begin; row < row_end; ++row, out += stride) {
    const std::int64_t item = row / per_item;
    const std::int64_t token = patches.ids != nullptr ? patches.ids[row] : row % per_item;
    const std::int64_t patch = token % grid;
    const std::int64_t first = patch / grid_width * patches.patch_height * patches.width +
                               patch % grid_width * patches.patch_width;
    float* at = out;
    for (std::int64_t channel = 0; channel < patches.channels; ++channel) {
      for (std::int64_t t = 0; t < patches.tubelet; ++t) {
        const std::int64_t frame = (token / grid * patches.tubelet + t) % patches.frames;
        const float* source = patches.pixels +
                              ((item * patches.frames + frame) * patches.channels + channel) *
                                  patches.height * patches.width +
                              first;
        for (std::int64_t y = 0; y < patches.patch_height; ++y, source += patches.width) {
          at = std::copy_n(source, patches.patch_width, at);
        }
      }
    }
  }
}

void gather_rows(const Gemm& call, const Plan& plan, std::int64_t begin, std::int64_t end,
                 float* out) {
  if (call.patches.pixels != nullptr) {
    gather_patches(call.patches, begin, end, plan.a_stride, out);
    return;
  }
  const std::int64_t depth = call.weight->in();
  for (std::int64_t row = begin; row < end; ++row, out += plan.a_stride) {
    std::copy_n(call.a + row * depth, depth, out);
  }
}

}  // namespace

void gemm(platform::ThreadPool& threads, Arena& scratch, const Gemm& call) {
  if (call.rows == 0) return;
  const Plan plan = plan_of(call, threads.thread_count());
  const Arena::Scope scope(scratch);
  const auto block_size = static_cast<std::size_t>(plan.block_rows_max * plan.a_stride);
  float* gathered = nullptr;
  if (plan.gathered) {
    gathered =
        scratch.allocate<float>(block_size * static_cast<std::size_t>(threads.thread_count()))
            .data();
  }
  const std::int64_t pairs = divide_up(call.weight->panel_count(), 2);
  threads.parallel_for(
      static_cast<std::size_t>(plan.row_blocks * plan.panel_blocks),
      [&](std::size_t index, int thread) {
        const std::int64_t row_block = static_cast<std::int64_t>(index) / plan.panel_blocks;
        const std::int64_t panel_block = static_cast<std::int64_t>(index) % plan.panel_blocks;
        GemmTask task{};
        task.call = &call;
        task.row_begin = call.rows * row_block / plan.row_blocks;
        task.row_end = call.rows * (row_block + 1) / plan.row_blocks;
        task.panel_begin = 2 * (pairs * panel_block / plan.panel_blocks);
        task.panel_end = std::min(2 * (pairs * (panel_block + 1) / plan.panel_blocks),
                                  call.weight->panel_count());
        task.a_stride = plan.a_stride;
        if (plan.gathered) {
          float* rows = gathered + block_size * static_cast<std::size_t>(thread);
          gather_rows(call, plan, task.row_begin, task.row_end, rows);
          task.a = rows;
        } else {
          task.a = call.a + task.row_begin * plan.a_stride;
        }
        HWY_DYNAMIC_DISPATCH(GemmTiles)(task);
      });
}

}  // namespace vivace::kernels
#endif  // HWY_ONCE
