#include "stats/probability.h"

#include <string>

#include <gtest/gtest.h>

#include "stats/reference.h"

namespace vivace::stats {
namespace {

TEST(Probability, ReadsPercentilesAsWritten) {
  for (const char* text : {"p99.9", "P99.9", "99.9", "99.90", "099.9"}) {
    const auto p = parse_percentile(text);
    ASSERT_TRUE(p) << text;
    EXPECT_EQ(p->numerator(), 999) << text;
    EXPECT_EQ(p->denominator(), 1000) << text;
    EXPECT_EQ(p->label(), "P99.9") << text;
  }
  EXPECT_EQ(parse_percentile("p50")->label(), "P50");
  EXPECT_EQ(parse_percentile("0.07")->numerator(), 7);
  EXPECT_EQ(parse_percentile("0.07")->denominator(), 10'000);
  EXPECT_EQ(parse_percentile("0.07")->percent_text(), "0.07");
  EXPECT_EQ(parse_percentile("7")->percent_text(), "7");
  EXPECT_EQ(parse_percentile("99.99999999999999")->percent_text(), "99.99999999999999");
  EXPECT_EQ(*parse_percentile("50"), *parse_probability("0.5"));
  EXPECT_EQ(*parse_percentile("50"), Probability());
}

TEST(Probability, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "p",
                           "0",
                           "p0",
                           "100",
                           "p100",
                           "100.0",
                           "101",
                           "-5",
                           "+5",
                           "5e1",
                           "5 ",
                           " 5",
                           "5%",
                           "0x5",
                           "nan",
                           "9.9.9",
                           ".",
                           "pp99",
                           "99,9",
                           "99.999999999999999",
                           "99999999999999999999",
                           "0.00000000000000000000001"}) {
    const auto p = parse_percentile(text);
    ASSERT_FALSE(p) << text;
    EXPECT_EQ(p.error().code, ErrorCode::kUsage);
    EXPECT_NE(p.error().message.find("such as p99"), std::string::npos) << p.error().message;
  }
  for (const char* text : {"", "0", "1", "1.0", "p0.5", "-0.5", "0.5x"}) {
    EXPECT_FALSE(parse_probability(text)) << text;
  }
}

TEST(Probability, ComplementIsExact) {
  EXPECT_EQ(parse_percentile("99.9")->complement(), *parse_percentile("0.1"));
  EXPECT_EQ(parse_percentile("30")->complement().percent_text(), "70");
}

TEST(Probability, RankOfWhereDoublesFail) {
  EXPECT_EQ(rank_of(100, *parse_percentile("7")), 7);  // 100 * 0.07 > 7 in doubles
  EXPECT_EQ(rank_of(1, *parse_percentile("0.1")), 1);
  EXPECT_EQ(rank_of(1, *parse_percentile("99.9")), 1);
  EXPECT_EQ(rank_of(1000, *parse_percentile("99.9")), 999);
  EXPECT_EQ(rank_of(1001, *parse_percentile("99.9")), 1000);
  // A count whose product with the numerator leaves 64 bits.
  EXPECT_EQ(rank_of(9'000'000'000'000'000'000, *parse_percentile("99.9")),
            8'991'000'000'000'000'000);
}

TEST(Probability, RankOfMatchesReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-quantile" / "rank_of_percentile.json")) {
    const Json& inputs = test::member(one, "inputs");
    EXPECT_EQ(rank_of(test::member(inputs, "n").as_integer(),
                      test::probability(test::member(inputs, "p").as_string())),
              test::member(test::member(one, "expected"), "rank").as_integer())
        << test::member(one, "id").as_string();
  }
}

}  // namespace
}  // namespace vivace::stats
