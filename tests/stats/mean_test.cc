#include "stats/mean.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"

namespace vivace::stats {
namespace {

const Probability k95(95, 100);

TEST(MeanInterval, NeedsFortySamples) {
  const std::vector<std::int64_t> few(39, 10);
  EXPECT_EQ(mean_interval(few, k95).mean, 10);
  EXPECT_FALSE(mean_interval(few, k95).lower);
  const std::vector<std::int64_t> enough(40, 10);
  EXPECT_EQ(mean_interval(enough, k95).lower, 10);
  EXPECT_EQ(mean_interval(enough, k95).upper, 10);
}

TEST(MeanInterval, IsStudentsOverTwentyBatches) {
  // Batches of two: means 1, 3, 1, 3 ... around 2, standard error sqrt(20/19/20).
  std::vector<std::int64_t> samples;
  for (int i = 0; i < 20; ++i) samples.insert(samples.end(), 2, i % 2 == 0 ? 1 : 3);
  const MeanInterval interval = mean_interval(samples, k95);
  EXPECT_DOUBLE_EQ(interval.mean, 2);
  const double t_19 = 2.093024054408263;  // R: qt(0.975, 19)
  EXPECT_NEAR(*interval.upper - 2, t_19 * std::sqrt(1.0 / 19), 1e-12);
  EXPECT_NEAR(2 - *interval.lower, t_19 * std::sqrt(1.0 / 19), 1e-12);
}

TEST(MeanInterval, CoversTheMeanOfDependentSamples) {
  int covered = 0;
  constexpr int kRuns = 1000;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    std::vector<std::int64_t> samples;
    double z = random_normal(run, 0);
    for (std::uint64_t i = 1; i <= 1000; ++i) {
      samples.push_back(static_cast<std::int64_t>(std::llround(1e6 + 1e5 * z)));
      z = 0.5 * z + std::sqrt(0.75) * random_normal(run, i);
    }
    const MeanInterval interval = mean_interval(samples, k95);
    covered += *interval.lower <= 1e6 && 1e6 <= *interval.upper ? 1 : 0;
  }
  // 95% less four standard errors of the simulation.
  EXPECT_GE(covered, 922);
}

}  // namespace
}  // namespace vivace::stats
