#include "kernels/rows.h"

#include <algorithm>

#include "core/check.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vivace::kernels {
namespace HWY_NAMESPACE {
namespace {

using D = hn::CappedTag<float, kPanel>;
constexpr size_t kRowLanes = hn::MaxLanes(D());

/// values[i] = function(d, values[i]); the last lanes go through a copy of a whole vector.
template <class Function>
HWY_INLINE void Apply(float* values, size_t count, Function function) {
  const D d;
  size_t i = 0;
  for (; i + kRowLanes <= count; i += kRowLanes) {
    hn::StoreU(function(d, hn::LoadU(d, values + i)), d, values + i);
  }
  if (i == count) return;
  HWY_ALIGN float rest[kPanel] = {};
  for (size_t j = i; j < count; ++j) rest[j - i] = values[j];
  hn::Store(function(d, hn::Load(d, rest)), d, rest);
  for (size_t j = i; j < count; ++j) values[j] = rest[j - i];
}

#if HWY_TARGET != HWY_SCALAR  // which has vectors of one lane
/// Four rows of four values, transposed into steps of a panel.
HWY_INLINE void Transpose4(const float* rows, size_t stride, float* panel) {
  const hn::FixedTag<float, 4> d;
  const hn::RepartitionToWide<decltype(d)> dw;
  const auto r0 = hn::LoadU(d, rows);
  const auto r1 = hn::LoadU(d, rows + stride);
  const auto r2 = hn::LoadU(d, rows + 2 * stride);
  const auto r3 = hn::LoadU(d, rows + 3 * stride);
  const auto low01 = hn::BitCast(dw, hn::InterleaveLower(d, r0, r1));   // a0 b0 a1 b1
  const auto high01 = hn::BitCast(dw, hn::InterleaveUpper(d, r0, r1));  // a2 b2 a3 b3
  const auto low23 = hn::BitCast(dw, hn::InterleaveLower(d, r2, r3));
  const auto high23 = hn::BitCast(dw, hn::InterleaveUpper(d, r2, r3));
  hn::Store(hn::BitCast(d, hn::InterleaveLower(dw, low01, low23)), d, panel);
  hn::Store(hn::BitCast(d, hn::InterleaveUpper(dw, low01, low23)), d, panel + kPanel);
  hn::Store(hn::BitCast(d, hn::InterleaveLower(dw, high01, high23)), d, panel + 2 * kPanel);
  hn::Store(hn::BitCast(d, hn::InterleaveUpper(dw, high01, high23)), d, panel + 3 * kPanel);
}
#endif

void PackPanel(const float* rows, size_t stride, size_t count, size_t depth, float* panel) {
  size_t k = 0;
#if HWY_TARGET != HWY_SCALAR
  if (count == static_cast<size_t>(kPanel)) {
    for (; k + 4 <= depth; k += 4) {
      for (size_t j = 0; j < static_cast<size_t>(kPanel); j += 4) {
        Transpose4(rows + j * stride + k, stride, panel + k * kPanel + j);
      }
    }
  }
#endif
  for (; k < depth; ++k) {
    for (size_t j = 0; j < static_cast<size_t>(kPanel); ++j) {
      panel[k * kPanel + j] = j < count ? rows[j * stride + k] : 0.0f;
    }
  }
}

struct Moments {
  float sum;      // of x - shift
  float squares;  // of (x - shift)^2
};

HWY_INLINE Moments ShiftedMoments(const float* x, size_t width, float shift) {
  const D d;
  const auto by = hn::Set(d, shift);
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), square0 = hn::Zero(d), square1 = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * kRowLanes <= width; i += 2 * kRowLanes) {
    const auto x0 = hn::Sub(hn::LoadU(d, x + i), by);
    const auto x1 = hn::Sub(hn::LoadU(d, x + i + kRowLanes), by);
    sum0 = hn::Add(sum0, x0);
    sum1 = hn::Add(sum1, x1);
    square0 = hn::MulAdd(x0, x0, square0);
    square1 = hn::MulAdd(x1, x1, square1);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  float squares = hn::GetLane(hn::SumOfLanes(d, hn::Add(square0, square1)));
  for (; i < width; ++i) {
    const float v = x[i] - shift;
    sum += v;
    squares += v * v;
  }
  return {sum, squares};
}

void NormRow(const float* x, size_t width, const float* weight, const float* bias, float eps,
             float* out) {
  const D d;
  const float n = static_cast<float>(width);
  const float rough_mean = ShiftedMoments(x, width, x[0]).sum / n + x[0];
  const Moments moments = ShiftedMoments(x, width, rough_mean);
  const float correction = moments.sum / n;
  // One vector computes both, so that this per-target code calls nothing from the standard library.
  const auto variance =
      hn::Max(hn::Set(d, moments.squares / n - correction * correction), hn::Zero(d));
  const float scale = 1.0f / hn::GetLane(hn::Sqrt(hn::Add(variance, hn::Set(d, eps))));
  const float shift = -correction * scale;
  const auto mean_v = hn::Set(d, rough_mean);
  const auto scale_v = hn::Set(d, scale);
  const auto shift_v = hn::Set(d, shift);
  size_t i = 0;
  for (; i + kRowLanes <= width; i += kRowLanes) {
    auto y = hn::MulAdd(hn::Sub(hn::LoadU(d, x + i), mean_v), scale_v, shift_v);
    if (weight != nullptr) y = hn::MulAdd(y, hn::LoadU(d, weight + i), hn::LoadU(d, bias + i));
    hn::StoreU(y, d, out + i);
  }
  for (; i < width; ++i) {
    const float y = (x[i] - rough_mean) * scale + shift;
    out[i] = weight != nullptr ? y * weight[i] + bias[i] : y;
  }
}

void NormRows(const float* x, size_t rows, size_t width, const float* weight, const float* bias,
              float eps, float* out) {
  for (size_t row = 0; row < rows; ++row) {
    NormRow(x + row * width, width, weight, bias, eps, out + row * width);
  }
}

/// Means of columns [begin, end), end - begin <= 64, over `tokens` rows. Sums of 64 rows are
/// summed: a single running sum would lose digits at thousands of tokens.
void MeanColumns(const float* x, size_t tokens, size_t width, size_t begin, size_t end,
                 float* out) {
  constexpr size_t kRowsPerSum = 64;
  float total[64] = {};
  for (size_t first = 0; first < tokens; first += kRowsPerSum) {
    float part[64] = {};
    const size_t last = first + kRowsPerSum < tokens ? first + kRowsPerSum : tokens;
    for (size_t row = first; row < last; ++row) {
      const float* values = x + row * width;
      for (size_t i = begin; i < end; ++i) part[i - begin] += values[i];
    }
    for (size_t i = 0; i < end - begin; ++i) total[i] += part[i];
  }
  for (size_t i = begin; i < end; ++i) out[i] = total[i - begin] / static_cast<float>(tokens);
}

/// Vectors [count, dim] of one head, each by its own row of the table.
void RotateRows(const float* table, size_t count, size_t dim, float* x) {
  for (size_t row = 0; row < count; ++row, table += 2 * dim, x += dim) {
    const float* sine = table + dim;
    size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const D d;
    // -1 and 1 by turns: the sign that the swapped neighbour takes.
    HWY_ALIGN static constexpr float kSigns[kPanel] = {-1, 1, -1, 1, -1, 1, -1, 1,
                                                       -1, 1, -1, 1, -1, 1, -1, 1};
    const auto signs = hn::Load(d, kSigns);
    for (; i + kRowLanes <= dim; i += kRowLanes) {
      const auto v = hn::LoadU(d, x + i);
      const auto turned = hn::Mul(hn::Shuffle2301(v), signs);
      hn::StoreU(hn::MulAdd(turned, hn::LoadU(d, sine + i), hn::Mul(v, hn::LoadU(d, table + i))), d,
                 x + i);
    }
#endif
    for (; i + 1 < dim; i += 2) {
      const float first = x[i];
      const float second = x[i + 1];
      x[i] = first * table[i] - second * sine[i];
      x[i + 1] = second * table[i + 1] + first * sine[i + 1];
    }
  }
}

void GeluErfAll(float* values, size_t count) {
  Apply(values, count, [](D d, hn::Vec<D> x) HWY_ATTR { return GeluErf(d, x); });
}

void Exp2All(float* values, size_t count) {
  Apply(values, count, [](D d, hn::Vec<D> x) HWY_ATTR { return Exp2(d, x); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vivace::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vivace::kernels {
namespace {

HWY_EXPORT(PackPanel);
HWY_EXPORT(NormRows);
HWY_EXPORT(MeanColumns);
HWY_EXPORT(RotateRows);
HWY_EXPORT(GeluErfAll);
HWY_EXPORT(Exp2All);

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

void pack_panel(const float* rows, std::int64_t row_stride, std::int64_t count, std::int64_t depth,
                float* panel) {
  HWY_DYNAMIC_DISPATCH(PackPanel)(rows, size(row_stride), size(count), size(depth), panel);
}

void layer_norm(platform::ThreadPool& threads, const float* x, std::int64_t rows,
                std::int64_t width, const float* weight, const float* bias, float eps, float* out) {
  // A task of about 64 KiB outweighs its hand-out.
  const std::int64_t rows_per_task = std::max<std::int64_t>(1, 16384 / width);
  const std::int64_t tasks = (rows + rows_per_task - 1) / rows_per_task;
  threads.parallel_for(size(tasks), [&](std::size_t task, int) {
    const std::int64_t first = static_cast<std::int64_t>(task) * rows_per_task;
    const std::int64_t count = std::min(rows_per_task, rows - first);
    HWY_DYNAMIC_DISPATCH(NormRows)
    (x + first * width, size(count), size(width), weight, bias, eps, out + first * width);
  });
}

void mean_tokens(platform::ThreadPool& threads, const float* x, std::int64_t batch,
                 std::int64_t tokens, std::int64_t width, float* out) {
  constexpr std::int64_t kColumns = 64;
  const std::int64_t parts = (width + kColumns - 1) / kColumns;
  threads.parallel_for(size(batch * parts), [&](std::size_t task, int) {
    const std::int64_t item = static_cast<std::int64_t>(task) / parts;
    const std::int64_t begin = static_cast<std::int64_t>(task) % parts * kColumns;
    const std::int64_t end = std::min(begin + kColumns, width);
    HWY_DYNAMIC_DISPATCH(MeanColumns)
    (x + item * tokens * width, size(tokens), size(width), size(begin), size(end),
     out + item * width);
  });
}

void rotate(platform::ThreadPool& threads, std::int64_t batch, std::int64_t heads,
            std::int64_t tokens, std::int64_t head_dim, const float* table, std::int64_t rows,
            float* x) {
  VIVACE_CHECK(head_dim % 2 == 0 && (rows == tokens || rows == batch * tokens));
  // All heads of a stretch of tokens in one task: they read the same rows of the table.
  const std::int64_t tokens_per_task = std::max<std::int64_t>(1, 4096 / head_dim);
  const std::int64_t parts = (tokens + tokens_per_task - 1) / tokens_per_task;
  threads.parallel_for(size(batch * parts), [&](std::size_t task, int) {
    const std::int64_t item = static_cast<std::int64_t>(task) / parts;
    const std::int64_t first = static_cast<std::int64_t>(task) % parts * tokens_per_task;
    const std::int64_t count = std::min(tokens_per_task, tokens - first);
    const std::int64_t row = (rows == tokens ? 0 : item * tokens) + first;
    for (std::int64_t head = item * heads; head < (item + 1) * heads; ++head) {
      HWY_DYNAMIC_DISPATCH(RotateRows)
      (table + row * 2 * head_dim, size(count), size(head_dim),
       x + (head * tokens + first) * head_dim);
    }
  });
}

void gather_rows(platform::ThreadPool& threads, const float* x, std::int64_t batch,
                 std::int64_t tokens, std::int64_t width, const std::int64_t* ids,
                 std::int64_t count, float* out) {
  const std::int64_t rows_per_task = std::max<std::int64_t>(1, 16384 / width);
  const std::int64_t rows = batch * count;
  threads.parallel_for(
      size((rows + rows_per_task - 1) / rows_per_task), [&](std::size_t task, int) {
        const std::int64_t first = static_cast<std::int64_t>(task) * rows_per_task;
        const std::int64_t end = std::min(first + rows_per_task, rows);
        for (std::int64_t row = first; row < end; ++row) {
          VIVACE_DCHECK(ids[row] >= 0 && ids[row] < tokens);
          std::copy_n(x + (row / count * tokens + ids[row]) * width, width, out + row * width);
        }
      });
}

void gelu_erf(float* values, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(GeluErfAll)(values, size(count));
}

void exp2(float* values, std::int64_t count) { HWY_DYNAMIC_DISPATCH(Exp2All)(values, size(count)); }

}  // namespace vivace::kernels
#endif  // HWY_ONCE
