// A quick look at the promise of every printed interval: drawn again and again from a known law, it
// holds the true percentile in at least 94% of the runs (nominal 95%; a missing bound counts as
// infinite), less three standard errors of these few runs. coverage_simulation_test.cc does it at
// length, and looks at the widths. Fixed seeds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "stats/distributions.h"
#include "stats/simulated.h"
#include "stats/summary.h"

namespace vivace::stats {
namespace {

const std::array<Probability, 3> kPercentiles = {Probability(5, 10), Probability(95, 100),
                                                 Probability(99, 100)};

/// A latency as a growing function of a standard normal, so that the true percentiles come from
/// the same function as the samples.
using Law = std::int64_t (*)(double z);

/// 80% around 10 ms, 20% around 15 ms, both narrow, with nothing between.
std::int64_t bimodal(double z) {
  const double u = normal_probability(z);
  const double value = u < 0.8 ? 10e6 + 1e6 * (u / 0.8) : 15e6 + 2e6 * ((u - 0.8) / 0.2);
  return std::llround(value);
}

/// The shares of runs whose intervals hold the truth.
std::array<double, 3> coverage(Law law, std::size_t n, double correlation, int runs,
                               std::uint64_t seed) {
  std::array<int, 3> held{};
  std::vector<std::int64_t> samples(n);
  for (int run = 0; run < runs; ++run) {
    const std::uint64_t key = random_bits(seed, static_cast<std::uint64_t>(run));
    const auto series = test::autoregressive(n, correlation, key);
    std::transform(series.begin(), series.end(), samples.begin(), law);
    const Summary summary = summarize(samples, kPercentiles, default_confidence());
    for (std::size_t i = 0; i < held.size(); ++i) {
      const PercentileEstimate& estimate = summary.percentiles[i];
      const std::int64_t truth = law(normal_quantile(kPercentiles[i].value()));
      const bool above_lower = !estimate.lower_ns || *estimate.lower_ns <= truth;
      const bool below_upper = !estimate.upper_ns || truth <= *estimate.upper_ns;
      held[i] += above_lower && below_upper ? 1 : 0;
    }
  }
  std::array<double, 3> shares{};
  for (std::size_t i = 0; i < held.size(); ++i) shares[i] = static_cast<double>(held[i]) / runs;
  return shares;
}

void expect_coverage(double correlation) {
  std::uint64_t seed = 20'240;
  for (const Law law : {&test::lognormal, &bimodal}) {
    // The true coverage is nearest to 94% at n = 100, where runs are also cheapest.
    for (const auto& [n, runs] : {std::pair<std::size_t, int>{100, 4000}, {500, 1500}}) {
      const auto shares = coverage(law, n, correlation, runs, ++seed);
      for (std::size_t i = 0; i < shares.size(); ++i) {
        EXPECT_GE(shares[i], 0.94 - 3 * std::sqrt(0.94 * 0.06 / runs))
            << "n=" << n << " " << kPercentiles[i].label();
      }
    }
  }
}

TEST(Coverage, IndependentSamples) { expect_coverage(0.0); }

TEST(Coverage, AutocorrelatedSamples) { expect_coverage(0.9); }

TEST(Coverage, WithoutDependenceTheIntervalWouldBeFarTooNarrow) {
  // What the n_eff is for: the ranks of n independent samples, on an autocorrelated series.
  const RankInterval ranks = interval_ranks(500, Probability(5, 10), default_confidence());
  ASSERT_EQ(ranks, (RankInterval{228, 273}));
  int held = 0;
  for (std::uint64_t run = 0; run < 500; ++run) {
    auto series = test::autoregressive(500, 0.9, random_bits(7, run));
    std::sort(series.begin(), series.end());
    const double lower = series[static_cast<std::size_t>(ranks.lower.value_or(0) - 1)];
    const double upper = series[static_cast<std::size_t>(ranks.upper.value_or(0) - 1)];
    held += lower <= 0 && 0 <= upper ? 1 : 0;
  }
  EXPECT_LT(held, 300);
}

}  // namespace
}  // namespace vivace::stats
