#include "stats/contingency.h"

#include <gtest/gtest.h>

#include "stats/reference.h"

namespace vivace::stats {
namespace {

TEST(Contingency, AnEmptyTailIsNotExplained) {
  const Table2x2 table{
      .exposed_tail = 0, .exposed_body = 3, .unexposed_tail = 0, .unexposed_body = 4};
  EXPECT_EQ(share_explained(table), 0);
  EXPECT_EQ(fisher_p(table), 1);
}

TEST(Contingency, WhatEverySampleHasExplainsNothing) {
  const Table2x2 table{
      .exposed_tail = 5, .exposed_body = 95, .unexposed_tail = 0, .unexposed_body = 0};
  EXPECT_EQ(share_explained(table), 0);
  EXPECT_EQ(fisher_p(table), 1);
}

TEST(Contingency, MatchesReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-tail" / "tables.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const Json& inputs = test::member(one, "inputs");
    const Table2x2 table{.exposed_tail = test::member(inputs, "tail_exposed").as_integer(),
                         .exposed_body = test::member(inputs, "body_exposed").as_integer(),
                         .unexposed_tail = test::member(inputs, "tail_unexposed").as_integer(),
                         .unexposed_body = test::member(inputs, "body_unexposed").as_integer()};
    const Json& expected = test::member(one, "expected");
    const auto want = [&](const char* key) { return test::member(expected, key).as_number(); };
    const OddsRatio odds = odds_ratio(table);
    test::expect_relative(odds.estimate, want("odds_ratio"), 1e-12, "odds ratio");
    test::expect_relative(odds.lower, want("odds_lower"), 1e-9, "lower bound");
    test::expect_relative(odds.upper, want("odds_upper"), 1e-9, "upper bound");
    test::expect_relative(share_explained(table), want("share"), 1e-12, "share");
    test::expect_relative(fisher_p(table), want("p"), 1e-9, "p");
  }
}

}  // namespace
}  // namespace vivace::stats
