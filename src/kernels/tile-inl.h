// The register tile that every product runs through, per target.
//
// A tile is kRows rows times kVecs vectors of columns; its accumulators are named variables,
// because g++ 12 may keep an indexed array of them in memory. Rows of A are read in place, one
// broadcast per row and step; columns come from 16-wide panels, so that loads of B are aligned and
// sequential.
//
//   target      tile     accumulators + B + broadcast, of registers
//   AVX-512     14 x 32  28 + 2 + 1 of 32   (a vector is a panel, two panels side by side)
//   AVX2        6 x 16   12 + 2 + 1 of 16
//   NEON        5 x 16   20 + 4 + 5 of 32   (g++ loads all rows of A first; 6 x 16 would spill)
//   SSE, other  6 x 8    12 + 2 + 1 of 16
//
// The sum over the depth runs in order in one accumulator per element, so a result depends neither
// on the height of its tile nor on how rows and columns were shared among threads.
#if defined(VIVACE_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VIVACE_KERNELS_TILE_INL_H_
#undef VIVACE_KERNELS_TILE_INL_H_
#else
#define VIVACE_KERNELS_TILE_INL_H_
#endif

#include <stddef.h>

#include "hwy/highway.h"
#include "kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace vivace::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kPanel>;
inline constexpr size_t kLanes = hn::MaxLanes(Floats());

#if HWY_TARGET == HWY_AVX3
inline constexpr int kTileRows = 14;
inline constexpr int kTileVecs = 2;
#elif HWY_ARCH_ARM
inline constexpr int kTileRows = 5;
inline constexpr int kTileVecs = 4;
#else
inline constexpr int kTileRows = 6;
inline constexpr int kTileVecs = 2;
#endif
inline constexpr size_t kTileWidth = kLanes * kTileVecs;

/// What a tile computes: out = A B + init (+ add).
struct TileCall {
  const float* a;  // first row
  size_t a_stride;
  size_t depth;
  const float* b;       // first column vector at depth 0
  size_t b_vec_stride;  // from one column vector to the next
  const float* init;    // one value per column
  const float* add;     // [rows, columns], or null; may be `out`
  size_t add_stride;
  float* out;
  size_t out_stride;
};

#define VIVACE_FOR_ROWS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)

template <int kRows, int kVecs>
HWY_NOINLINE void Tile(const TileCall& call) {
  static_assert(kRows <= 14 && kVecs <= 4);
  const Floats d;
  using V = hn::Vec<Floats>;
  constexpr size_t L = kLanes;
  // Column vectors that this tile does not have repeat the first; nothing reads them.
  constexpr size_t j1 = kVecs > 1 ? 1 : 0;
  constexpr size_t j2 = kVecs > 2 ? 2 : 0;
  constexpr size_t j3 = kVecs > 3 ? 3 : 0;
  const V i0 = hn::LoadU(d, call.init);
  const V i1 = hn::LoadU(d, call.init + j1 * L);
  const V i2 = hn::LoadU(d, call.init + j2 * L);
  const V i3 = hn::LoadU(d, call.init + j3 * L);
#define VIVACE_DECLARE(r) V c##r##_0 = i0, c##r##_1 = i1, c##r##_2 = i2, c##r##_3 = i3;
  VIVACE_FOR_ROWS(VIVACE_DECLARE)
#undef VIVACE_DECLARE

  const size_t a_stride = call.a_stride;
  const size_t b_stride = call.b_vec_stride;
  const float* HWY_RESTRICT a = call.a;
  const float* HWY_RESTRICT b = call.b;
  const float* const a_end = a + call.depth;
  for (; a != a_end; ++a, b += kPanel) {
    const V b0 = hn::Load(d, b);
    const V b1 = hn::Load(d, b + j1 * b_stride);
    const V b2 = hn::Load(d, b + j2 * b_stride);
    const V b3 = hn::Load(d, b + j3 * b_stride);
#define VIVACE_STEP(r)                                               \
  if constexpr (r < kRows) {                                         \
    const V x = hn::Set(d, a[r * a_stride]);                         \
    c##r##_0 = hn::MulAdd(x, b0, c##r##_0);                          \
    if constexpr (kVecs > 1) c##r##_1 = hn::MulAdd(x, b1, c##r##_1); \
    if constexpr (kVecs > 2) c##r##_2 = hn::MulAdd(x, b2, c##r##_2); \
    if constexpr (kVecs > 3) c##r##_3 = hn::MulAdd(x, b3, c##r##_3); \
  }
    VIVACE_FOR_ROWS(VIVACE_STEP)
#undef VIVACE_STEP
    (void)b1, (void)b2, (void)b3;
  }

  if (call.add != nullptr) {
#define VIVACE_ADD(r)                                                                  \
  if constexpr (r < kRows) {                                                           \
    const float* add = call.add + r * call.add_stride;                                 \
    c##r##_0 = hn::Add(c##r##_0, hn::LoadU(d, add));                                   \
    if constexpr (kVecs > 1) c##r##_1 = hn::Add(c##r##_1, hn::LoadU(d, add + j1 * L)); \
    if constexpr (kVecs > 2) c##r##_2 = hn::Add(c##r##_2, hn::LoadU(d, add + j2 * L)); \
    if constexpr (kVecs > 3) c##r##_3 = hn::Add(c##r##_3, hn::LoadU(d, add + j3 * L)); \
  }
    VIVACE_FOR_ROWS(VIVACE_ADD)
#undef VIVACE_ADD
  }
#define VIVACE_STORE(r)                                             \
  if constexpr (r < kRows) {                                        \
    float* out = call.out + r * call.out_stride;                    \
    hn::StoreU(c##r##_0, d, out);                                   \
    if constexpr (kVecs > 1) hn::StoreU(c##r##_1, d, out + j1 * L); \
    if constexpr (kVecs > 2) hn::StoreU(c##r##_2, d, out + j2 * L); \
    if constexpr (kVecs > 3) hn::StoreU(c##r##_3, d, out + j3 * L); \
  }
  VIVACE_FOR_ROWS(VIVACE_STORE)
#undef VIVACE_STORE
}
#undef VIVACE_FOR_ROWS

template <int kVecs>
HWY_INLINE void TileOfRows(size_t rows, const TileCall& call) {
  switch (rows) {
    case 1:
      return Tile<1, kVecs>(call);
    case 2:
      return Tile<2, kVecs>(call);
    case 3:
      return Tile<3, kVecs>(call);
    case 4:
      return Tile<4, kVecs>(call);
    case 5:
      return Tile<5, kVecs>(call);
    case 6:
      return Tile<6, kVecs>(call);
    default:
      break;
  }
  if constexpr (kTileRows > 6) {
    switch (rows) {
      case 7:
        return Tile<7, kVecs>(call);
      case 8:
        return Tile<8, kVecs>(call);
      case 9:
        return Tile<9, kVecs>(call);
      case 10:
        return Tile<10, kVecs>(call);
      case 11:
        return Tile<11, kVecs>(call);
      case 12:
        return Tile<12, kVecs>(call);
      case 13:
        return Tile<13, kVecs>(call);
      default:
        return Tile<14, kVecs>(call);
    }
  }
}

/// Panels as the tile sees them: panel p is [depth_stride][16] at data + p * depth_stride * 16.
struct Panels {
  const float* data;
  size_t depth_stride;  // rows that each panel holds
  size_t count;
};

/// Columns [first, first + width) that one tile covers.
struct ColumnSpan {
  size_t first;
  size_t width;
};

/// How many tiles cover panels [first, end), and what the i-th covers: two panels, one, or a part
/// of one, as the target's registers have it.
HWY_INLINE size_t CountColumnTiles(size_t panels) {
  const size_t columns = panels * kPanel;
  return (columns + kTileWidth - 1) / kTileWidth;
}
HWY_INLINE ColumnSpan ColumnTile(size_t first_panel, size_t end_panel, size_t index) {
  const size_t first = first_panel * kPanel + index * kTileWidth;
  const size_t end = end_panel * kPanel;
  return {first, first + kTileWidth <= end ? kTileWidth : end - first};
}

/// Sets the parts of `call` that name B and runs the tile for `span`, from row `depth_first` of the
/// panels on.
HWY_INLINE void RunTile(const Panels& panels, size_t depth_first, ColumnSpan span, size_t rows,
                        TileCall& call) {
  constexpr size_t kP = kPanel;
  const size_t panel_stride = panels.depth_stride * kP;
  call.b = panels.data + span.first / kP * panel_stride + depth_first * kP + span.first % kP;
  call.b_vec_stride = kLanes == kP ? panel_stride : kLanes;
  if (span.width == kTileWidth) {
    TileOfRows<kTileVecs>(rows, call);
  } else {
    // Only where a tile spans two panels and one is left.
    TileOfRows<kTileVecs / 2>(rows, call);
  }
}

/// Rows [begin, end) of the index-th of `count` almost equal parts of `rows`.
struct RowSpan {
  size_t begin;
  size_t end;
};
HWY_INLINE RowSpan RowPart(size_t rows, size_t count, size_t index) {
  return {rows * index / count, rows * (index + 1) / count};
}

}  // namespace HWY_NAMESPACE
}  // namespace vivace::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
