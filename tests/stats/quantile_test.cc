#include "stats/quantile.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stats/distributions.h"
#include "stats/reference.h"

namespace vivace::stats {
namespace {

const Probability kConfidence95(95, 100);

Probability percentile(std::string_view text) { return *parse_percentile(text); }

TEST(IntervalRanks, QuotedValues) {
  const auto expect = [](std::int64_t n, std::string_view p, std::int64_t lower,
                         std::int64_t upper) {
    const RankInterval ranks = interval_ranks(n, percentile(p), kConfidence95);
    EXPECT_EQ(ranks, (RankInterval{lower, upper})) << p << " of " << n;
  };
  expect(1000, "99", 983, 997);
  expect(5000, "99", 4936, 4964);
  expect(100, "50", 40, 61);
}

TEST(IntervalRanks, QuotedMinima) {
  const auto expect = [](std::string_view p, std::int64_t n) {
    EXPECT_EQ(minimum_n(percentile(p), kConfidence95, Sides::kBoth), n) << p;
    const RankInterval enough = interval_ranks(n, percentile(p), kConfidence95);
    EXPECT_TRUE(enough.lower && enough.upper) << p;
    const RankInterval too_few = interval_ranks(n - 1, percentile(p), kConfidence95);
    EXPECT_FALSE(too_few.lower && too_few.upper) << p;
  };
  expect("50", 6);
  expect("90", 36);
  expect("95", 72);
  expect("99", 368);
  expect("99.9", 3688);
  expect("1", 368);
}

TEST(IntervalRanks, AMissingBoundIsMissing) {
  // Never the maximum in its place.
  EXPECT_EQ(interval_ranks(100, percentile("99"), kConfidence95), (RankInterval{97, std::nullopt}));
  EXPECT_EQ(interval_ranks(100, percentile("1"), kConfidence95), (RankInterval{std::nullopt, 4}));
  EXPECT_EQ(interval_ranks(5, percentile("50"), kConfidence95), RankInterval{});
  EXPECT_DOUBLE_EQ(exact_coverage(5, percentile("50"), {}), 1);
}

TEST(IntervalRanks, TiesOfDecimalsAreNotRounded) {
  // P(B = 0) = 0.025 exactly: the lower bound of P97.5 and the upper of P2.5 exist at n = 1.
  EXPECT_EQ(interval_ranks(1, percentile("97.5"), kConfidence95), (RankInterval{1, std::nullopt}));
  EXPECT_EQ(interval_ranks(1, percentile("2.5"), kConfidence95), (RankInterval{std::nullopt, 1}));
  EXPECT_EQ(minimum_n(percentile("2.5"), *parse_probability("0.975"), Sides::kUpperOnly), 1);
  EXPECT_EQ(minimum_n(percentile("10"), percentile("99.9"), Sides::kUpperOnly), 3);
}

TEST(IntervalRanks, HoldTheirDefinitionEverywhere) {
  // Against plain sums of binomial terms, for every n to 120.
  for (const char* text : {"0.1", "1", "10", "25", "50", "90", "99", "99.9"}) {
    const Probability p = percentile(text);
    for (std::int64_t n = 1; n <= 120; ++n) {
      std::vector<double> at_most;  // P(B <= k)
      double sum = 0;
      for (std::int64_t k = 0; k <= n; ++k) {
        const auto [total, chosen] = std::pair(static_cast<double>(n), static_cast<double>(k));
        sum += std::exp(std::lgamma(total + 1) - std::lgamma(chosen + 1) -
                        std::lgamma(total - chosen + 1) + chosen * std::log(p.value()) +
                        (total - chosen) * std::log(p.complement().value()));
        at_most.push_back(sum);
      }
      RankInterval want;
      for (std::int64_t k = 1; k <= n; ++k) {
        const double below = at_most[static_cast<std::size_t>(k - 1)];
        if (below <= 0.025) want.lower = k;
        if (!want.upper && below >= 0.975) want.upper = k;
      }
      const RankInterval got = interval_ranks(n, p, kConfidence95);
      ASSERT_EQ(got, want) << text << " of " << n;
      ASSERT_GE(exact_coverage(n, p, got), 0.95 - 1e-12) << text << " of " << n;
    }
  }
}

TEST(IntervalRanks, MatchReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-quantile" / "ranks.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const Json& inputs = test::member(one, "inputs");
    const Json& expected = test::member(one, "expected");
    const std::int64_t n = test::member(inputs, "n").as_integer();
    const Probability p = test::probability(test::member(inputs, "p").as_string());
    const Probability confidence =
        test::probability(test::member(inputs, "alpha").as_string()).complement();
    const RankInterval ranks = interval_ranks(n, p, confidence);
    EXPECT_EQ(rank_of(n, p), test::member(expected, "rank").as_integer());
    EXPECT_EQ(ranks.lower, test::integer_or_null(test::member(expected, "lower_rank")));
    EXPECT_EQ(ranks.upper, test::integer_or_null(test::member(expected, "upper_rank")));
    EXPECT_NEAR(exact_coverage(n, p, ranks), test::member(expected, "coverage").as_number(),
                test::member(test::member(one, "tolerance"), "coverage").as_number());
    EXPECT_EQ(minimum_n(p, confidence, Sides::kBoth),
              test::member(expected, "minimum_n").as_integer());
  }
}

TEST(MinimumN, MatchesReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-quantile" / "minimum_n.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const Json& inputs = test::member(one, "inputs");
    const Probability p = test::probability(test::member(inputs, "p").as_string());
    const Probability confidence =
        test::probability(test::member(inputs, "alpha").as_string()).complement();
    const std::string& sides = test::member(inputs, "sides").as_string();
    const std::int64_t want = test::member(test::member(one, "expected"), "minimum_n").as_integer();
    ASSERT_TRUE(sides == "two" || sides == "upper");
    if (sides == "two") {
      EXPECT_EQ(minimum_n(p, confidence, Sides::kBoth), want);
    } else {
      EXPECT_EQ(minimum_n(p, confidence, Sides::kUpperOnly), want);
      EXPECT_EQ(minimum_n(p.complement(), confidence, Sides::kLowerOnly), want);
    }
  }
}

TEST(IntervalRanks, TheBootstrapIsNoSubstitute) {
  // The percentile bootstrap of x_(k) with infinitely many resamples is an interval of ranks too,
  // and what it covers is exact: a nominal 95% is 63% at P99 of 100 samples.
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-quantile" / "bootstrap_coverage.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const std::int64_t n = test::member(test::member(one, "inputs"), "n").as_integer();
    const Probability p =
        test::probability(test::member(test::member(one, "inputs"), "p").as_string());
    // The least j with P(Bin(n, j/n) >= k) >= share; j/n in 16 digits, certain at j = n.
    const auto bootstrap_rank = [&](double share) {
      std::int64_t j = 1;
      while (j < n) {
        const Probability at_most_j(j * (10'000'000'000'000'000 / n), 10'000'000'000'000'000);
        if (binomial_upper_tail(n, at_most_j, rank_of(n, p)) >= share) break;
        ++j;
      }
      return j;
    };
    const RankInterval ranks{bootstrap_rank(0.025), bootstrap_rank(0.975)};
    const Json& expected = test::member(one, "expected");
    EXPECT_EQ(ranks.lower, test::member(expected, "lower_rank").as_integer());
    EXPECT_EQ(ranks.upper, test::member(expected, "upper_rank").as_integer());
    EXPECT_NEAR(exact_coverage(n, p, ranks), test::member(expected, "coverage").as_number(), 1e-9);
  }
}

TEST(OrderStatistic, IsAnObservedValue) {
  const std::vector<std::int64_t> sorted = {10, 20, 30, 40};
  EXPECT_EQ(order_statistic(sorted, 1), 10);
  EXPECT_EQ(order_statistic(sorted, 4), 40);
  EXPECT_EQ(percentile_value(sorted, percentile("50")), 20);  // never the 25 of interpolation
  EXPECT_EQ(percentile_value(sorted, percentile("75.1")), 40);
  EXPECT_EQ(percentile_value(sorted, percentile("0.1")), 10);
}

}  // namespace
}  // namespace vivace::stats
