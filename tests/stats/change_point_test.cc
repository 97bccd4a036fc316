#include "stats/change_point.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "stats/reference_series.h"
#include "stats/summary.h"

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

Noise noise_in(std::vector<std::int64_t> samples, std::span<const double> series) {
  std::sort(samples.begin(), samples.end());
  return noise_of(series, clock_quantum(samples));
}

TEST(ChangePoints, AreTheBestSegmentationOfRandomSeries) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::vector<std::int64_t> samples;
    for (std::uint64_t i = 0; i < 130; ++i) {
      const double level = 1e6 * (1 + 0.1 * static_cast<double>((i / (20 + seed % 17)) % 3));
      samples.push_back(static_cast<std::int64_t>(level + 4e4 * random_normal(seed, i)));
    }
    const auto series = clipped(samples, robust_scale(samples));
    const Noise noise = noise_in(samples, series);
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

/// The definition, with each median from a sort.
Segments naively_material(const std::vector<std::int64_t>& samples,
                          std::vector<std::int64_t> points) {
  while (true) {
    std::vector<double> medians;
    for (std::size_t i = 0; i <= points.size(); ++i) {
      const auto begin = samples.begin() + (i == 0 ? 0 : points[i - 1]);
      std::vector<std::int64_t> segment(
          begin, i == points.size() ? samples.end() : samples.begin() + points[i]);
      std::sort(segment.begin(), segment.end());
      medians.push_back(median_of_sorted(segment));
    }
    std::size_t least = 0;
    double least_gap = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double gap =
          std::abs(medians[i] - medians[i + 1]) / std::min(medians[i], medians[i + 1]);
      if (gap < least_gap) {
        least_gap = gap;
        least = i;
      }
    }
    if (least_gap >= 0.01) return {points, medians};
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(least));
  }
}

TEST(MaterialSegments, AreThoseOfTheDefinition) {
  std::size_t dropped = 0;
  std::size_t kept = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    // Sizes around multiples of 64, levels with ties, values from 0 bits apart to 40.
    const std::size_t n = 400 + seed;
    std::vector<std::int64_t> samples;
    std::vector<std::int64_t> points;
    double level = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (i % 20 == 0) {
        level = 0.006 * std::round(2 * random_normal(seed, i));
        if (i > 0) points.push_back(static_cast<std::int64_t>(i));
      }
      const double noise = seed % 3 == 0 ? 0 : 0.002 * random_normal(seed + 1000, i);
      const double unit = seed % 2 == 0 ? 1e4 : 1e13;
      samples.push_back(static_cast<std::int64_t>(unit * (1 + level + noise)));
    }
    const Segments want = naively_material(samples, points);
    const Segments got = material_segments(samples, points);
    EXPECT_EQ(got.change_points, want.change_points) << seed;
    EXPECT_EQ(got.medians, want.medians) << seed;
    kept += want.change_points.size();
    dropped += points.size() - want.change_points.size();
  }
  EXPECT_GT(kept, 100u);
  EXPECT_GT(dropped, 100u);
}

TEST(MaterialSegments, OfNoSamplesAndOfEqualOnes) {
  EXPECT_TRUE(material_segments({}, {}).medians.empty());
  const std::vector<std::int64_t> zeros(60, 0);
  const Segments segments = material_segments(zeros, std::vector<std::int64_t>{20, 40});
  EXPECT_TRUE(segments.change_points.empty());
  EXPECT_EQ(segments.medians, (std::vector<double>{0}));
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
    const Noise noise = noise_in(samples, series);
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
