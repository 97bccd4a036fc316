#include "stats/service_level.h"

#include <gtest/gtest.h>

#include "stats/reference.h"

namespace vivace::stats {
namespace {

void expect_tail(double got, const Json& want, std::string_view what) {
  const double tolerance = std::max(1e-9 * want.as_number(), 1e-14);
  EXPECT_NEAR(got, want.as_number(), tolerance) << what;
}

Probability p_of(const Json& inputs) {
  return test::probability(test::member(inputs, "p").as_string());
}
Probability confidence_of(const Json& inputs) {
  return test::probability(test::member(inputs, "confidence").as_string());
}

TEST(JudgeLevel, TailsMatchReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-slo" / "beta.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const Json& inputs = test::member(one, "inputs");
    const LevelJudgement judgement =
        judge_level(test::member(inputs, "n").as_integer(), test::member(inputs, "t").as_integer(),
                    p_of(inputs), Probability(95, 100));
    const Json& expected = test::member(one, "expected");
    expect_tail(judgement.at_most_t, test::member(expected, "at_most_t"), "at most");
    expect_tail(judgement.at_least_t, test::member(expected, "at_least_t"), "at least");
  }
}

TEST(JudgeLevel, VerdictsMatchReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-slo" / "verdict.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const Json& inputs = test::member(one, "inputs");
    const LevelJudgement judgement =
        judge_level(test::member(inputs, "n").as_integer(), test::member(inputs, "t").as_integer(),
                    p_of(inputs), confidence_of(inputs));
    const Json& expected = test::member(one, "expected");
    EXPECT_EQ(name_of(judgement.verdict), test::member(expected, "verdict").as_string());
    EXPECT_EQ(judgement.further_clean,
              test::member(expected, "further_clean_samples").as_integer());
    expect_tail(judgement.at_most_t, test::member(expected, "at_most_t"), "at most");
    expect_tail(judgement.at_least_t, test::member(expected, "at_least_t"), "at least");
  }
}

TEST(EarlyStopping, CountsMatchReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-slo" / "early_stopping_counts.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const Json& inputs = test::member(one, "inputs");
    EXPECT_EQ(early_stopping_count(test::member(inputs, "t").as_integer(), p_of(inputs),
                                   confidence_of(inputs)),
              test::member(test::member(one, "expected"), "clean_needed").as_integer());
  }
}

TEST(EarlyStopping, DiscardsMatchReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-slo" / "early_stopping_discards.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const Json& inputs = test::member(one, "inputs");
    EXPECT_EQ(early_stopping_discards(test::member(inputs, "n").as_integer(), p_of(inputs),
                                      confidence_of(inputs)),
              test::integer_or_null(test::member(test::member(one, "expected"), "discarded")));
  }
}

TEST(EarlyStopping, PublishedCounts) {
  // MLPerf's published figures: samples in all with one over the limit, at 99%.
  const Probability c(99, 100);
  EXPECT_EQ(early_stopping_count(1, Probability(9, 10), c) + 1, 64);
  EXPECT_EQ(early_stopping_count(1, Probability(95, 100), c) + 1, 130);
  EXPECT_EQ(early_stopping_count(1, Probability(99, 100), c) + 1, 662);
  EXPECT_EQ(early_stopping_count(1, Probability(999, 1000), c) + 1, 6636);
  EXPECT_EQ(early_stopping_discards(2048, Probability(9, 10), c), 172);
}

TEST(JudgeLevel, EndsOfTheRange) {
  const Probability p(99, 100);
  const Probability c(95, 100);
  EXPECT_EQ(judge_level(0, 0, p, c).verdict, LevelVerdict::kInconclusive);
  EXPECT_EQ(judge_level(0, 0, p, c).further_clean, 299);
  EXPECT_EQ(judge_level(1, 1, p, c).verdict, LevelVerdict::kFail);  // 1% at the limit
  EXPECT_EQ(judge_level(1, 1, p, c).at_most_t, 1);
  EXPECT_EQ(early_stopping_discards(0, p, c), std::nullopt);
  EXPECT_EQ(early_stopping_discards(1, p, c), std::nullopt);
  // Sizes that a count up or down by one would not finish in a lifetime.
  EXPECT_EQ(judge_level(1'000'000'000, 9'900'000, p, c).verdict, LevelVerdict::kPass);
  EXPECT_EQ(judge_level(1'000'000'000, 10'100'000, p, c).verdict, LevelVerdict::kFail);
  // Sixteen nines and a million exceedances: more samples than an integer counts.
  const Probability extreme(9'999'999'999'999'999, 10'000'000'000'000'000);
  EXPECT_EQ(early_stopping_count(1'000'000, extreme, c), std::int64_t{1} << 60);
}

TEST(JudgeLevel, FurtherSamplesAreTheLeastThatPass) {
  const Probability p(95, 100);
  const Probability c(95, 100);
  for (const std::int64_t t : {0, 1, 5, 20}) {
    const LevelJudgement now = judge_level(t + 10, t, p, c);
    ASSERT_NE(now.verdict, LevelVerdict::kPass);
    const std::int64_t n = t + 10 + now.further_clean;
    EXPECT_EQ(judge_level(n, t, p, c).verdict, LevelVerdict::kPass);
    EXPECT_NE(judge_level(n - 1, t, p, c).verdict, LevelVerdict::kPass);
  }
}

}  // namespace
}  // namespace vivace::stats
