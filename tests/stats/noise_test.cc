#include "stats/noise.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"

namespace vivace::stats {
namespace {

TEST(RobustScale, FallsBackWhereHalfOfTheSamplesAreEqual) {
  const std::vector<std::int64_t> spread = {10, 12, 14, 16, 18};
  EXPECT_DOUBLE_EQ(robust_scale(spread).median, 14);
  EXPECT_DOUBLE_EQ(robust_scale(spread).scale, 1.4826 * 2);
  const std::vector<std::int64_t> mostly_equal = {5, 5, 5, 5, 25};
  EXPECT_DOUBLE_EQ(robust_scale(mostly_equal).scale, 1.2533 * 4);
  EXPECT_DOUBLE_EQ(robust_scale(std::vector<std::int64_t>{1, 2}).median, 1.5);
}

TEST(ClockQuantum, IsTheLeastGapBetweenDistinctValues) {
  EXPECT_EQ(clock_quantum(std::vector<std::int64_t>{7, 7, 7}), 0);
  EXPECT_EQ(clock_quantum(std::vector<std::int64_t>{40, 40, 100, 180}), 60);
}

std::vector<double> autoregressive(double r, std::size_t n) {
  std::vector<double> series;
  double z = 0;
  for (std::size_t i = 0; i < n; ++i) {
    z = r * z + std::sqrt(1 - r * r) * random_normal(3, i);
    series.push_back(z);
  }
  return series;
}

TEST(NoiseOf, SeesDependenceAndInflatesTheVarianceByIt) {
  // The mean of an AR(1) series varies (1 + r)/(1 - r) times as much as that of white noise; the
  // trimmed squares lose a little of it.
  const Noise white = noise_of(autoregressive(0, 20'000), 0);
  EXPECT_LT(white.r, 0.05);
  EXPECT_NEAR(white.variance, 0.75, 0.1);
  const Noise dependent = noise_of(autoregressive(0.5, 20'000), 0);
  EXPECT_NEAR(dependent.r, 0.5, 0.05);
  EXPECT_NEAR(dependent.variance / white.variance, 3, 0.5);
}

TEST(NoiseOf, AFewJumpsDoNotCountAndAClockHasNoise) {
  std::vector<double> series = autoregressive(0, 1000);
  const double before = noise_of(series, 0).variance;
  for (std::size_t i = 500; i < series.size(); ++i) series[i] += 1000;
  EXPECT_NEAR(noise_of(series, 0).variance, before, 0.02 * before);
  EXPECT_DOUBLE_EQ(noise_of(std::vector<double>(50, 1.0), 12).variance, 12);
  EXPECT_DOUBLE_EQ(noise_of(std::vector<double>{1, 2}, 6).variance, 3);
}

}  // namespace
}  // namespace vivace::stats
