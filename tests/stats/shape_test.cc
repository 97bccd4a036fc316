#include "stats/shape.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "stats/reference_series.h"

namespace vivace::stats {
namespace {

std::vector<std::int64_t> ascending(std::vector<std::int64_t> samples) {
  std::sort(samples.begin(), samples.end());
  return samples;
}

TEST(HartiganDip, OfSmallSamples) {
  EXPECT_EQ(hartigan_dip(std::vector<double>{3}), 0);
  EXPECT_EQ(hartigan_dip(std::vector<double>{3, 3, 3}), 0);
  // Any two points, and evenly spaced ones, are as unimodal as a sample can be: 1/(2n).
  EXPECT_DOUBLE_EQ(hartigan_dip(std::vector<double>{1, 2}), 0.25);
  EXPECT_DOUBLE_EQ(hartigan_dip(std::vector<double>{1, 2, 3, 4, 5}), 0.1);
  // Two clumps far apart approach the greatest dip there is.
  std::vector<double> clumps;
  clumps.reserve(200);
  for (int i = 0; i < 200; ++i) clumps.push_back(i < 100 ? i * 1e-6 : 1 + i * 1e-6);
  EXPECT_NEAR(hartigan_dip(clumps), 0.25, 0.005);
}

TEST(HartiganDip, DoesNotChangeUnderScaleOrShiftOrReflection) {
  std::vector<double> x;
  x.reserve(301);
  for (std::uint64_t i = 0; i < 301; ++i) x.push_back(random_normal(1, i) + (i % 2 == 0 ? 4 : 0));
  std::sort(x.begin(), x.end());
  std::vector<double> y;
  y.reserve(x.size());
  for (auto value = x.rbegin(); value != x.rend(); ++value) y.push_back(5 - 2 * *value);
  EXPECT_NEAR(hartigan_dip(x), hartigan_dip(y), 1e-12);
  EXPECT_GT(hartigan_dip(x), 0.03);
}

TEST(Shape, MatchesReference) {
  VIVACE_REQUIRE_CASES(cases);
  const auto folder = cases / "stats-shape";
  for (const Json& one : test::read_cases(folder / "dip.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const auto samples = ascending(test::series_of(folder, one));
    const Json& expected = test::member(one, "expected");
    const std::vector<double> raw(samples.begin(), samples.end());
    EXPECT_NEAR(hartigan_dip(raw), test::member(expected, "dip_of_raw").as_number(), 1e-12);
    const Shape shape = shape_of(samples);
    const double root_n = std::sqrt(static_cast<double>(samples.size()));
    EXPECT_NEAR(shape.root_n_dip / root_n, test::member(expected, "dip").as_number(), 1e-12);
    EXPECT_EQ(shape.bimodal, test::member(expected, "bimodal").as_bool());
    ASSERT_EQ(shape.modes.has_value(), !test::member(expected, "lower_count").is_null());
    if (!shape.modes) continue;
    EXPECT_EQ(shape.modes->lower_count, test::member(expected, "lower_count").as_integer());
    EXPECT_DOUBLE_EQ(shape.modes->lower_median,
                     test::member(expected, "lower_median_ns").as_number());
    EXPECT_DOUBLE_EQ(shape.modes->upper_median,
                     test::member(expected, "upper_median_ns").as_number());
    EXPECT_DOUBLE_EQ(shape.modes->upper_share, test::member(expected, "upper_share").as_number());
  }
}

TEST(Outliers, MatchReference) {
  VIVACE_REQUIRE_CASES(cases);
  const auto folder = cases / "stats-shape";
  for (const Json& one : test::read_cases(folder / "outliers.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const auto samples = test::series_of(folder, one);
    const Json& expected = test::member(one, "expected");
    const RobustScale scale = robust_scale(samples);
    EXPECT_DOUBLE_EQ(scale.median, test::member(expected, "median_ns").as_number());
    test::expect_relative(scale.scale, test::member(expected, "scale_ns").as_number(), 1e-12,
                          "scale");
    EXPECT_EQ(outliers(samples, scale), test::integers(test::member(expected, "outlier_indices")));
  }
}

}  // namespace
}  // namespace vivace::stats
