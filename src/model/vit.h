// The one vision transformer of the product: patches plus positions, pre-norm blocks, a final norm.
// Families differ in what they put into VitWeights and in their names for it, not in a second
// encoder.
//
// Immutable after load and shared by all workspaces; a call brings its own Workspace. After the
// first call of a shape, encode() allocates nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/arena.h"
#include "core/error.h"
#include "core/tensor.h"
#include "core/units.h"
#include "ops/backend.h"
#include "platform/thread_pool.h"
#include "record/cost.h"

namespace vivace::model {

/// Sizes of a vision transformer, as its tensors give them.
struct VitGeometry {
  std::int64_t channels = 3;
  Size2 patch;             ///< pixels
  Size2 image;             ///< pixels that the position table was made for
  std::int64_t width = 0;  ///< D
  std::int64_t depth = 0;
  std::int64_t heads = 0;
  std::int64_t mlp_width = 0;  ///< F
  float layer_norm_eps = 0;

  std::int64_t head_dim() const { return width / heads; }
  /// Patches of a picture; its sides are multiples of the patch's.
  Size2 grid(Size2 pixels) const {
    return {pixels.height / patch.height, pixels.width / patch.width};
  }
  std::int64_t tokens(Size2 pixels) const {
    const Size2 patches = grid(pixels);
    return patches.height * patches.width;
  }
};

/// Affine of a layer norm, [D] each.
struct NormWeights {
  std::vector<float> weight;
  std::vector<float> bias;
};

struct VitLayer {
  NormWeights norm_before;
  std::unique_ptr<ops::Linear> qkv;         // [3D, D]
  std::unique_ptr<ops::Linear> projection;  // [D, D]
  NormWeights norm_after;
  std::unique_ptr<ops::Linear> mlp_in;   // [F, D]
  std::unique_ptr<ops::Linear> mlp_out;  // [D, F]
};

struct VitWeights {
  std::unique_ptr<ops::Linear> patch;  // [D, C*P_h*P_w]
  std::vector<float> position;         // [N, D]
  std::vector<VitLayer> layers;
  NormWeights norm;
};

/// What one call needs of its own: threads, scratch, and the position table of the size in use.
struct Workspace {
  explicit Workspace(int thread_count) : threads(thread_count) {}

  platform::ThreadPool threads;
  Arena scratch;
  Size2 position_size;          // what `position` was made for
  std::vector<float> position;  // [N, D]; empty where the stored table serves

  ops::Context context() { return {threads, scratch}; }
};

class Vit {
 public:
  Vit(const ops::Backend& backend, const VitGeometry& geometry, VitWeights weights)
      : backend_(&backend), geometry_(geometry), weights_(std::move(weights)) {}

  const VitGeometry& geometry() const { return geometry_; }
  const ops::Backend& backend() const { return *backend_; }
  /// Bytes of the packed weights and tables.
  std::size_t bytes() const;

  /// Whether pictures of this size can be encoded, by interpolating the position table where it
  /// is not the trained size. Error: kUsage, naming what sizes can.
  Result<void> check_size(Size2 pixels) const;

  /// Makes the workspace ready for a size that check_size() accepts.
  void prepare(Workspace& workspace, Size2 pixels) const;

  /// pixels [B, C, H, W] -> tokens [B, N, D], after the final norm. `layers`, unless null, receives
  /// [depth + 1, B, N, D]: what enters the first block, then the output of each, none normed.
  void encode(Workspace& workspace, const float* pixels, std::int64_t batch, Size2 size,
              float* tokens, float* layers) const;

  /// Operators of one encode() with their costs.
  std::vector<OperatorCost> costs(std::int64_t batch, Size2 size) const;

 private:
  void layer(Workspace& workspace, const VitLayer& layer, std::int64_t batch, std::int64_t tokens,
             float* x) const;

  const ops::Backend* backend_;
  VitGeometry geometry_;
  VitWeights weights_;
};

/// A position table [in_h, in_w, D] resampled to [out_h, out_w, D]: bicubic with a = -0.75, taps
/// clamped at the edge, half-pixel centres, no antialiasing, as torch's
/// `interpolate(mode="bicubic", align_corners=False)` (pytorch/pytorch:
/// aten/src/ATen/native/UpSample.h).
std::vector<float> interpolate_positions(std::span<const float> table, Size2 in, Size2 out,
                                         std::int64_t width);

}  // namespace vivace::model
