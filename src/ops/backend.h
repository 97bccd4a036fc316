// The operator interface: what a model is made of, and the only way from `model` to a kernel.
//
// It is coarse and fused on purpose. A transformer layer is five calls (norm + QKV, attention,
// projection + residual, norm + MLP in, MLP out + residual), so that a backend can keep values in
// registers and caches between the steps, and so that a call's overhead does not count.
//
// Shapes are checked on entry, by VIVACE_CHECK: the model's readers have refused a wrong checkpoint
// long before. A backend is immutable after construction and shared by all workspaces; a Context is
// one call's own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/arena.h"
#include "core/tensor.h"
#include "platform/thread_pool.h"

namespace vivace::ops {

/// What one call computes with: its threads and its scratch. Never shared by concurrent calls.
struct Context {
  platform::ThreadPool& threads;
  Arena& scratch;
};

/// A weight matrix [out, in] with an optional bias [out], in the layout that the backend computes
/// with. Made once at load; holds its own copy.
class Linear {
 public:
  virtual ~Linear() = default;
  virtual std::int64_t in_features() const = 0;
  virtual std::int64_t out_features() const = 0;
  /// What the copy occupies.
  virtual std::size_t bytes() const = 0;
};

enum class Activation : std::uint8_t { kNone, kGeluErf };

/// What happens to a product before it is stored: bias (from the Linear), activation, then
/// `residual` [rows, out] is added. `residual` may be the output itself.
struct Epilogue {
  Activation activation = Activation::kNone;
  const float* residual = nullptr;
};

struct AttentionShape {
  std::int64_t batch = 1;     // B
  std::int64_t heads = 1;     // H
  std::int64_t queries = 1;   // M; of self-attention the same as N
  std::int64_t keys = 1;      // N
  std::int64_t head_dim = 1;  // d
};

/// Rotary embedding: the tables of the tokens, as kernels/rows.h's rotate() takes them.
struct Rope {
  const float* table = nullptr;  // [rows, 2, d]; null: none
  std::int64_t rows = 0;         // N, or B*N where the items' tokens differ
};

/// Tokens of each item: ids [B, count] in [0, N). Null: all, in order.
struct TokenIds {
  const std::int64_t* ids = nullptr;
  std::int64_t count = 0;
};

/// The geometry of patches in a clip: pixels [B, T, C, H, W], patch P_t x P_h x P_w. Frames, rows
/// and columns beyond the last whole patch are left out; a clip shorter than P_t is repeated P_t
/// times. A picture is a clip of one frame with P_t = 1.
struct PatchShape {
  std::int64_t batch = 1;
  std::int64_t frames = 1;
  std::int64_t channels = 3;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t tubelet = 1;
  std::int64_t patch_height = 16;
  std::int64_t patch_width = 16;

  std::int64_t tokens() const {
    return (frames < tubelet ? frames : frames / tubelet) * (height / patch_height) *
           (width / patch_width);
  }
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// The instruction set (or device) that computes: "AVX3_ZEN4", "NEON".
  virtual std::string_view target() const = 0;

  /// Packs matrices that share their input, stacked along the rows: weights[i] is
  /// [out_i, in] F32, F16 or BF16 (values need not be aligned); biases[i] is [out_i] or null.
  virtual std::unique_ptr<Linear> pack_linear(std::span<const TensorView> weights,
                                              std::span<const TensorView> biases) const = 0;

  /// Non-overlapping patches times `projection` [D, C*P_t*P_h*P_w], plus `position` [N, D] (null
  /// for none, and where `visible` chooses). pixels [B, T, C, H, W] f32 -> out [B, N, D] f32, or
  /// [B, visible.count, D]; tokens frame by frame, row by row.
  virtual void patch_embed(const Context& context, const PatchShape& shape, const float* pixels,
                           const Linear& projection, const float* position, const TokenIds& visible,
                           float* out) const = 0;

  /// x [rows, D] -> out [rows, D], each row normed: (x - mean) / sqrt(var + eps) * weight + bias.
  /// `weight` and `bias` [D] may both be null. `out` may be `x`.
  virtual void layer_norm(const Context& context, const float* x, std::int64_t rows,
                          std::int64_t width, const float* weight, const float* bias, float eps,
                          float* out) const = 0;

  /// x [rows, in] -> out [rows, out] = epilogue(x * weight^T + bias). `out` must not overlap `x`.
  virtual void linear(const Context& context, const float* x, std::int64_t rows,
                      const Linear& weight, const Epilogue& epilogue, float* out) const = 0;

  /// One product for query, key and value: x [B*N, D] times `weight` [3*H*d, D] ->
  /// q, k, v [B, H, N, d] each, head-major, q and k rotated by `rope`. A weight of two parts,
  /// [2*H*d, D], gives k and v alone (q null), for queries that come from elsewhere.
  virtual void qkv(const Context& context, const float* x, const AttentionShape& shape,
                   const Linear& weight, const Rope& rope, float* q, float* k, float* v) const = 0;

  /// softmax(q k^T * scale) v, without ever holding M x N scores. q [B, H, M, d], k, v
  /// [B, H, N, d] -> out [B, M, H*d].
  virtual void attention(const Context& context, const AttentionShape& shape, const float* q,
                         const float* k, const float* v, float scale, float* out) const = 0;

  /// x [B, N, D] -> out [B, K, D]: the tokens `chosen` [B, K] of each item, in its order.
  virtual void gather(const Context& context, const float* x, std::int64_t batch,
                      std::int64_t tokens, std::int64_t width, const TokenIds& chosen,
                      float* out) const = 0;

  /// x [B, N, D] -> out [B, D], the mean over N.
  virtual void mean_tokens(const Context& context, const float* x, std::int64_t batch,
                           std::int64_t tokens, std::int64_t width, float* out) const = 0;
};

/// The CPU backend on src/kernels. Thread-safe; one per process is enough.
const Backend& cpu_backend();

}  // namespace vivace::ops
