// The encoder of a vision transformer with random weights, over ops::Backend: prints the minimum
// and the median time of a forward pass, the fraction of it that each operator takes, and GFLOP/s.
//
//   vivace_bench_vit_forward WIDTH DEPTH HEADS MLP TOKENS THREADS ROUNDS [TARGET]
//
// TARGET restricts the instruction set ("AVX2"). bench/compare_torch.py runs this against PyTorch.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "kernels/target.h"
#include "ops/backend.h"

namespace {

using namespace vivace;
using Clock = std::chrono::steady_clock;

struct Layer {
  std::unique_ptr<ops::Linear> qkv, projection, mlp_in, mlp_out;
};

struct Sizes {
  std::int64_t width, depth, heads, mlp, tokens;
};

std::unique_ptr<ops::Linear> random_linear(std::int64_t out, std::int64_t in) {
  static std::mt19937 generator(0);
  std::normal_distribution<float> normal(0.0f, 0.02f);
  std::vector<float> weight(static_cast<std::size_t>(out * in));
  std::vector<float> bias(static_cast<std::size_t>(out));
  for (float& value : weight) value = normal(generator);
  for (float& value : bias) value = normal(generator);
  const TensorView weights[] = {{weight.data(), DType::kF32, {out, in}}};
  const TensorView biases[] = {{bias.data(), DType::kF32, {out}}};
  return ops::cpu_backend().pack_linear(weights, biases);
}

enum Op { kNorm, kQkv, kAttention, kProjection, kMlpIn, kMlpOut, kOpCount };
constexpr const char* kOpNames[kOpCount] = {"norm",       "qkv",    "attention",
                                            "projection", "mlp_in", "mlp_out"};

class Encoder {
 public:
  explicit Encoder(const Sizes& sizes)
      : s_(sizes), ones_(size(sizes.width), 1.0f), zeros_(size(sizes.width), 0.0f) {
    for (std::int64_t i = 0; i < s_.depth; ++i) {
      layers_.push_back({random_linear(3 * s_.width, s_.width), random_linear(s_.width, s_.width),
                         random_linear(s_.mlp, s_.width), random_linear(s_.width, s_.mlp)});
    }
  }

  void forward(const ops::Context& context, std::span<float> x, double* op_seconds) const {
    const ops::Backend& backend = ops::cpu_backend();
    const Arena::Scope scope(context.scratch);
    const auto rows_by = [&](std::int64_t width) {
      return context.scratch.allocate<float>(size(s_.tokens * width)).data();
    };
    float* normed = rows_by(s_.width);
    float* q = rows_by(s_.width);
    float* k = rows_by(s_.width);
    float* v = rows_by(s_.width);
    float* hidden = rows_by(s_.mlp);
    const std::int64_t head_dim = s_.width / s_.heads;
    const ops::AttentionShape shape{1, s_.heads, s_.tokens, s_.tokens, head_dim};
    const float scale = 1.0f / std::sqrt(static_cast<float>(head_dim));
    auto last = Clock::now();
    const auto lap = [&](Op op) {
      const auto now = Clock::now();
      op_seconds[op] += std::chrono::duration<double>(now - last).count();
      last = now;
    };
    const auto norm = [&](float* out) {
      backend.layer_norm(context, x.data(), s_.tokens, s_.width, ones_.data(), zeros_.data(), 1e-6f,
                         out);
      lap(kNorm);
    };
    for (const Layer& layer : layers_) {
      norm(normed);
      backend.qkv(context, normed, shape, *layer.qkv, {}, q, k, v);
      lap(kQkv);
      backend.attention(context, shape, q, k, v, scale, normed);
      lap(kAttention);
      backend.linear(context, normed, s_.tokens, *layer.projection,
                     {ops::Activation::kNone, x.data()}, x.data());
      lap(kProjection);
      norm(normed);
      backend.linear(context, normed, s_.tokens, *layer.mlp_in,
                     {ops::Activation::kGeluErf, nullptr}, hidden);
      lap(kMlpIn);
      backend.linear(context, hidden, s_.tokens, *layer.mlp_out, {ops::Activation::kNone, x.data()},
                     x.data());
      lap(kMlpOut);
    }
    norm(x.data());
  }

  double flops() const {
    const auto n = static_cast<double>(s_.tokens);
    const auto d = static_cast<double>(s_.width);
    return static_cast<double>(s_.depth) *
           (2 * n * d * (4 * d + 2 * static_cast<double>(s_.mlp)) + 4 * n * n * d);
  }

 private:
  static std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }
  Sizes s_;
  std::vector<float> ones_, zeros_;
  std::vector<Layer> layers_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 8) {
    std::fprintf(stderr, "usage: %s WIDTH DEPTH HEADS MLP TOKENS THREADS ROUNDS [TARGET]\n",
                 argv[0]);
    return 64;
  }
  const auto number = [&](int i) { return std::max(1LL, std::atoll(argv[i])); };
  if (argc > 8 && !kernels::select_target(argv[8])) {
    std::fprintf(stderr, "%s cannot run here\n", argv[8]);
    return 69;
  }
  const Sizes sizes{number(1), number(2), number(3), number(4), number(5)};
  const Encoder encoder(sizes);
  platform::ThreadPool threads(static_cast<int>(number(6)));
  Arena scratch;
  std::vector<float> input(static_cast<std::size_t>(sizes.tokens * sizes.width));
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  for (float& value : input) value = normal(generator);

  std::vector<double> times;
  double op_seconds[kOpCount] = {};
  const long long rounds = number(7);
  std::vector<float> x(input.size());
  for (long long round = -2; round < rounds; ++round) {  // two to warm up
    std::copy(input.begin(), input.end(), x.begin());
    if (round == 0) std::fill(op_seconds, op_seconds + kOpCount, 0.0);
    const auto start = Clock::now();
    encoder.forward({threads, scratch}, x, op_seconds);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (round < 0) {
      scratch.reset();
    } else {
      times.push_back(seconds);
    }
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  std::printf("target %s threads %d min_ms %.3f median_ms %.3f gflops_at_min %.1f",
              std::string(ops::cpu_backend().target()).c_str(), threads.thread_count(),
              1e3 * times[0], 1e3 * median, encoder.flops() / times[0] * 1e-9);
  double total = 0.0;
  for (const double seconds : op_seconds) total += seconds;
  for (int op = 0; op < kOpCount; ++op) {
    std::printf(" %s %.3f", kOpNames[op], op_seconds[op] / total);
  }
  std::printf("\n");
  return 0;
}
