#include "stats/trend.h"

#include <vector>

#include <gtest/gtest.h>

#include "stats/reference_series.h"

namespace vivace::stats {
namespace {

TEST(Trend, MatchesReference) {
  VIVACE_REQUIRE_CASES(cases);
  const auto folder = cases / "stats-shape";
  for (const Json& one : test::read_cases(folder / "trend.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const auto trend = trend_of(test::series_of(folder, one));
    const Json& expected = test::member(one, "expected");
    const Json* want_p = expected.find("p");
    ASSERT_EQ(trend.has_value(), want_p != nullptr && !want_p->is_null());
    if (!trend) continue;
    test::expect_relative(trend->p, want_p->as_number(), 1e-9, "p");
    test::expect_relative(trend->change, test::member(expected, "change").as_number(), 1e-9,
                          "change");
    EXPECT_EQ(trend->drifting, test::member(expected, "drifting").as_bool());
  }
}

TEST(Trend, ASlowSampleInEachBatchDoesNotMakeOne) {
  std::vector<std::int64_t> samples(200, 1000);
  for (std::size_t i = 0; i < samples.size(); i += 20)
    samples[i] = 1000 + 500 * static_cast<int>(i);
  const auto trend = trend_of(samples);
  if (!trend) FAIL() << "no trend of 200 samples";
  EXPECT_FALSE(trend->drifting);
  EXPECT_EQ(trend->change, 0);
}

}  // namespace
}  // namespace vivace::stats
