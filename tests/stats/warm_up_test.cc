#include "stats/warm_up.h"

#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "stats/reference_series.h"

namespace vivace::stats {
namespace {

TEST(Mser5, MatchesReference) {
  VIVACE_REQUIRE_CASES(cases);
  const auto folder = cases / "stats-mser";
  for (const Json& one : test::read_cases(folder / "mser5.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const WarmUpCut cut = mser5(test::series_of(folder, one));
    const Json& expected = test::member(one, "expected");
    EXPECT_EQ(cut.at_limit, test::member(expected, "at_limit").as_bool());
    ASSERT_EQ(cut.discarded.has_value(), test::member(expected, "determined").as_bool());
    if (cut.discarded) {
      EXPECT_EQ(*cut.discarded, test::member(expected, "discarded_count").as_integer());
    }
  }
}

TEST(Mser5, MatchesReferenceOnWholeSeries) {
  VIVACE_REQUIRE_CASES(cases);
  for (const char* family : {"stats-series", "stats-real"}) {
    for (const auto& entry : std::filesystem::directory_iterator(cases / family)) {
      for (const Json& one : test::read_cases(entry.path())) {
        SCOPED_TRACE(test::member(one, "id").as_string());
        const WarmUpCut cut = mser5(test::series_of(cases / family, one));
        const Json& expected = test::member(one, "expected");
        EXPECT_EQ(cut.discarded, test::member(expected, "discarded_count").as_integer());
        EXPECT_EQ(cut.at_limit, test::member(expected, "at_limit").as_bool());
      }
    }
  }
}

TEST(Mser5, AConstantSeriesHasNoWarmUpHoweverLongItsTimes) {
  const std::vector<std::int64_t> hours(500, 9'000'000'000'000'000);
  EXPECT_EQ(mser5(hours).discarded, 0);
  EXPECT_FALSE(mser5(std::vector<std::int64_t>(49, 1)).discarded);
  EXPECT_TRUE(mser5(std::vector<std::int64_t>(50, 1)).discarded);
}

}  // namespace
}  // namespace vivace::stats
