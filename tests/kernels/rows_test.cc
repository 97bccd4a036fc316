#include "kernels/rows.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/on_every_target.h"
#include "kernels/reference.h"

namespace vivace::kernels {
namespace {

TEST(Exp2, IsWithinTwoUlp) {
  test::on_every_target([] {
    std::vector<float> x;
    for (float t = -125.9f; t < 126.0f; t += 0.0137f) x.push_back(t);
    for (float t = -1.0f; t < 1.0f; t += 1.7e-4f) x.push_back(t);
    x.push_back(0.0f);
    std::vector<float> got = x;
    exp2(got.data(), static_cast<std::int64_t>(got.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = std::exp2(double{x[i]});
      const float rounded = static_cast<float>(want);
      const double ulp = double{std::nextafter(rounded, INFINITY)} - double{rounded};
      ASSERT_LE(std::abs(double{got[i]} - want), 2.0 * ulp) << "exp2 of " << x[i];
    }
    EXPECT_EQ(got.back(), 1.0f);
  });
}

TEST(Exp2, SaturatesFarBelow) {
  test::on_every_target([] {
    std::vector<float> values = {-126.5f, -1000.0f, -3e38f};
    exp2(values.data(), 3);
    for (const float value : values) EXPECT_EQ(value, std::exp2(-126.0f));
  });
}

TEST(GeluErf, IsWithinOneMillionthOfLibm) {
  test::on_every_target([] {
    std::vector<float> x;
    for (float t = -14.0f; t < 14.0f; t += 1.3e-3f) x.push_back(t);
    for (const float t : {0.0f, -0.0f, 1e-20f, -1e-20f, -60.0f, -1e4f, -1e10f}) x.push_back(t);
    std::vector<float> got = x;
    gelu_erf(got.data(), static_cast<std::int64_t>(got.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = reference::gelu_erf(double{x[i]});
      // Absolute, and where the result is large its own rounding on top.
      ASSERT_LE(std::abs(double{got[i]} - want), 5e-7 + 1.2e-7 * std::abs(want))
          << "gelu of " << x[i];
    }
    std::vector<float> large = {100.0f, 3e38f};
    gelu_erf(large.data(), 2);
    EXPECT_EQ(large[0], 100.0f);
    EXPECT_EQ(large[1], 3e38f);
  });
}

struct NormCase {
  std::int64_t rows;
  std::int64_t width;
  float mean;
  float deviation;
  float eps;
  double tolerance;
};

TEST(LayerNorm, MatchesTheReference) {
  test::on_every_target([] {
    for (const NormCase& c :
         {NormCase{1, 1, 0.0f, 1.0f, 1e-6f, 1e-6}, NormCase{3, 5, 0.0f, 1.0f, 1e-6f, 5e-6},
          NormCase{7, 96, 0.5f, 2.0f, 1e-6f, 5e-6}, NormCase{2, 1408, 0.0f, 1.0f, 1e-5f, 5e-6},
          NormCase{5, 333, -3.0f, 0.1f, 1e-12f, 2e-5},
          // Spread far below the mean: one pass in float32 would have no digit left.
          NormCase{4, 384, 100.0f, 1e-2f, 1e-12f, 5e-5},
          // Variance around eps itself.
          NormCase{4, 176, 0.0f, 1e-6f, 1e-12f, 5e-6}}) {
      SCOPED_TRACE(testing::Message() << c.rows << " x " << c.width << " mean " << c.mean);
      auto x = test::normal_values(c.rows * c.width, 5, c.deviation);
      for (float& value : x) value += c.mean;
      const auto weight = test::normal_values(c.width, 6);
      const auto bias = test::normal_values(c.width, 7);
      for (const bool affine : {true, false}) {
        const float* w = affine ? weight.data() : nullptr;
        const float* b = affine ? bias.data() : nullptr;
        std::vector<float> want(x.size());
        reference::layer_norm(x.data(), c.rows, c.width, w, b, c.eps, want.data());
        std::vector<float> got = x;
        platform::ThreadPool threads(1);
        layer_norm(threads, got.data(), c.rows, c.width, w, b, c.eps, got.data());  // in place
        test::expect_near(got, want, 4 * c.tolerance);
      }
    }
  });
}

TEST(LayerNorm, AConstantRowGivesTheBias) {
  test::on_every_target([] {
    platform::ThreadPool threads(1);
    std::vector<float> x(100, 0.3f);
    const std::vector<float> weight(100, 2.0f);
    const std::vector<float> bias(100, 0.25f);
    layer_norm(threads, x.data(), 1, 100, weight.data(), bias.data(), 1e-12f, x.data());
    for (const float value : x) EXPECT_EQ(value, 0.25f);
  });
}

TEST(Rotate, MatchesTheReference) {
  test::on_every_target([] {
    platform::ThreadPool threads(2);
    for (const std::int64_t dim : {2, 6, 24, 32, 44, 48, 64, 80, 88, 128}) {
      for (const std::int64_t tokens : {1, 3, 150}) {
        for (const bool per_item : {false, true}) {
          SCOPED_TRACE(testing::Message() << tokens << " tokens, head dim " << dim);
          constexpr std::int64_t kBatch = 2, kHeads = 3;
          const std::int64_t rows = per_item ? kBatch * tokens : tokens;
          // Any numbers will do: the kernel must not rely on squares that add up to one.
          const auto table = test::normal_values(rows * 2 * dim, 1);
          std::vector<float> got = test::normal_values(kBatch * kHeads * tokens * dim, 2);
          std::vector<float> want = got;
          rotate(threads, kBatch, kHeads, tokens, dim, table.data(), rows, got.data());
          reference::rotate(kBatch, kHeads, tokens, dim, table.data(), rows, want.data());
          test::expect_near(got, want, 2e-6);
        }
      }
    }
  });
}

TEST(GatherRows, TakesEachItemsOwnTokensInTheirOrder) {
  platform::ThreadPool threads(2);
  constexpr std::int64_t kBatch = 2, kTokens = 700, kWidth = 33, kCount = 500;
  const auto x = test::normal_values(kBatch * kTokens * kWidth, 1);
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < kBatch * kCount; ++i) ids.push_back((i * 389 + 5) % kTokens);
  std::vector<float> got(static_cast<std::size_t>(kBatch * kCount * kWidth));
  gather_rows(threads, x.data(), kBatch, kTokens, kWidth, ids.data(), kCount, got.data());
  for (std::int64_t row = 0; row < kBatch * kCount; ++row) {
    for (std::int64_t j = 0; j < kWidth; ++j) {
      const std::int64_t from = row / kCount * kTokens + ids[static_cast<std::size_t>(row)];
      ASSERT_EQ(got[static_cast<std::size_t>(row * kWidth + j)],
                x[static_cast<std::size_t>(from * kWidth + j)])
          << row;
    }
  }
}

TEST(MeanTokens, MatchesTheReference) {
  test::on_every_target([] {
    for (const std::int64_t tokens : {1, 2, 63, 64, 65, 1000}) {
      for (const std::int64_t width : {1, 64, 65, 200}) {
        const auto x = test::normal_values(3 * tokens * width, 8);
        std::vector<float> want(static_cast<std::size_t>(3 * width));
        std::vector<float> got(want.size());
        reference::mean_tokens(x.data(), 3, tokens, width, want.data());
        platform::ThreadPool threads(2);
        mean_tokens(threads, x.data(), 3, tokens, width, got.data());
        test::expect_near(got, want, 1e-6);
      }
    }
  });
}

}  // namespace
}  // namespace vivace::kernels
