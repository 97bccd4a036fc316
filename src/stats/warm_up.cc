#include "stats/warm_up.h"

#include <algorithm>
#include <array>
#include <vector>

#include "stats/probability.h"

namespace vivace::stats {
namespace {

constexpr std::size_t kBatch = 5;
constexpr std::size_t kBatchesMin = 10;

std::vector<std::int64_t> batch_medians(std::span<const std::int64_t> samples) {
  std::vector<std::int64_t> medians;
  medians.reserve(samples.size() / kBatch);
  for (std::size_t i = 0; i + kBatch <= samples.size(); i += kBatch) {
    std::array<std::int64_t, kBatch> batch{};
    std::copy_n(samples.begin() + static_cast<std::ptrdiff_t>(i), kBatch, batch.begin());
    std::nth_element(batch.begin(), batch.begin() + kBatch / 2, batch.end());
    medians.push_back(batch[kBatch / 2]);
  }
  return medians;
}

}  // namespace

WarmUpCut mser5(std::span<const std::int64_t> samples) {
  const std::vector<std::int64_t> y = batch_medians(samples);
  const std::size_t m = y.size();
  WarmUpCut cut;
  // From the last batch backwards, so that each d adds one to the sums. They are taken around the
  // last median: latencies of hours would overflow otherwise.
  Int128 sum = 0;
  Int128 squares = 0;
  std::size_t best_d = 0;
  long double best = -1;
  for (std::size_t d = m; d-- > 0;) {
    const Int128 value = Int128{y[d]} - y.back();
    sum += value;
    squares += value * value;
    if (d > m / 2) continue;
    const auto k = static_cast<Int128>(m - d);
    const auto size = static_cast<long double>(m - d);
    // k times the squares around the mean, over k^3.
    const long double g = static_cast<long double>(k * squares - sum * sum) / (size * size * size);
    if (best < 0 || g <= best) {
      best = g;
      best_d = d;
    }
  }
  cut.at_limit = m >= 2 && best_d == m / 2;
  if (m >= kBatchesMin) cut.discarded = static_cast<std::int64_t>(best_d * kBatch);
  return cut;
}

}  // namespace vivace::stats
