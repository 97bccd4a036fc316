#include "analyze/tail.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "core/random.h"
#include "stats/reference.h"

namespace vivace::analyze {
namespace {

struct NamedValues {
  std::string name;
  std::vector<double> values;
};

std::vector<Covariate> views(const std::vector<NamedValues>& covariates) {
  std::vector<Covariate> result;
  result.reserve(covariates.size());
  for (const NamedValues& one : covariates) result.push_back({one.name, one.values});
  return result;
}

std::vector<NamedValues> covariates_of(const Json& inputs) {
  std::vector<NamedValues> result;
  const Json* covariates = inputs.find("covariates");
  if (covariates == nullptr) return result;
  for (const auto& [name, values] : covariates->as_object()) {
    result.push_back({name, {}});
    for (const Json& value : values.as_array()) result.back().values.push_back(value.as_number());
  }
  return result;
}

void expect_covariate(const TestedCovariate& got, const Json& want) {
  EXPECT_EQ(got.name, test::member(want, "covariate").as_string());
  SCOPED_TRACE(got.name);
  EXPECT_EQ(got.threshold, test::member(want, "threshold").as_number());
  const auto table = test::integers(test::member(want, "table"));
  ASSERT_EQ(table.size(), 4u);
  EXPECT_EQ(got.table, (stats::Table2x2{.exposed_tail = table[0],
                                        .exposed_body = table[1],
                                        .unexposed_tail = table[2],
                                        .unexposed_body = table[3]}));
  const auto number = [&](const char* key) { return test::member(want, key).as_number(); };
  test::expect_relative(got.share, number("share"), 1e-9, "share");
  test::expect_relative(got.odds.estimate, number("odds_ratio"), 1e-9, "odds ratio");
  test::expect_relative(got.odds.lower, number("odds_lower"), 1e-9, "lower bound");
  test::expect_relative(got.odds.upper, number("odds_upper"), 1e-9, "upper bound");
  test::expect_relative(got.p, number("p"), 1e-9, "p");
  test::expect_relative(got.p_holm, number("p_holm"), 1e-9, "adjusted p");
  EXPECT_EQ(got.claimed, test::member(want, "claimed").as_bool());
}

void expect_diagnosis(const Json& inputs, const Json& want) {
  const auto samples = test::integers(test::member(inputs, "samples_ns"));
  const auto covariates = covariates_of(inputs);
  const auto got = diagnose_tail(samples, views(covariates));
  const Json& cut = test::member(want, "tail_cut_ns");
  ASSERT_EQ(got.has_value(), !cut.is_null());
  if (!got) return;
  test::expect_relative(got->cut_ns, cut.as_number(), 1e-9, "cut");
  EXPECT_EQ(std::ssize(got->samples), test::member(want, "tail_count").as_integer());
  const auto period = test::integer_or_null(test::member(want, "period"));
  ASSERT_EQ(got->period.has_value(), period.has_value());
  EXPECT_EQ(period.value_or(0), got->period.value_or(Period()).samples);
  if (want.find("findings") == nullptr) return;  // a series without covariates
  const JsonArray& findings = test::member(want, "findings").as_array();
  ASSERT_EQ(got->exposures.tested.size(), findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    expect_covariate(got->exposures.tested[i], findings[i]);
  }
  const JsonArray& claimed = test::member(want, "claimed").as_array();
  ASSERT_EQ(got->exposures.claimed.size(), claimed.size());
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    EXPECT_EQ(got->exposures.tested[got->exposures.claimed[i]].name, claimed[i].as_string());
  }
  EXPECT_NEAR(got->exposures.unexplained_share, test::member(want, "unexplained_share").as_number(),
              1e-9);
}

TEST(Tail, MatchesReferenceDiagnoses) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-tail" / "diagnose.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    expect_diagnosis(test::member(one, "inputs"), test::member(one, "expected"));
  }
}

TEST(Tail, MatchesReferenceSeries) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-series" / "generated.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    expect_diagnosis(test::member(one, "inputs"), test::member(one, "expected"));
  }
}

TEST(Tail, MatchesRecordedSeries) {
  VIVACE_REQUIRE_CASES(cases);
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(cases / "stats-real")) {
    for (const Json& one : test::read_cases(file.path())) {
      SCOPED_TRACE(test::member(one, "id").as_string());
      expect_diagnosis(test::member(one, "inputs"),
                       test::member(test::member(one, "expected"), "tail"));
      ++count;
    }
  }
  EXPECT_GE(count, 5);
}

TEST(Tail, NoSamplesAndEqualSamplesHaveNone) {
  EXPECT_FALSE(diagnose_tail({}, {}));
  EXPECT_FALSE(diagnose_tail(std::vector<std::int64_t>(1, 7), {}));
  EXPECT_FALSE(diagnose_tail(std::vector<std::int64_t>(100, 7), {}));
  EXPECT_FALSE(diagnose_tail(std::vector<std::int64_t>(100, 0), {}));
}

TEST(Tail, CovariatesThatCannotBeTestedAreLeftOut) {
  std::vector<std::int64_t> latency_ns(200, 100);
  std::vector<double> cause(200, 0);
  for (std::size_t i = 3; i < 200; i += 20) {
    latency_ns[i] = 1000;
    cause[i] = 1;
  }
  std::vector<double> missing = cause;
  missing[0] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> brief(cause.begin(), cause.end() - 1);
  const std::vector<Covariate> covariates = {
      {"missing", missing}, {"brief", brief}, {"none", {}}, {"cause", cause}};
  const TailDiagnosis tail = diagnose_tail(latency_ns, covariates).value_or(TailDiagnosis());
  ASSERT_EQ(tail.exposures.tested.size(), 1u);
  EXPECT_EQ(tail.exposures.tested[0].name, "cause");
  EXPECT_EQ(tail.exposures.tested[0].index, 3u);
  EXPECT_TRUE(tail.exposures.tested[0].claimed);
  EXPECT_EQ(tail.exposures.unexplained_share, 0);
  EXPECT_EQ(tail.period.value_or(Period()).samples, 20);
  EXPECT_EQ(tail.period.value_or(Period()).gaps_close, 9);
}

}  // namespace
}  // namespace vivace::analyze
