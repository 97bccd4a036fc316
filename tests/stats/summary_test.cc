#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "stats/reference.h"

namespace vivace::stats {
namespace {

TEST(Summarize, OneSample) {
  const std::vector<std::int64_t> samples = {42};
  const Summary summary = summarize(samples, default_percentiles(), default_confidence());
  EXPECT_EQ(summary.n, 1);
  EXPECT_EQ(summary.n_eff, 1);
  EXPECT_EQ(summary.mean_ns, 42);
  EXPECT_FALSE(summary.standard_deviation_ns);
  EXPECT_EQ(summary.median_ns, 42);
  EXPECT_EQ(summary.median_absolute_deviation_ns, 0);
  EXPECT_EQ(summary.min_ns, 42);
  EXPECT_EQ(summary.max_ns, 42);
  ASSERT_EQ(summary.percentiles.size(), 5u);
  for (const PercentileEstimate& estimate : summary.percentiles) {
    EXPECT_EQ(estimate.value_ns, 42);
    EXPECT_FALSE(estimate.upper_ns) << estimate.p.label();
    EXPECT_FALSE(relative_half_width(estimate));
  }
  EXPECT_EQ(summary.percentiles[3].samples_needed, 368);
}

TEST(Summarize, SamplesNeededGrowWithDependence) {
  std::vector<std::int64_t> samples;
  for (int i = 0; i < 200; ++i) samples.push_back(i / 10 % 2 == 0 ? 100 + i % 10 : 200 + i % 10);
  const Summary summary = summarize(samples, default_percentiles(), default_confidence());
  const PercentileEstimate& p99 = summary.percentiles[3];
  EXPECT_GT(p99.size.tau, 1.5);
  EXPECT_EQ(p99.samples_needed, static_cast<std::int64_t>(std::ceil(368 * p99.size.tau)));
  EXPECT_LT(summary.n_eff, 200);
  for (const PercentileEstimate& estimate : summary.percentiles) {
    EXPECT_LE(summary.n_eff, estimate.size.n_eff);
  }
}

TEST(Summarize, ValuesNearTheEndOfTheRangeDoNotOverflow) {
  const std::int64_t huge = 9'000'000'000'000'000'000;
  const std::vector<std::int64_t> samples = {huge, huge + 2, 0, 4};
  const Summary summary = summarize(samples, default_percentiles(), default_confidence());
  EXPECT_DOUBLE_EQ(summary.mean_ns, 4.5e18);
  EXPECT_NEAR(*summary.standard_deviation_ns, 5.196152422706632e18, 1e6);
  EXPECT_EQ(summary.max_ns, huge + 2);
}

TEST(Summarize, MatchesReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-quantile" / "summary.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const auto samples = test::integers(test::member(test::member(one, "inputs"), "samples_ns"));
    const Json& expected = test::member(one, "expected");
    const Json& tolerance = test::member(one, "tolerance");
    const Summary summary = summarize(samples, default_percentiles(), default_confidence());
    EXPECT_EQ(summary.n, test::member(expected, "count").as_integer());
    EXPECT_EQ(summary.min_ns, test::member(expected, "min").as_integer());
    EXPECT_EQ(summary.max_ns, test::member(expected, "max").as_integer());
    test::expect_relative(summary.mean_ns, test::member(expected, "mean").as_number(),
                          test::tolerance_of(test::member(tolerance, "mean")), "mean");
    const Json& deviation = test::member(expected, "standard_deviation");
    ASSERT_EQ(summary.standard_deviation_ns.has_value(), !deviation.is_null());
    if (summary.standard_deviation_ns) {
      test::expect_relative(*summary.standard_deviation_ns, deviation.as_number(),
                            test::tolerance_of(test::member(tolerance, "standard_deviation")),
                            "standard deviation");
    }
    EXPECT_EQ(summary.median_ns, test::member(expected, "median").as_number());
    EXPECT_EQ(summary.median_absolute_deviation_ns,
              test::member(expected, "median_absolute_deviation").as_number());
    const JsonObject& percentiles = test::member(expected, "percentiles").as_object();
    ASSERT_EQ(percentiles.size(), summary.percentiles.size());
    for (const auto& [p_text, value] : percentiles) {
      const Probability p = test::probability(p_text);
      const auto found =
          std::find_if(summary.percentiles.begin(), summary.percentiles.end(),
                       [&](const PercentileEstimate& estimate) { return estimate.p == p; });
      ASSERT_NE(found, summary.percentiles.end()) << p_text;
      EXPECT_EQ(found->value_ns, value.as_integer()) << p_text;
    }
  }
}

}  // namespace
}  // namespace vivace::stats
