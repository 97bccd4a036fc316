// The promise of every printed interval, put to the test: drawn again and again from a known
// distribution, the nominal 95% interval holds the true percentile in at least 94% of the runs,
// for independent samples and for samples of autocorrelation 0.9. A missing bound counts as
// infinite. Fixed seeds, so the outcome does not change from run to run.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stats/summary.h"

namespace vivace::stats {
namespace {

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), with normal draws by Box and Muller: the
/// distributions of the standard library differ between libraries.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}

  /// In (0, 1).
  double uniform() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (static_cast<double>(z >> 11) + 0.5) * 0x1p-53;
  }

  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  std::uint64_t state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

double normal_cdf(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

/// z with normal_cdf(z) = p, by bisection; only the truth needs it.
double normal_quantile(double p) {
  double low = -10;
  double high = 10;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (normal_cdf(middle) < p ? low : high) = middle;
  }
  return low;
}

/// A latency distribution as a growing function of a standard normal: independent or dependent
/// samples, and the true percentiles, all come from the one function.
struct Distribution {
  const char* name;
  std::int64_t (*from_normal)(double z);
};

std::int64_t lognormal(double z) {
  return static_cast<std::int64_t>(std::llround(20e6 * std::exp(0.3 * z)));
}

std::int64_t exponential(double z) {
  // -log(1 - cdf(z)), with the small side computed as such.
  return static_cast<std::int64_t>(std::llround(1e6 - 5e6 * std::log(normal_cdf(-z))));
}

/// 80% around 10 ms, 20% around 15 ms, both narrow, with nothing between.
std::int64_t bimodal(double z) {
  const double u = normal_cdf(z);
  const double value = u < 0.8 ? 10e6 + 1e6 * (u / 0.8) : 15e6 + 2e6 * ((u - 0.8) / 0.2);
  return static_cast<std::int64_t>(std::llround(value));
}

constexpr std::array<Distribution, 3> kDistributions = {
    {{"lognormal", lognormal}, {"exponential", exponential}, {"bimodal", bimodal}}};

/// The share of `repeats` intervals that hold the truth, per percentile.
std::array<double, 3> coverage(const Distribution& distribution, std::size_t n, double correlation,
                               int repeats, std::uint64_t seed) {
  const std::array<Probability, 3> percentiles = {Probability(5, 10), Probability(95, 100),
                                                  Probability(99, 100)};
  std::array<std::int64_t, 3> truth{};
  for (std::size_t i = 0; i < 3; ++i) {
    truth[i] = distribution.from_normal(normal_quantile(percentiles[i].value()));
  }
  Generator generator(seed);
  std::array<int, 3> held{};
  std::vector<std::int64_t> samples(n);
  const double innovation = std::sqrt(1 - correlation * correlation);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    double z = generator.normal();  // stationary from the first
    for (std::int64_t& sample : samples) {
      sample = distribution.from_normal(z);
      z = correlation * z + innovation * generator.normal();
    }
    const Summary summary = summarize(samples, percentiles, default_confidence());
    for (std::size_t i = 0; i < 3; ++i) {
      const PercentileEstimate& estimate = summary.percentiles[i];
      const bool above_lower = !estimate.lower_ns || *estimate.lower_ns <= truth[i];
      const bool below_upper = !estimate.upper_ns || truth[i] <= *estimate.upper_ns;
      held[i] += above_lower && below_upper ? 1 : 0;
    }
  }
  std::array<double, 3> shares{};
  for (std::size_t i = 0; i < 3; ++i) {
    shares[i] = static_cast<double>(held[i]) / static_cast<double>(repeats);
  }
  return shares;
}

void expect_coverage(double correlation) {
  std::uint64_t seed = 20'240;
  for (const Distribution& distribution : kDistributions) {
    // The true coverage is nearest to 94% at n = 100, where repeats are also cheapest.
    for (const auto& [n, repeats] :
         {std::pair<std::size_t, int>{100, 12'000}, {500, 4000}, {2000, 3000}}) {
      const auto shares = coverage(distribution, n, correlation, repeats, ++seed);
      for (std::size_t i = 0; i < 3; ++i) {
        const char* label = std::array{"P50", "P95", "P99"}[i];
        EXPECT_GE(shares[i], 0.94) << distribution.name << " n=" << n << " " << label;
        ::testing::Test::RecordProperty(
            std::string(distribution.name) + "_" + std::to_string(n) + "_" + label,
            std::to_string(shares[i]));
      }
    }
  }
}

TEST(Coverage, IndependentSamples) { expect_coverage(0.0); }

TEST(Coverage, AutocorrelatedSamples) { expect_coverage(0.9); }

TEST(Coverage, WithoutDependenceTheIntervalWouldBeFarTooNarrow) {
  // What the n_eff is for: the ranks of n independent samples, on an autocorrelated series.
  Generator generator(7);
  const Probability median(5, 10);
  const RankInterval ranks = interval_ranks(500, median, default_confidence());
  const std::int64_t truth = lognormal(0);
  int held = 0;
  for (int repeat = 0; repeat < 500; ++repeat) {
    std::vector<std::int64_t> samples(500);
    double z = generator.normal();
    for (std::int64_t& sample : samples) {
      sample = lognormal(z);
      z = 0.9 * z + std::sqrt(1 - 0.81) * generator.normal();
    }
    std::sort(samples.begin(), samples.end());
    held += order_statistic(samples, *ranks.lower) <= truth &&
                    truth <= order_statistic(samples, *ranks.upper)
                ? 1
                : 0;
  }
  EXPECT_LT(held, 300);
}

}  // namespace
}  // namespace vivace::stats
