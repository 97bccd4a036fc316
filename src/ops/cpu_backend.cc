// The CPU backend: checks shapes, then calls the kernels.
#include <utility>

#include "core/check.h"
#include "kernels/attention.h"
#include "kernels/gemm.h"
#include "kernels/packed_matrix.h"
#include "kernels/rows.h"
#include "kernels/target.h"
#include "ops/backend.h"

namespace vivace::ops {
namespace {

class CpuLinear final : public Linear {
 public:
  explicit CpuLinear(kernels::PackedMatrix matrix) : matrix_(std::move(matrix)) {}
  std::int64_t in_features() const override { return matrix_.in(); }
  std::int64_t out_features() const override { return matrix_.out(); }
  std::size_t bytes() const override { return matrix_.bytes(); }
  const kernels::PackedMatrix& matrix() const { return matrix_; }

 private:
  kernels::PackedMatrix matrix_;
};

const kernels::PackedMatrix& matrix_of(const Linear& linear) {
  const auto* own = dynamic_cast<const CpuLinear*>(&linear);
  VIVACE_CHECK(own != nullptr);  // packed by another backend
  return own->matrix();
}

class CpuBackend final : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  std::string_view target() const override { return kernels::target_name(); }

  std::unique_ptr<Linear> pack_linear(std::span<const TensorView> weights,
                                      std::span<const TensorView> biases) const override {
    return std::make_unique<CpuLinear>(kernels::PackedMatrix(weights, biases));
  }

  void patch_embed(const Context& context, const PatchShape& shape, const float* pixels,
                   const Linear& projection, const float* position, const TokenIds& visible,
                   float* out) const override {
    VIVACE_CHECK(shape.tubelet > 0 && shape.patch_height > 0 && shape.patch_width > 0);
    VIVACE_CHECK(projection.in_features() ==
                 shape.channels * shape.tubelet * shape.patch_height * shape.patch_width);
    VIVACE_CHECK(pixels != nullptr && out != nullptr);
    VIVACE_CHECK(visible.ids == nullptr || position == nullptr);
    const std::int64_t tokens = visible.ids != nullptr ? visible.count : shape.tokens();
    kernels::Gemm call;
    call.weight = &matrix_of(projection);
    call.rows = shape.batch * tokens;
    call.patches = {.pixels = pixels,
                    .frames = shape.frames,
                    .channels = shape.channels,
                    .height = shape.height,
                    .width = shape.width,
                    .tubelet = shape.tubelet,
                    .patch_height = shape.patch_height,
                    .patch_width = shape.patch_width,
                    .ids = visible.ids,
                    .ids_per_item = visible.count};
    call.residual = position;
    call.residual_rows = tokens;
    call.out = out;
    kernels::gemm(context.threads, context.scratch, call);
  }

  void layer_norm(const Context& context, const float* x, std::int64_t rows, std::int64_t width,
                  const float* weight, const float* bias, float eps, float* out) const override {
    VIVACE_CHECK(rows >= 0 && width > 0);
    VIVACE_CHECK((weight == nullptr) == (bias == nullptr));
    kernels::layer_norm(context.threads, x, rows, width, weight, bias, eps, out);
  }

  void linear(const Context& context, const float* x, std::int64_t rows, const Linear& weight,
              const Epilogue& epilogue, float* out) const override {
    VIVACE_CHECK(rows >= 0 && x != out);
    kernels::Gemm call;
    call.weight = &matrix_of(weight);
    call.rows = rows;
    call.a = x;
    call.gelu = epilogue.activation == Activation::kGeluErf;
    call.residual = epilogue.residual;
    call.out = out;
    kernels::gemm(context.threads, context.scratch, call);
  }

  void qkv(const Context& context, const float* x, const AttentionShape& shape,
           const Linear& weight, const Rope& rope, float* q, float* k, float* v) const override {
    const bool with_q = q != nullptr;
    VIVACE_CHECK(weight.out_features() == (with_q ? 3 : 2) * shape.heads * shape.head_dim);
    VIVACE_CHECK(k != nullptr && v != nullptr);
    VIVACE_CHECK(!with_q || shape.queries == shape.keys);
    kernels::Gemm call;
    call.weight = &matrix_of(weight);
    call.rows = shape.batch * shape.keys;
    call.a = x;
    call.heads = {{q, k, v}, shape.keys, shape.heads, shape.head_dim};
    if (!with_q) call.heads = {{k, v, nullptr}, shape.keys, shape.heads, shape.head_dim};
    kernels::gemm(context.threads, context.scratch, call);
    if (rope.table == nullptr) return;
    for (float* part : {q, k}) {
      if (part == nullptr) continue;
      kernels::rotate(context.threads, shape.batch, shape.heads, shape.keys, shape.head_dim,
                      rope.table, rope.rows, part);
    }
  }

  void attention(const Context& context, const AttentionShape& shape, const float* q,
                 const float* k, const float* v, float scale, float* out) const override {
    VIVACE_CHECK(shape.batch >= 0 && shape.heads > 0 && shape.queries >= 0 && shape.keys > 0);
    VIVACE_CHECK(shape.head_dim > 0);
    VIVACE_CHECK(scale > 0.0f);
    kernels::attention(
        context.threads, context.scratch,
        {shape.batch, shape.heads, shape.queries, shape.keys, shape.head_dim, q, k, v, scale, out});
  }

  void gather(const Context& context, const float* x, std::int64_t batch, std::int64_t tokens,
              std::int64_t width, const TokenIds& chosen, float* out) const override {
    VIVACE_CHECK(batch >= 0 && tokens > 0 && width > 0 && chosen.ids != nullptr);
    kernels::gather_rows(context.threads, x, batch, tokens, width, chosen.ids, chosen.count, out);
  }

  void mean_tokens(const Context& context, const float* x, std::int64_t batch, std::int64_t tokens,
                   std::int64_t width, float* out) const override {
    VIVACE_CHECK(batch >= 0 && tokens > 0 && width > 0);
    kernels::mean_tokens(context.threads, x, batch, tokens, width, out);
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace vivace::ops
