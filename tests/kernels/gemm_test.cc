#include "kernels/gemm.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/on_every_target.h"
#include "kernels/reference.h"

namespace vivace::kernels {
namespace {

struct Shape {
  std::int64_t rows;
  std::int64_t in;
  std::int64_t out;
};

// Every tile height, widths around one and two panels, depths around nothing in particular, a depth
// whose rows alias in L1 (512), and one of several row blocks (1100 x 200).
const Shape kShapes[] = {{1, 1, 1},     {2, 3, 5},     {3, 16, 15},    {4, 17, 16},
                         {5, 8, 17},    {6, 31, 31},   {7, 64, 32},    {8, 9, 33},
                         {9, 40, 47},   {10, 24, 48},  {11, 12, 49},   {12, 20, 64},
                         {13, 7, 80},   {14, 33, 65},  {15, 48, 96},   {29, 50, 97},
                         {49, 192, 88}, {43, 512, 70}, {196, 96, 100}, {1100, 200, 40}};

std::vector<float> with_slack(const std::vector<float>& values) {
  // One more value at the front, so that nothing is aligned.
  std::vector<float> shifted(values.size() + 1);
  std::copy(values.begin(), values.end(), shifted.begin() + 1);
  return shifted;
}

class GemmEpilogue : public testing::TestWithParam<std::tuple<bool, bool, bool>> {};

TEST_P(GemmEpilogue, MatchesTheReference) {
  const auto [with_bias, gelu, with_residual] = GetParam();
  test::on_every_target([&, with_bias = with_bias, gelu = gelu, with_residual = with_residual] {
    platform::ThreadPool threads(2);
    Arena scratch;
    for (const Shape& s : kShapes) {
      SCOPED_TRACE(testing::Message() << s.rows << " x " << s.in << " x " << s.out);
      const auto a = with_slack(test::normal_values(s.rows * s.in, 1));
      const auto weight = test::normal_values(s.out * s.in, 2, 0.3f);
      const auto bias = test::normal_values(s.out, 3);
      const auto residual = with_slack(test::normal_values(s.rows * s.out, 4));
      const TensorView weights[] = {{weight.data(), DType::kF32, {s.out, s.in}}};
      const TensorView biases[] = {{bias.data(), DType::kF32, {s.out}}};
      const PackedMatrix packed(
          weights, with_bias ? std::span<const TensorView>(biases) : std::span<const TensorView>());
      std::vector<float> want(static_cast<std::size_t>(s.rows * s.out));
      reference::linear(a.data() + 1, s.rows, s.in, weight.data(), s.out,
                        with_bias ? bias.data() : nullptr, gelu,
                        with_residual ? residual.data() + 1 : nullptr, want.data());
      // The residual is the output itself: that is how a transformer block adds.
      std::vector<float> got = residual;
      Gemm call;
      call.weight = &packed;
      call.rows = s.rows;
      call.a = a.data() + 1;
      call.gelu = gelu;
      call.residual = with_residual ? got.data() + 1 : nullptr;
      call.out = got.data() + 1;
      gemm(threads, scratch, call);
      EXPECT_EQ(got[0], residual[0]) << "wrote before the output";
      got.erase(got.begin());
      test::expect_near(got, want, 3e-7 * static_cast<double>(s.in) + 2e-6);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, GemmEpilogue,
                         testing::Combine(testing::Bool(), testing::Bool(), testing::Bool()));

TEST(Gemm, IsTheSameForEveryThreadCount) {
  test::on_every_target([] {
    for (const Shape& s : {Shape{1, 768, 500}, Shape{37, 130, 210}, Shape{200, 512, 330}}) {
      const auto a = test::normal_values(s.rows * s.in, 1);
      const auto weight = test::normal_values(s.out * s.in, 2);
      const TensorView weights[] = {{weight.data(), DType::kF32, {s.out, s.in}}};
      const PackedMatrix packed(weights, {});
      std::vector<std::vector<float>> results;
      for (const int thread_count : {1, 2, 3, 5}) {
        platform::ThreadPool threads(thread_count);
        Arena scratch;
        auto& out = results.emplace_back(static_cast<std::size_t>(s.rows * s.out));
        Gemm call;
        call.weight = &packed;
        call.rows = s.rows;
        call.a = a.data();
        call.gelu = true;
        call.out = out.data();
        gemm(threads, scratch, call);
      }
      for (const auto& result : results) {
        EXPECT_EQ(std::memcmp(result.data(), results[0].data(), result.size() * sizeof(float)), 0);
      }
    }
  });
}

TEST(Gemm, WritesQueriesKeysAndValuesHeadMajor) {
  test::on_every_target([] {
    platform::ThreadPool threads(2);
    Arena scratch;
    for (const std::int64_t dim : {8, 24, 32, 64, 80, 88}) {
      const std::int64_t batch = 2, heads = 3, tokens = 19, in = 40;
      SCOPED_TRACE(dim);
      const std::int64_t out = 3 * heads * dim;
      const auto a = test::normal_values(batch * tokens * in, 1);
      const auto weight = test::normal_values(out * in, 2);
      const auto bias = test::normal_values(out, 3);
      const TensorView weights[] = {{weight.data(), DType::kF32, {out, in}}};
      const TensorView biases[] = {{bias.data(), DType::kF32, {out}}};
      const PackedMatrix packed(weights, biases);
      std::vector<float> plain(static_cast<std::size_t>(batch * tokens * out));
      reference::linear(a.data(), batch * tokens, in, weight.data(), out, bias.data(), false,
                        nullptr, plain.data());
      std::vector<float> parts[3];
      for (auto& part : parts) part.resize(static_cast<std::size_t>(batch * heads * tokens * dim));
      Gemm call;
      call.weight = &packed;
      call.rows = batch * tokens;
      call.a = a.data();
      call.heads = {{parts[0].data(), parts[1].data(), parts[2].data()}, tokens, heads, dim};
      gemm(threads, scratch, call);
      for (std::int64_t which = 0; which < 3; ++which) {
        std::vector<float> want(parts[which].size());
        for (std::int64_t b = 0; b < batch; ++b) {
          for (std::int64_t h = 0; h < heads; ++h) {
            for (std::int64_t n = 0; n < tokens; ++n) {
              for (std::int64_t i = 0; i < dim; ++i) {
                want[static_cast<std::size_t>(((b * heads + h) * tokens + n) * dim + i)] =
                    plain[static_cast<std::size_t>((b * tokens + n) * out +
                                                   (which * heads + h) * dim + i)];
              }
            }
          }
        }
        test::expect_near(parts[which], want, 2e-5);
      }
    }
  });
}

/// Patches of clips against the specification: all tokens, and some of them in another order.
void check_tubelets(std::int64_t frames, std::int64_t tubelet, std::int64_t height,
                    std::int64_t width) {
  SCOPED_TRACE(testing::Message() << frames << " frames of " << height << "x" << width
                                  << ", tubelet " << tubelet);
  platform::ThreadPool threads(2);
  Arena scratch;
  const std::int64_t batch = 2, channels = 3, patch = 4, dim = 21;
  const std::int64_t tubelets = frames < tubelet ? frames : frames / tubelet;
  const std::int64_t tokens = tubelets * (height / patch) * (width / patch);
  const std::int64_t in = channels * tubelet * patch * patch;
  const auto pixels = test::normal_values(batch * frames * channels * height * width, 1);
  const auto weight = test::normal_values(dim * in, 2);
  const TensorView weights[] = {{weight.data(), DType::kF32, {dim, in}}};
  const PackedMatrix packed(weights, {});
  std::vector<float> rows(static_cast<std::size_t>(batch * tokens * in));
  reference::patches(batch, frames, channels, height, width, tubelet, patch, patch, pixels.data(),
                     rows.data());
  std::vector<float> want(static_cast<std::size_t>(batch * tokens * dim));
  reference::linear(rows.data(), batch * tokens, in, weight.data(), dim, nullptr, false, nullptr,
                    want.data());
  std::vector<float> got(want.size());
  Gemm call;
  call.weight = &packed;
  call.rows = batch * tokens;
  call.patches = {.pixels = pixels.data(),
                  .frames = frames,
                  .channels = channels,
                  .height = height,
                  .width = width,
                  .tubelet = tubelet,
                  .patch_height = patch,
                  .patch_width = patch};
  call.out = got.data();
  gemm(threads, scratch, call);
  test::expect_near(got, want, 5e-5);

  // Each item's own choice: its last token, then its first.
  const std::vector<std::int64_t> ids = {tokens - 1, 0, tokens / 2, 0, tokens - 1, tokens / 3};
  std::vector<float> some(static_cast<std::size_t>(6 * dim));
  call.rows = 6;
  call.patches.ids = ids.data();
  call.patches.ids_per_item = 3;
  call.out = some.data();
  gemm(threads, scratch, call);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::int64_t row = static_cast<std::int64_t>(i) / 3 * tokens + ids[i];
    for (std::int64_t j = 0; j < dim; ++j) {
      ASSERT_EQ(some[i * static_cast<std::size_t>(dim) + static_cast<std::size_t>(j)],
                got[static_cast<std::size_t>(row * dim + j)])
          << "row " << i;
    }
  }
}

TEST(Gemm, EmbedsTubelets) {
  test::on_every_target([] {
    check_tubelets(6, 2, 8, 12);
    check_tubelets(7, 2, 8, 12);   // the last frame is left out
    check_tubelets(1, 2, 8, 12);   // one frame is repeated
    check_tubelets(2, 3, 8, 12);   // so is a clip: 2 frames x 3 make 2 tubelets
    check_tubelets(4, 1, 11, 15);  // rows and columns beyond the last patch are left out
    check_tubelets(1, 1, 8, 8);
  });
}

TEST(Gemm, EmbedsPatchesWithTheirPositions) {
  test::on_every_target([] {
    platform::ThreadPool threads(2);
    Arena scratch;
    const std::int64_t batch = 3, channels = 3, height = 20, width = 28, ph = 4, pw = 7, dim = 37;
    const std::int64_t tokens = height / ph * (width / pw);
    const std::int64_t in = channels * ph * pw;
    const auto pixels = test::normal_values(batch * channels * height * width, 1);
    const auto weight = test::normal_values(dim * in, 2);
    const auto position = test::normal_values(tokens * dim, 3);
    const TensorView weights[] = {{weight.data(), DType::kF32, {dim, in}}};
    const PackedMatrix packed(weights, {});
    std::vector<float> rows(static_cast<std::size_t>(batch * tokens * in));
    reference::patches(batch, 1, channels, height, width, 1, ph, pw, pixels.data(), rows.data());
    std::vector<float> positions;
    for (int b = 0; b < batch; ++b) {
      positions.insert(positions.end(), position.begin(), position.end());
    }
    std::vector<float> want(static_cast<std::size_t>(batch * tokens * dim));
    reference::linear(rows.data(), batch * tokens, in, weight.data(), dim, nullptr, false,
                      positions.data(), want.data());
    std::vector<float> got(want.size());
    Gemm call;
    call.weight = &packed;
    call.rows = batch * tokens;
    call.patches = {.pixels = pixels.data(),
                    .channels = channels,
                    .height = height,
                    .width = width,
                    .patch_height = ph,
                    .patch_width = pw};
    call.residual = position.data();
    call.residual_rows = tokens;
    call.out = got.data();
    gemm(threads, scratch, call);
    test::expect_near(got, want, 3e-5);
  });
}

TEST(Gemm, OfNoRowsDoesNothing) {
  platform::ThreadPool threads(2);
  Arena scratch;
  const std::vector<float> weight(16, 1.0f);
  const TensorView weights[] = {{weight.data(), DType::kF32, {4, 4}}};
  const PackedMatrix packed(weights, {});
  Gemm call;
  call.weight = &packed;
  gemm(threads, scratch, call);
  EXPECT_EQ(scratch.held_bytes(), 0u);
}

}  // namespace
}  // namespace vivace::kernels
