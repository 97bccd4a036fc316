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

/// The series whose batch medians are these.
std::vector<std::int64_t> with_medians(const std::vector<std::int64_t>& medians) {
  std::vector<std::int64_t> samples;
  for (const std::int64_t y : medians) samples.insert(samples.end(), {y - 7, y, y, y + 900, y});
  return samples;
}

TEST(Mser5, AConstantSeriesHasNoWarmUpHoweverLongItsTimes) {
  const std::vector<std::int64_t> hours(500, 9'000'000'000'000'000);
  EXPECT_EQ(mser5(hours).discarded, 0);
  EXPECT_FALSE(mser5(std::vector<std::int64_t>(49, 1)).discarded);
  EXPECT_TRUE(mser5(std::vector<std::int64_t>(50, 1)).discarded);
  EXPECT_FALSE(mser5({}).discarded);
  EXPECT_FALSE(mser5({}).at_limit);
}

TEST(Mser5, ExactTiesGoToTheSmallerCut) {
  // g(0) = g(6) = 7/72, g(0) = g(5) = 2/25 and g(0) = g(3) = 2/27, all others above; whatever the
  // unit. A nanosecond off the first median, away from the mean, and the later cut is the better.
  struct Tie {
    std::vector<std::int64_t> medians;
    std::int64_t later;
  };
  for (const Tie& tie :
       {Tie{{1, 3, 3, 1, 1, 0, 3, 3, 2, 1, 3, 3}, 6}, Tie{{0, 1, 1, 0, 3, 1, 1, 2, 1, 0}, 5},
        Tie{{1, 1, 0, 3, 1, 3, 3, 1, 1, 2, 2, 2}, 3}}) {
    for (const std::int64_t unit : {1'000LL, 1'000'003LL, 3'600'000'000'007LL}) {
      std::vector<std::int64_t> medians = tie.medians;
      for (std::int64_t& y : medians) y = 1'000'000 + unit * y;
      EXPECT_EQ(mser5(with_medians(medians)).discarded, 0) << unit << " " << tie.later;
      --medians[0];
      EXPECT_EQ(mser5(with_medians(medians)).discarded, 5 * tie.later) << unit;
    }
  }
  // Once what is left is constant, no further cut is made.
  std::vector<std::int64_t> early(20, 1'000'000);
  early[3] = 2'000'000;
  EXPECT_EQ(mser5(with_medians(early)).discarded, 20);
}

TEST(Mser5, TimesAtTheEndsOfTheRangeDoNotOverflow) {
  std::vector<std::int64_t> samples(1000, 9'000'000'000'000'000'000);
  std::fill(samples.begin() + 100, samples.end(), 5);
  EXPECT_EQ(mser5(samples).discarded, 100);
}

}  // namespace
}  // namespace vivace::stats
