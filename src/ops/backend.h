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
  std::int64_t tokens = 1;    // N
  std::int64_t head_dim = 1;  // d
};

/// The geometry of patches in a picture: pixels [B, C, H, W], patch P_h x P_w, H and W multiples.
struct PatchShape {
  std::int64_t batch = 1;
  std::int64_t channels = 3;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t patch_height = 16;
  std::int64_t patch_width = 16;
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

  /// Non-overlapping patches times `projection` [D, C*P_h*P_w], plus `position` [N, D] (may be
  /// null). pixels [B, C, H, W] f32 -> out [B, N, D] f32, tokens row by row.
  virtual void patch_embed(const Context& context, const PatchShape& shape, const float* pixels,
                           const Linear& projection, const float* position, float* out) const = 0;

  /// x [rows, D] -> out [rows, D], each row normed: (x - mean) / sqrt(var + eps) * weight + bias.
  /// `weight` and `bias` [D] may both be null. `out` may be `x`.
  virtual void layer_norm(const Context& context, const float* x, std::int64_t rows,
                          std::int64_t width, const float* weight, const float* bias, float eps,
                          float* out) const = 0;

  /// x [rows, in] -> out [rows, out] = epilogue(x * weight^T + bias). `out` must not overlap `x`.
  virtual void linear(const Context& context, const float* x, std::int64_t rows,
                      const Linear& weight, const Epilogue& epilogue, float* out) const = 0;

  /// One product for query, key and value: x [B*N, D] times `weight` [3*H*d, D] ->
  /// q, k, v [B, H, N, d] each, head-major.
  virtual void qkv(const Context& context, const float* x, const AttentionShape& shape,
                   const Linear& weight, float* q, float* k, float* v) const = 0;

  /// softmax(q k^T * scale) v, without ever holding N x N scores. q, k, v [B, H, N, d] ->
  /// out [B, N, H*d].
  virtual void attention(const Context& context, const AttentionShape& shape, const float* q,
                         const float* k, const float* v, float scale, float* out) const = 0;

  /// x [B, N, D] -> out [B, D], the mean over N.
  virtual void mean_tokens(const Context& context, const float* x, std::int64_t batch,
                           std::int64_t tokens, std::int64_t width, float* out) const = 0;
};

/// The CPU backend on src/kernels. Thread-safe; one per process is enough.
const Backend& cpu_backend();

}  // namespace vivace::ops
