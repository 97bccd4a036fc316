#include "stats/steadiness.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "stats/reference_series.h"
#include "stats/summary.h"

namespace vivace::stats {
namespace {

void expect_near_or_null(std::optional<double> got, const Json& want, const char* what) {
  ASSERT_EQ(got.has_value(), !want.is_null()) << what;
  if (got) test::expect_relative(*got, want.as_number(), 1e-9, what);
}

/// The fields that all families of whole series share.
void expect_report(const SteadinessReport& report, const std::vector<std::int64_t>& samples,
                   const Json& expected) {
  EXPECT_EQ(name_of(report.steadiness), test::member(expected, "class").as_string());
  if (expected.find("material_change_points") == nullptr) return;  // too few samples for more
  EXPECT_EQ(change_points(samples), test::integers(test::member(expected, "change_points")));
  EXPECT_EQ(report.segments.change_points,
            test::integers(test::member(expected, "material_change_points")));
  const JsonArray& medians = test::member(expected, "segment_medians_ns").as_array();
  ASSERT_EQ(report.segments.medians.size(), medians.size());
  for (std::size_t i = 0; i < medians.size(); ++i) {
    EXPECT_DOUBLE_EQ(report.segments.medians[i], medians[i].as_number());
  }
  const auto& trend = report.trend;
  expect_near_or_null(trend ? std::optional(trend->p) : std::nullopt,
                      test::member(expected, "trend_p"), "trend_p");
  expect_near_or_null(trend ? std::optional(trend->change) : std::nullopt,
                      test::member(expected, "trend_change"), "trend_change");
  // For evenly spread values diptest says 0 here, where dip.json has the least dip there is,
  // 1/(2n).
  const bool all_equal = std::ranges::count(samples, samples[0]) == std::ssize(samples);
  const double least = all_equal ? 0 : 0.5 / std::sqrt(static_cast<double>(samples.size()));
  const double want_dip = std::max(least, test::member(expected, "root_n_dip").as_number());
  test::expect_relative(report.shape.root_n_dip, want_dip, 1e-9, "root_n_dip");
  EXPECT_EQ(report.shape.bimodal, test::member(expected, "bimodal").as_bool());
}

TEST(Steadiness, MatchesReference) {
  VIVACE_REQUIRE_CASES(cases);
  const auto folder = cases / "stats-changepoint";
  for (const Json& one : test::read_cases(folder / "steadiness.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const auto samples = test::series_of(folder, one);
    expect_report(assess_steadiness(samples), samples, test::member(one, "expected"));
  }
}

/// Generated and recorded series: steadiness, outliers, modes and the percentiles' intervals.
void expect_whole_series(const std::filesystem::path& folder, const Json& one) {
  SCOPED_TRACE(test::member(one, "id").as_string());
  const auto samples = test::series_of(folder, one);
  const Json& expected = test::member(one, "expected");
  const SteadinessReport report = assess_steadiness(samples);
  expect_report(report, samples, expected);
  EXPECT_EQ(report.outlier_count, test::member(expected, "outlier_count").as_integer());
  const auto& modes = report.shape.modes;
  if (!modes) FAIL() << "no modes";
  EXPECT_DOUBLE_EQ(modes->lower_median, test::member(expected, "lower_median_ns").as_number());
  EXPECT_DOUBLE_EQ(modes->upper_median, test::member(expected, "upper_median_ns").as_number());
  EXPECT_DOUBLE_EQ(modes->upper_share, test::member(expected, "upper_share").as_number());
  for (const auto& [text, want] : test::member(expected, "percentiles").as_object()) {
    const Probability p = test::probability(text);
    const Summary summary = summarize(samples, std::span(&p, 1), default_confidence());
    const PercentileEstimate& got = summary.percentiles.at(0);
    EXPECT_EQ(got.rank, test::member(want, "rank").as_integer());
    EXPECT_EQ(got.value_ns, test::member(want, "value_ns").as_integer());
    test::expect_relative(got.size.tau, test::member(want, "tau").as_number(), 1e-9, "tau");
    EXPECT_EQ(got.size.m, test::member(want, "m").as_integer());
    EXPECT_EQ(got.ranks.lower, test::integer_or_null(test::member(want, "lower_rank")));
    EXPECT_EQ(got.ranks.upper, test::integer_or_null(test::member(want, "upper_rank")));
    EXPECT_EQ(got.lower_ns, test::integer_or_null(test::member(want, "lower_ns")));
    EXPECT_EQ(got.upper_ns, test::integer_or_null(test::member(want, "upper_ns")));
  }
}

TEST(Steadiness, OfGeneratedSeriesIsTheOneTheyWereMadeWith) {
  VIVACE_REQUIRE_CASES(cases);
  const auto folder = cases / "stats-series";
  for (const Json& one : test::read_cases(folder / "generated.json")) {
    expect_whole_series(folder, one);
  }
}

TEST(Steadiness, OfRecordedSeries) {
  VIVACE_REQUIRE_CASES(cases);
  const auto folder = cases / "stats-real";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    for (const Json& one : test::read_cases(entry.path())) expect_whole_series(folder, one);
    ++files;
  }
  EXPECT_EQ(files, 5);
}

TEST(Steadiness, FewSamplesAreUndetermined) {
  EXPECT_EQ(assess_steadiness(std::vector<std::int64_t>(49, 5)).steadiness,
            SteadinessClass::kUndetermined);
  EXPECT_EQ(assess_steadiness(std::vector<std::int64_t>(50, 5)).steadiness,
            SteadinessClass::kSteady);
}

}  // namespace
}  // namespace vivace::stats
