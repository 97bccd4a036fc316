#include "stats/change_point.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "stats/reference_series.h"

namespace vivace::stats {
namespace {

double segment_cost(std::span<const double> series, std::int64_t begin, std::int64_t end) {
  double mean = 0;
  for (std::int64_t i = begin; i < end; ++i) mean += series[static_cast<std::size_t>(i)];
  mean /= static_cast<double>(end - begin);
  double cost = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    const double d = series[static_cast<std::size_t>(i)] - mean;
    cost += d * d;
  }
  return cost;
}

double objective(std::span<const double> series, const std::vector<std::int64_t>& points,
                 double penalty) {
  double total = penalty * static_cast<double>(points.size());
  std::int64_t begin = 0;
  for (const std::int64_t point : points) {
    total += segment_cost(series, begin, point);
    begin = point;
  }
  return total + segment_cost(series, begin, static_cast<std::int64_t>(series.size()));
}

/// The definition without any pruning.
double best_objective(std::span<const double> series, double penalty) {
  const auto n = static_cast<std::int64_t>(series.size());
  std::vector<double> best(series.size() + 1, std::numeric_limits<double>::infinity());
  best[0] = -penalty;
  for (std::int64_t end = kSegmentMin; end <= n; ++end) {
    for (std::int64_t begin = 0; begin + kSegmentMin <= end; ++begin) {
      const double before = best[static_cast<std::size_t>(begin)];
      if (std::isinf(before)) continue;
      auto& slot = best[static_cast<std::size_t>(end)];
      slot = std::min(slot, before + segment_cost(series, begin, end) + penalty);
    }
  }
  return best.back();
}

TEST(ChangePoints, AreTheBestSegmentationOfRandomSeries) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::vector<std::int64_t> samples;
    for (std::uint64_t i = 0; i < 130; ++i) {
      const double level = 1e6 * (1 + 0.1 * static_cast<double>((i / (20 + seed % 17)) % 3));
      samples.push_back(static_cast<std::int64_t>(level + 4e4 * random_normal(seed, i)));
    }
    const auto series = clipped(samples, robust_scale(samples));
    const Noise noise = noise_of(series, clock_quantum(samples));
    const auto points = change_points(series, noise);
    const double penalty = 5 * noise.variance * std::log(130.0);
    EXPECT_NEAR(objective(series, points, penalty), best_objective(series, penalty),
                1e-9 * best_objective(series, penalty))
        << seed;
  }
}

TEST(ChangePoints, NoneOfFewSamplesOrWithoutNoise) {
  EXPECT_TRUE(change_points(std::vector<std::int64_t>{}).empty());
  EXPECT_TRUE(change_points(std::vector<std::int64_t>(100, 7)).empty());
  std::vector<std::int64_t> step(39, 100);
  for (std::size_t i = 20; i < step.size(); ++i) step[i] = 200;
  EXPECT_TRUE(change_points(step).empty());
  step.push_back(200);
  EXPECT_EQ(change_points(step), (std::vector<std::int64_t>{20}));
}

TEST(ChangePoints, MatchReference) {
  VIVACE_REQUIRE_CASES(cases);
  const auto folder = cases / "stats-changepoint";
  for (const Json& one : test::read_cases(folder / "pelt.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const auto samples = test::series_of(folder, one);
    const Json& expected = test::member(one, "expected");
    const auto want = test::integers(test::member(expected, "change_points"));
    const auto points = change_points(samples);
    EXPECT_EQ(points, want);
    const Segments segments = material_segments(samples, points);
    EXPECT_EQ(segments.change_points,
              test::integers(test::member(expected, "material_change_points")));
    if (samples.empty()) {
      EXPECT_TRUE(segments.medians.empty());
      continue;
    }
    const JsonArray& medians = test::member(expected, "segment_medians_ns").as_array();
    ASSERT_EQ(segments.medians.size(), medians.size());
    for (std::size_t i = 0; i < medians.size(); ++i) {
      EXPECT_DOUBLE_EQ(segments.medians[i], medians[i].as_number());
    }
    const auto series = clipped(samples, robust_scale(samples));
    const Noise noise = noise_of(series, clock_quantum(samples));
    test::expect_relative(noise.r, test::member(expected, "r").as_number(), 1e-9, "r");
    test::expect_relative(noise.variance, test::member(expected, "variance").as_number(), 1e-9,
                          "variance");
    if (const Json* best = expected.find("objective"); best != nullptr && !best->is_null()) {
      const double penalty = 5 * noise.variance * std::log(static_cast<double>(samples.size()));
      test::expect_relative(objective(series, points, penalty), best->as_number(), 1e-9,
                            "objective");
    }
  }
}

}  // namespace
}  // namespace vivace::stats
