// The backend against the kernels' specification, through the calls that a model makes.
#include "ops/backend.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/reference.h"

namespace vivace::ops {
namespace {

std::vector<float> normal_values(std::int64_t count, unsigned seed, float deviation = 1.0f) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> distribution(0.0f, deviation);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = distribution(generator);
  return values;
}

void expect_near(const std::vector<float>& got, const std::vector<float>& want, float tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], tolerance) << "at " << i;
  }
}

/// A transformer block with two pictures of 5 x 3 patches: every operator once, in order.
struct Block {
  static constexpr std::int64_t kBatch = 2, kHeads = 3, kHeadDim = 8, kMlp = 50;
  static constexpr std::int64_t kWidth = kHeads * kHeadDim;
  static constexpr PatchShape kPatches{kBatch, 1, 3, 20, 12, 1, 4, 4};
  static constexpr std::int64_t kTokens = 15, kRows = kBatch * kTokens, kPatch = 48;

  std::vector<float> pixels = normal_values(kBatch * 3 * 20 * 12, 1);
  std::vector<float> patch = normal_values(kWidth * kPatch, 2, 0.2f);
  std::vector<float> patch_bias = normal_values(kWidth, 3);
  std::vector<float> position = normal_values(kTokens * kWidth, 4);
  std::vector<float> norm_weight = normal_values(kWidth, 5);
  std::vector<float> norm_bias = normal_values(kWidth, 6);
  std::vector<float> qkv = normal_values(3 * kWidth * kWidth, 7, 0.2f);
  std::vector<float> qkv_bias = normal_values(3 * kWidth, 8);
  std::vector<float> projection = normal_values(kWidth * kWidth, 9, 0.2f);
  std::vector<float> mlp_in = normal_values(kMlp * kWidth, 10, 0.2f);
  std::vector<float> mlp_in_bias = normal_values(kMlp, 11);
  std::vector<float> mlp_out = normal_values(kWidth * kMlp, 12, 0.2f);
  float scale = 1.0f / std::sqrt(static_cast<float>(kHeadDim));

  struct Packed {
    std::unique_ptr<Linear> patch, qkv, projection, mlp_in, mlp_out;
  };
  static std::unique_ptr<Linear> pack(const std::vector<float>& weight, std::int64_t out,
                                      const std::vector<float>& bias = {}) {
    const TensorView weights[] = {
        {weight.data(), DType::kF32, {out, static_cast<std::int64_t>(weight.size()) / out}}};
    const TensorView biases[] = {
        bias.empty() ? TensorView()
                     : TensorView(bias.data(), DType::kF32, {static_cast<std::int64_t>(out)})};
    return cpu_backend().pack_linear(weights, biases);
  }
  Packed packed() const {
    // Query, key and value come as three matrices, as checkpoints hold them.
    std::vector<TensorView> weights, biases;
    for (std::int64_t i = 0; i < 3; ++i) {
      weights.emplace_back(qkv.data() + i * kWidth * kWidth, DType::kF32,
                           std::initializer_list<std::int64_t>{kWidth, kWidth});
      biases.emplace_back(qkv_bias.data() + i * kWidth, DType::kF32,
                          std::initializer_list<std::int64_t>{kWidth});
    }
    return {pack(patch, kWidth, patch_bias), cpu_backend().pack_linear(weights, biases),
            pack(projection, kWidth), pack(mlp_in, kMlp, mlp_in_bias), pack(mlp_out, kWidth)};
  }

  std::vector<float> run(const Context& context, const Packed& p) const {
    const Backend& backend = cpu_backend();
    const Arena::Scope scope(context.scratch);
    const auto rows_by = [&](std::int64_t width) {
      return context.scratch.allocate<float>(static_cast<std::size_t>(kRows * width)).data();
    };
    float* x = rows_by(kWidth);
    float* normed = rows_by(kWidth);
    float* q = rows_by(kWidth);
    float* k = rows_by(kWidth);
    float* v = rows_by(kWidth);
    float* hidden = rows_by(kMlp);
    const AttentionShape shape{kBatch, kHeads, kTokens, kTokens, kHeadDim};
    const auto norm = [&] {
      backend.layer_norm(context, x, kRows, kWidth, norm_weight.data(), norm_bias.data(), 1e-6f,
                         normed);
    };
    backend.patch_embed(context, kPatches, pixels.data(), *p.patch, position.data(), {}, x);
    norm();
    backend.qkv(context, normed, shape, *p.qkv, {}, q, k, v);
    backend.attention(context, shape, q, k, v, scale, normed);
    backend.linear(context, normed, kRows, *p.projection, {Activation::kNone, x}, x);
    norm();
    backend.linear(context, normed, kRows, *p.mlp_in, {Activation::kGeluErf, nullptr}, hidden);
    backend.linear(context, hidden, kRows, *p.mlp_out, {Activation::kNone, x}, x);
    std::vector<float> pooled(static_cast<std::size_t>(kBatch * kWidth));
    backend.mean_tokens(context, x, kBatch, kTokens, kWidth, pooled.data());
    return pooled;
  }

  std::vector<float> specified() const {
    namespace ref = kernels::reference;
    const auto rows_by = [](std::int64_t width) {
      return std::vector<float>(static_cast<std::size_t>(kRows * width));
    };
    auto patches = rows_by(kPatch), x = rows_by(kWidth), normed = rows_by(kWidth);
    auto all = rows_by(3 * kWidth), mixed = rows_by(kWidth), hidden = rows_by(kMlp);
    ref::patches(kBatch, 1, 3, 20, 12, 1, 4, 4, pixels.data(), patches.data());
    std::vector<float> positions = position;
    positions.insert(positions.end(), position.begin(), position.end());
    ref::linear(patches.data(), kRows, kPatch, patch.data(), kWidth, patch_bias.data(), false,
                positions.data(), x.data());
    const auto norm = [&] {
      ref::layer_norm(x.data(), kRows, kWidth, norm_weight.data(), norm_bias.data(), 1e-6f,
                      normed.data());
    };
    norm();
    ref::linear(normed.data(), kRows, kWidth, qkv.data(), 3 * kWidth, qkv_bias.data(), false,
                nullptr, all.data());
    std::vector<float> parts[3] = {rows_by(kWidth), rows_by(kWidth), rows_by(kWidth)};
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::int64_t column = 0; column < 3 * kWidth; ++column) {
        const std::int64_t head = column / kHeadDim % kHeads;
        const std::int64_t at =
            ((row / kTokens * kHeads + head) * kTokens + row % kTokens) * kHeadDim +
            column % kHeadDim;
        parts[column / kWidth][static_cast<std::size_t>(at)] =
            all[static_cast<std::size_t>(row * 3 * kWidth + column)];
      }
    }
    ref::attention(kBatch, kHeads, kTokens, kTokens, kHeadDim, parts[0].data(), parts[1].data(),
                   parts[2].data(), scale, mixed.data());
    ref::linear(mixed.data(), kRows, kWidth, projection.data(), kWidth, nullptr, false, x.data(),
                x.data());
    norm();
    ref::linear(normed.data(), kRows, kWidth, mlp_in.data(), kMlp, mlp_in_bias.data(), true,
                nullptr, hidden.data());
    ref::linear(hidden.data(), kRows, kMlp, mlp_out.data(), kWidth, nullptr, false, x.data(),
                x.data());
    std::vector<float> pooled(static_cast<std::size_t>(kBatch * kWidth));
    ref::mean_tokens(x.data(), kBatch, kTokens, kWidth, pooled.data());
    return pooled;
  }
};

TEST(CpuBackend, ABlockMatchesItsSpecification) {
  const Block block;
  platform::ThreadPool threads(2);
  Arena scratch;
  expect_near(block.run({threads, scratch}, block.packed()), block.specified(), 2e-5f);
}

TEST(CpuBackend, ABlockIsTheSameForEveryThreadCount) {
  const Block block;
  const Block::Packed packed = block.packed();
  std::vector<std::vector<float>> results;
  for (const int thread_count : {1, 2, 3}) {
    platform::ThreadPool threads(thread_count);
    Arena scratch;
    results.push_back(block.run({threads, scratch}, packed));
  }
  for (const auto& result : results) {
    EXPECT_EQ(std::memcmp(result.data(), results[0].data(), result.size() * sizeof(float)), 0);
  }
}

TEST(CpuBackend, TheSecondCallAllocatesNothing) {
  const Block block;
  const Block::Packed packed = block.packed();
  platform::ThreadPool threads(2);
  Arena scratch;
  block.run({threads, scratch}, packed);
  scratch.reset();
  const std::size_t held = scratch.held_bytes();
  block.run({threads, scratch}, packed);
  EXPECT_EQ(scratch.held_bytes(), held);
}

TEST(CpuBackend, NamesItself) {
  EXPECT_EQ(cpu_backend().name(), "cpu");
  EXPECT_FALSE(cpu_backend().target().empty());
}

TEST(CpuBackend, ALinearKnowsItsShape) {
  const Block block;
  const auto packed = block.packed();
  EXPECT_EQ(packed.qkv->in_features(), Block::kWidth);
  EXPECT_EQ(packed.qkv->out_features(), 3 * Block::kWidth);
  EXPECT_GT(packed.qkv->bytes(), block.qkv.size() * sizeof(float));
}

using CpuBackendDeath = testing::Test;

TEST(CpuBackendDeath, RefusesShapesThatDoNotFit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Block block;
  const auto packed = block.packed();
  platform::ThreadPool threads(1);
  Arena scratch;
  std::vector<float> x(64), y(64);
  const Backend& backend = cpu_backend();
  const Context context{threads, scratch};
  EXPECT_DEATH(backend.qkv(context, x.data(), {1, 1, 1, 1, 7}, *packed.qkv, {}, y.data(), y.data(),
                           y.data()),
               "out_features");
  EXPECT_DEATH(backend.linear(context, x.data(), 1, *packed.projection, {}, x.data()), "x != out");
  EXPECT_DEATH(backend.patch_embed(context, {1, 1, 3, 10, 12, 2, 4, 4}, x.data(), *packed.patch,
                                   nullptr, {}, y.data()),
               "in_features");
}

}  // namespace
}  // namespace vivace::ops
