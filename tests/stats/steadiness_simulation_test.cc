// How often a steady series is called unsteady, and how surely an unsteady one is found. The shares
// are printed. Seeds are fixed, so a share is the same each time.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "stats/change_point.h"
#include "stats/steadiness.h"

namespace vivace::stats {
namespace {

/// How much slower sample i is than the base of 20 ms, before noise.
using Level = std::function<double(std::size_t)>;

/// Log-normal noise of `sigma` whose logarithms have autocorrelation `rho`.
std::vector<std::int64_t> series_of(std::uint64_t key, std::size_t n, double sigma, double rho,
                                    const Level& level) {
  std::vector<std::int64_t> samples;
  double z = random_normal(key, n);
  for (std::size_t i = 0; i < n; ++i) {
    samples.push_back(std::llround(2e7 * level(i) * portable_exp(sigma * z)));
    z = rho * z + std::sqrt(1 - rho * rho) * random_normal(key, i);
  }
  return samples;
}

double flat(std::size_t /*i*/) { return 1; }

struct Shares {
  double steady = 0;
  double warm_up = 0;
  double slow_down = 0;
  double drifting = 0;
  double multimodal = 0;
};

/// The classes of `runs` series; `make` is given the key of each.
Shares shares_of(int runs, const std::function<std::vector<std::int64_t>(std::uint64_t)>& make) {
  Shares shares;
  const double one = 1.0 / runs;
  for (int run = 0; run < runs; ++run) {
    switch (assess_steadiness(make(stream_key(static_cast<std::uint64_t>(run), "steadiness")))
                .steadiness) {
      case SteadinessClass::kSteady:
        shares.steady += one;
        break;
      case SteadinessClass::kWarmUp:
        shares.warm_up += one;
        break;
      case SteadinessClass::kSlowDown:
        shares.slow_down += one;
        break;
      case SteadinessClass::kDrifting:
        shares.drifting += one;
        break;
      case SteadinessClass::kMultimodal:
        shares.multimodal += one;
        break;
      case SteadinessClass::kUndetermined:
        ADD_FAILURE() << "undetermined";
    }
  }
  return shares;
}

void print(const char* what, const Shares& shares) {
  std::printf(
      "%-44s steady %5.1f%%  warm-up %5.1f%%  slow-down %5.1f%%  drifting %5.1f%%  "
      "multimodal %5.1f%%\n",
      what, 100 * shares.steady, 100 * shares.warm_up, 100 * shares.slow_down,
      100 * shares.drifting, 100 * shares.multimodal);
}

TEST(SteadinessSimulation, ASteadySeriesIsSeldomCalledUnsteady) {
  struct Cell {
    double rho;
    std::size_t n;
    double promised;
  };
  constexpr int kRuns = 2000;
  for (const Cell& cell : {Cell{0, 100, 0.02}, Cell{0, 300, 0.02}, Cell{0, 1000, 0.02},
                           Cell{0.5, 100, 0.02}, Cell{0.5, 300, 0.02}, Cell{0.5, 1000, 0.02},
                           Cell{0.9, 100, 0.15}, Cell{0.9, 300, 0.15}, Cell{0.9, 1000, 0.05}}) {
    const Shares shares = shares_of(
        kRuns, [&](std::uint64_t key) { return series_of(key, cell.n, 0.05, cell.rho, flat); });
    char what[64];
    std::snprintf(what, sizeof(what), "steady, autocorrelation %.1f, n = %zu", cell.rho, cell.n);
    print(what, shares);
    // What the promise allows so many runs to show: three standard errors above it.
    const double error = std::sqrt(cell.promised * (1 - cell.promised) / kRuns);
    EXPECT_LE(1 - shares.steady, cell.promised + 3 * error) << what;
  }
}

TEST(SteadinessSimulation, WithoutItsDependenceNoiseWouldBreakUp) {
  constexpr int kRuns = 400;
  int broken_with = 0;
  int broken_without = 0;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    const auto samples = series_of(stream_key(run, "dependence"), 500, 0.05, 0.5, flat);
    const auto series = clipped(samples, robust_scale(samples));
    const Noise noise = noise_of(series, 0);
    // The same squares, read as if r were 0.
    const Noise independent{
        .r = 0, .variance = noise.variance * (1 - noise.r) * (1 - noise.r) / (1 + noise.r)};
    if (!change_points(series, noise).empty()) ++broken_with;
    if (!change_points(series, independent).empty()) ++broken_without;
  }
  std::printf("autocorrelation 0.5, n = 500, broken up: %.1f%% with r, %.1f%% without\n",
              100.0 * broken_with / kRuns, 100.0 * broken_without / kRuns);
  EXPECT_LE(broken_with, kRuns / 50);
  EXPECT_GT(broken_without, kRuns / 2);
}

/// A step by `ratio` at a place of its own in the middle half of each of `runs` series.
void expect_step_found(double ratio, int runs) {
  constexpr std::size_t kSize = 500;
  int found = 0;
  for (int run = 0; run < runs; ++run) {
    const std::uint64_t key = stream_key(static_cast<std::uint64_t>(run), "step");
    const std::size_t at = kSize / 4 + random_bits(key, 2 * kSize) % (kSize / 2);
    const auto samples =
        series_of(key, kSize, 0.03, 0, [&](std::size_t i) { return i < at ? 1 : ratio; });
    const SteadinessReport report = assess_steadiness(samples);
    const auto& points = report.segments.change_points;
    if (points.size() != 1 || std::abs(points[0] - static_cast<std::int64_t>(at)) > 10) continue;
    const bool settled = kSize - static_cast<std::size_t>(points[0]) >= kSize / 2;
    const SteadinessClass want = ratio > 1 ? SteadinessClass::kSlowDown
                                 : settled ? SteadinessClass::kWarmUp
                                           : SteadinessClass::kDrifting;
    if (report.steadiness == want) ++found;
  }
  std::printf("step by a factor of %.3f in 3%% noise, n = 500: found within 10 samples in %.1f%%\n",
              ratio, 100.0 * found / runs);
  EXPECT_GE(found, 0.98 * runs);
}

TEST(SteadinessSimulation, AStepOfFivePercentIsFoundWhereItIs) {
  expect_step_found(1.05, 500);
  expect_step_found(1 / 1.05, 500);
}

TEST(SteadinessSimulation, ADriftOfFivePercentIsNeverCalledSteady) {
  constexpr std::size_t kSize = 500;
  for (const double change : {0.05, -0.05}) {
    for (const double sigma : {0.01, 0.03}) {
      const Shares shares = shares_of(400, [&](std::uint64_t key) {
        return series_of(key, kSize, sigma, 0, [&](std::size_t i) {
          return 1 + change * static_cast<double>(i) / static_cast<double>(kSize);
        });
      });
      char what[64];
      std::snprintf(what, sizeof(what), "drift by %+.0f%% in %.0f%% noise, n = 500", 100 * change,
                    100 * sigma);
      print(what, shares);
      EXPECT_LE(shares.steady, 0.01) << what;
      // In more noise a drift often looks like one step, up or down.
      if (sigma < 0.02) {
        EXPECT_GE(shares.drifting, 0.99) << what;
      }
    }
  }
}

TEST(SteadinessSimulation, TwoModesAreCalledMultimodal) {
  constexpr std::size_t kSize = 500;
  for (const double sigma : {0.01, 0.03}) {
    const Shares shares = shares_of(400, [&](std::uint64_t key) {
      const std::uint64_t choice = stream_key(key, "mode");
      return series_of(key, kSize, sigma, 0,
                       [&](std::size_t i) { return random_bits(choice, i) % 10 < 3 ? 1.2 : 1.0; });
    });
    char what[64];
    std::snprintf(what, sizeof(what), "30%% at +20%% in %.0f%% noise, n = 500", 100 * sigma);
    print(what, shares);
    EXPECT_GE(shares.multimodal, 0.97) << what;
  }
}

}  // namespace
}  // namespace vivace::stats
