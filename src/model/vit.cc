// Every line of encode() and layer() stands beside the line of the reference that it implements
// (huggingface/transformers:src/transformers/models/ijepa/modeling_ijepa.py, v5.24).
#include "model/vit.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/check.h"

namespace vivace::model {
namespace {

std::size_t bytes_of(const NormWeights& norm) {
  return (norm.weight.size() + norm.bias.size()) * sizeof(float);
}

/// The weights of the four taps around a fraction t in [0, 1), a = -0.75.
std::array<float, 4> cubic_taps(float t) {
  constexpr float kA = -0.75f;
  const auto near = [](float x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far = [](float x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

struct Taps {
  std::array<std::int64_t, 4> index;
  std::array<float, 4> weight;
};

Taps taps_at(std::int64_t out_index, std::int64_t in_extent, std::int64_t out_extent) {
  const float scale = static_cast<float>(in_extent) / static_cast<float>(out_extent);
  const float place = (static_cast<float>(out_index) + 0.5f) * scale - 0.5f;
  const float floor = std::floor(place);
  Taps taps;
  taps.weight = cubic_taps(place - floor);
  for (int k = 0; k < 4; ++k) {
    taps.index[static_cast<std::size_t>(k)] =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(floor) - 1 + k, 0, in_extent - 1);
  }
  return taps;
}

}  // namespace

std::vector<float> interpolate_positions(std::span<const float> table, Size2 in, Size2 out,
                                         std::int64_t width) {
  const auto d = static_cast<std::size_t>(width);
  std::vector<float> result(static_cast<std::size_t>(out.height * out.width) * d, 0.0f);
  for (std::int64_t row = 0; row < out.height; ++row) {
    const Taps vertical = taps_at(row, in.height, out.height);
    for (std::int64_t column = 0; column < out.width; ++column) {
      const Taps horizontal = taps_at(column, in.width, out.width);
      float* to = result.data() + static_cast<std::size_t>(row * out.width + column) * d;
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
          const float weight = vertical.weight[i] * horizontal.weight[j];
          const float* from =
              table.data() +
              static_cast<std::size_t>(vertical.index[i] * in.width + horizontal.index[j]) * d;
          for (std::size_t k = 0; k < d; ++k) to[k] += weight * from[k];
        }
      }
    }
  }
  return result;
}

void Vit::encode(Workspace& workspace, const float* pixels, std::int64_t batch, Size2 size,
                 float* tokens, float* layers) const {
  VIVACE_CHECK(workspace.position_size == size);
  const ops::Context context = workspace.context();
  const std::int64_t count = geometry_.tokens(size);
  const std::int64_t rows = batch * count;
  const auto values = static_cast<std::size_t>(rows * geometry_.width);
  const float* position =
      workspace.position.empty() ? weights_.position.data() : workspace.position.data();

  const Arena::Scope scope(workspace.scratch);
  float* x = workspace.scratch.allocate<float>(values).data();
  const ops::PatchShape patches{.batch = batch,
                                .channels = geometry_.channels,
                                .height = size.height,
                                .width = size.width,
                                .patch_height = geometry_.patch.height,
                                .patch_width = geometry_.patch.width};
  // embeddings = self.patch_embeddings(pixel_values) + position_embeddings
  backend_->patch_embed(context, patches, pixels, *weights_.patch, position, {}, x);
  if (layers != nullptr) std::copy_n(x, values, layers);
  // for layer_module in self.layer: hidden_states = layer_module(hidden_states)
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    layer(workspace, weights_.layers[i], batch, count, x);
    if (layers != nullptr) std::copy_n(x, values, layers + (i + 1) * values);
  }
  // sequence_output = self.layernorm(sequence_output)
  backend_->layer_norm(context, x, rows, geometry_.width, weights_.norm.weight.data(),
                       weights_.norm.bias.data(), geometry_.layer_norm_eps, tokens);
}

void Vit::layer(Workspace& workspace, const VitLayer& layer, std::int64_t batch,
                std::int64_t tokens, float* x) const {
  const ops::Context context = workspace.context();
  const std::int64_t rows = batch * tokens;
  const auto values = static_cast<std::size_t>(rows * geometry_.width);
  const ops::AttentionShape shape{batch, geometry_.heads, tokens, tokens, geometry_.head_dim()};
  const float scale = 1.0f / std::sqrt(static_cast<float>(geometry_.head_dim()));

  const Arena::Scope scope(workspace.scratch);
  float* normed = workspace.scratch.allocate<float>(values).data();
  {
    const Arena::Scope attention_scope(workspace.scratch);
    float* q = workspace.scratch.allocate<float>(values).data();
    float* k = workspace.scratch.allocate<float>(values).data();
    float* v = workspace.scratch.allocate<float>(values).data();
    // hidden_states_norm = self.layernorm_before(hidden_states)
    backend_->layer_norm(context, x, rows, geometry_.width, layer.norm_before.weight.data(),
                         layer.norm_before.bias.data(), geometry_.layer_norm_eps, normed);
    // attention_output = self.attention(hidden_states_norm)
    backend_->qkv(context, normed, shape, *layer.qkv, {}, q, k, v);
    backend_->attention(context, shape, q, k, v, scale, normed);
    // hidden_states = attention_output + hidden_states
    backend_->linear(context, normed, rows, *layer.projection, {ops::Activation::kNone, x}, x);
  }
  float* hidden =
      workspace.scratch.allocate<float>(static_cast<std::size_t>(rows * geometry_.mlp_width))
          .data();
  // layer_output = self.layernorm_after(hidden_states)
  backend_->layer_norm(context, x, rows, geometry_.width, layer.norm_after.weight.data(),
                       layer.norm_after.bias.data(), geometry_.layer_norm_eps, normed);
  // layer_output = self.intermediate(layer_output)
  backend_->linear(context, normed, rows, *layer.mlp_in, {ops::Activation::kGeluErf, nullptr},
                   hidden);
  // layer_output = self.output(layer_output, hidden_states)
  backend_->linear(context, hidden, rows, *layer.mlp_out, {ops::Activation::kNone, x}, x);
}

std::size_t Vit::bytes() const {
  std::size_t bytes =
      weights_.patch->bytes() + weights_.position.size() * sizeof(float) + bytes_of(weights_.norm);
  for (const VitLayer& layer : weights_.layers) {
    bytes += bytes_of(layer.norm_before) + bytes_of(layer.norm_after) + layer.qkv->bytes() +
             layer.projection->bytes() + layer.mlp_in->bytes() + layer.mlp_out->bytes();
  }
  return bytes;
}

Result<void> Vit::check_size(Size2 pixels) const {
  if (pixels.height % geometry_.patch.height != 0 || pixels.width % geometry_.patch.width != 0 ||
      pixels.height == 0 || pixels.width == 0) {
    return fail(
        ErrorCode::kUsage,
        {.what = "the resolution does not fit the patches",
         .expected = fmt::format("a height that is a multiple of {} and a width that is one of {}",
                                 geometry_.patch.height, geometry_.patch.width),
         .got = fmt::format("{}x{}", pixels.height, pixels.width),
         .advice =
             fmt::format("try --resolution {}x{}", geometry_.image.height, geometry_.image.width)});
  }
  if (pixels == geometry_.image) return {};
  // The reference takes the stored table as a square; any other would be read wrongly.
  const Size2 stored = geometry_.grid(geometry_.image);
  if (stored.height != stored.width) {
    return fail(
        ErrorCode::kUnavailable,
        {.what = fmt::format("the position table ({}x{}) is not square and cannot be "
                             "interpolated",
                             stored.height, stored.width),
         .expected = fmt::format("{}x{} pixels", geometry_.image.height, geometry_.image.width),
         .got = fmt::format("{}x{}", pixels.height, pixels.width),
         .advice = {}});
  }
  return {};
}

void Vit::prepare(Workspace& workspace, Size2 pixels) const {
  if (workspace.position_size == pixels) return;
  workspace.position_size = pixels;
  workspace.position.clear();
  if (pixels == geometry_.image) return;
  workspace.position = interpolate_positions(weights_.position, geometry_.grid(geometry_.image),
                                             geometry_.grid(pixels), geometry_.width);
}

std::vector<OperatorCost> Vit::costs(std::int64_t batch, Size2 size) const {
  const auto n = static_cast<double>(batch * geometry_.tokens(size));
  const auto per_item = static_cast<double>(geometry_.tokens(size));
  const auto d = static_cast<double>(geometry_.width);
  const auto f = static_cast<double>(geometry_.mlp_width);
  const auto p =
      static_cast<double>(geometry_.channels * geometry_.patch.height * geometry_.patch.width);
  const auto l = static_cast<double>(geometry_.depth);
  const auto product = [&](std::string name, double in, double out, double calls, bool residual) {
    OperatorCost cost;
    cost.name = std::move(name);
    cost.calls = static_cast<std::int64_t>(calls);
    cost.flops = calls * 2 * n * in * out;
    cost.bytes = calls * 4 * (in * out + out + n * (in + out * (residual ? 2 : 1)));
    return cost;
  };
  const auto norm = [&](std::string name, double calls) {
    OperatorCost cost;
    cost.name = std::move(name);
    cost.calls = static_cast<std::int64_t>(calls);
    cost.flops = calls * 5 * n * d;  // mean, centred square, scale: about five a value
    cost.bytes = calls * 4 * (2 * n * d + 2 * d);
    return cost;
  };
  OperatorCost attention;
  attention.name = "attention";
  attention.calls = geometry_.depth;
  attention.flops = l * 4 * n * per_item * d;  // scores and values
  attention.bytes = l * 4 * 4 * n * d;         // q, k, v in, the result out
  return {product("patch_embed", p, d, 1, true), norm("layer_norm", 2 * l + 1),
          product("qkv", d, 3 * d, l, false),    attention,
          product("projection", d, d, l, true),  product("mlp_in", d, f, l, false),
          product("mlp_out", f, d, l, true)};
}

}  // namespace vivace::model
