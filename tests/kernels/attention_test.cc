#include "kernels/attention.h"

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/on_every_target.h"
#include "kernels/reference.h"

namespace vivace::kernels {
namespace {

struct Shape {
  std::int64_t batch;
  std::int64_t heads;
  std::int64_t tokens;
  std::int64_t head_dim;
};

struct Inputs {
  std::vector<float> q, k, v;
};

Inputs inputs_of(const Shape& s, float deviation = 1.0f) {
  const std::int64_t count = s.batch * s.heads * s.tokens * s.head_dim;
  return {test::normal_values(count, 1, deviation), test::normal_values(count, 2, deviation),
          test::normal_values(count, 3)};
}

std::vector<float> run(platform::ThreadPool& threads, Arena& scratch, const Shape& s,
                       const Inputs& inputs, float scale) {
  std::vector<float> out(inputs.q.size());
  attention(threads, scratch,
            {s.batch, s.heads, s.tokens, s.tokens, s.head_dim, inputs.q.data(), inputs.k.data(),
             inputs.v.data(), scale, out.data()});
  return out;
}

std::vector<float> specified(const Shape& s, const Inputs& inputs, float scale) {
  std::vector<float> out(inputs.q.size());
  reference::attention(s.batch, s.heads, s.tokens, s.tokens, s.head_dim, inputs.q.data(),
                       inputs.k.data(), inputs.v.data(), scale, out.data());
  return out;
}

TEST(Attention, MatchesTheReferenceForEveryHeadDim) {
  test::on_every_target([] {
    platform::ThreadPool threads(2);
    Arena scratch;
    for (const std::int64_t dim : {1, 7, 16, 24, 32, 48, 64, 80, 88, 128}) {
      for (const std::int64_t tokens : {1, 2, 15, 16, 17, 33, 67}) {
        const Shape s{2, 3, tokens, dim};
        SCOPED_TRACE(testing::Message() << tokens << " tokens, head dim " << dim);
        const Inputs inputs = inputs_of(s);
        const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
        test::expect_near(run(threads, scratch, s, inputs, scale), specified(s, inputs, scale),
                          1e-5);
      }
    }
  });
}

TEST(Attention, OfOtherQueriesThanKeysMatchesTheReference) {
  test::on_every_target([] {
    platform::ThreadPool threads(2);
    Arena scratch;
    for (const auto& [queries, keys] :
         {std::pair{1, 1}, std::pair{1, 700}, std::pair{3, 17}, std::pair{130, 5}}) {
      SCOPED_TRACE(testing::Message() << queries << " queries, " << keys << " keys");
      constexpr std::int64_t kBatch = 2, kHeads = 3, kDim = 24;
      const auto q = test::normal_values(kBatch * kHeads * queries * kDim, 1);
      const auto k = test::normal_values(kBatch * kHeads * keys * kDim, 2);
      const auto v = test::normal_values(kBatch * kHeads * keys * kDim, 3);
      std::vector<float> got(q.size());
      std::vector<float> want(q.size());
      attention(
          threads, scratch,
          {kBatch, kHeads, queries, keys, kDim, q.data(), k.data(), v.data(), 0.2f, got.data()});
      reference::attention(kBatch, kHeads, queries, keys, kDim, q.data(), k.data(), v.data(), 0.2f,
                           want.data());
      test::expect_near(got, want, 1e-5);
    }
  });
}

TEST(Attention, MatchesTheReferenceOverSeveralBlocksOfKeys) {
  test::on_every_target([] {
    platform::ThreadPool threads(2);
    Arena scratch;
    for (const std::int64_t tokens : {512, 513, 1031}) {
      const Shape s{1, 1, tokens, 24};
      SCOPED_TRACE(tokens);
      Inputs inputs = inputs_of(s);
      // Later keys score higher, so that the running maximum moves from block to block.
      for (std::int64_t i = 0; i < tokens * 24; ++i) {
        inputs.k[static_cast<std::size_t>(i)] *= 1.0f + static_cast<float>(i / 24) * 0.004f;
      }
      test::expect_near(run(threads, scratch, s, inputs, 0.3f), specified(s, inputs, 0.3f), 2e-5);
    }
  });
}

TEST(Attention, LargeScoresDoNotOverflow) {
  test::on_every_target([] {
    platform::ThreadPool threads(1);
    Arena scratch;
    const Shape s{1, 2, 40, 16};
    const Inputs inputs = inputs_of(s, 30.0f);  // scores up to some thousands
    const auto got = run(threads, scratch, s, inputs, 1.0f);
    const auto want = specified(s, inputs, 1.0f);
    // A score of 5000 has an absolute error of some 3e-4, which the weights take over relatively.
    test::expect_near(got, want, 5e-3);
  });
}

TEST(Attention, IsTheSameForEveryThreadCount) {
  test::on_every_target([] {
    for (const Shape& s : {Shape{2, 2, 197, 24}, Shape{1, 1, 700, 64}}) {
      const Inputs inputs = inputs_of(s);
      std::vector<std::vector<float>> results;
      for (const int thread_count : {1, 2, 3}) {
        platform::ThreadPool threads(thread_count);
        Arena scratch;
        results.push_back(run(threads, scratch, s, inputs, 0.125f));
      }
      for (const auto& result : results) {
        EXPECT_EQ(std::memcmp(result.data(), results[0].data(), result.size() * sizeof(float)), 0);
      }
    }
  });
}

}  // namespace
}  // namespace vivace::kernels
