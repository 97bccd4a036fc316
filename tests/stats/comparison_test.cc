#include "stats/comparison.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "stats/reference.h"

namespace vivace::stats {
namespace {

std::vector<double> logs(const Json& array) {
  std::vector<double> values;
  for (const std::int64_t x : test::integers(array)) {
    values.push_back(std::log(static_cast<double>(x)));
  }
  return values;
}

void expect_near_or_null(const std::optional<double>& got, const Json& want, const char* what) {
  ASSERT_EQ(got.has_value(), !want.is_null()) << what;
  if (!got) return;
  EXPECT_NEAR(*got, want.as_number(), 1e-12) << what;
}

/// Every alpha and margin of one case, by `shift(confidence, margin)`.
template <class ShiftAt>
void expect_shifts(const Json& one, const ShiftAt& shift_at) {
  const Json& by_alpha = test::member(test::member(one, "expected"), "by_alpha");
  for (const auto& [alpha, expected] : by_alpha.as_object()) {
    const Probability confidence = test::probability(alpha).complement();
    for (const auto& [margin, want] : test::member(expected, "by_margin").as_object()) {
      SCOPED_TRACE("alpha " + alpha + " margin " + margin);
      const Shift shift = shift_at(confidence, std::stod(margin));
      EXPECT_NEAR(shift.estimate, test::member(expected, "estimate").as_number(), 1e-12);
      EXPECT_EQ(shift.rank, test::member(expected, "rank").as_integer());
      expect_near_or_null(shift.lower, test::member(expected, "lower"), "lower");
      expect_near_or_null(shift.upper, test::member(expected, "upper"), "upper");
      EXPECT_EQ(name_of(shift.change), test::member(want, "verdict").as_string());
      test::expect_relative(shift.p, test::member(want, "p").as_number(), 1e-9, "p");
    }
  }
}

TEST(PairedShift, MatchesReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-compare" / "paired.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const auto a = test::integers(test::member(test::member(one, "inputs"), "a_ns"));
    const auto b = test::integers(test::member(test::member(one, "inputs"), "b_ns"));
    std::vector<double> d;
    for (std::size_t i = 0; i < a.size(); ++i) {
      d.push_back(std::log(static_cast<double>(b[i]) / static_cast<double>(a[i])));
    }
    expect_shifts(one, [&](const Probability& confidence, double margin) {
      return paired_shift(d, confidence, margin);
    });
  }
}

TEST(UnpairedShift, MatchesReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-compare" / "unpaired.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const auto a = logs(test::member(test::member(one, "inputs"), "a_ns"));
    const auto b = logs(test::member(test::member(one, "inputs"), "b_ns"));
    expect_shifts(one, [&](const Probability& confidence, double margin) {
      return unpaired_shift(a, b, confidence, margin);
    });
  }
}

TEST(RankLaw, MatchesReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-compare" / "rank_distributions.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const Json& inputs = test::member(one, "inputs");
    const std::int64_t n = test::member(inputs, "n").as_integer();
    const Json* m = inputs.find("m");
    const RankLaw law =
        m == nullptr ? RankLaw::signed_rank(n) : RankLaw::rank_sum(n, m->as_integer());
    const Probability confidence =
        test::probability(test::member(inputs, "alpha").as_string()).complement();
    const Json& expected = test::member(one, "expected");
    const std::int64_t rank = law.critical_rank(confidence);
    EXPECT_EQ(rank, test::integer_or_null(test::member(expected, "rank")).value_or(0));
    if (rank > 0) {
      test::expect_relative(1 - 2 * law.at_most(rank - 1),
                            test::member(expected, "level").as_number(), 1e-12, "level");
    }
  }
}

TEST(Holm, MatchesReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-compare" / "holm.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    std::vector<double> p;
    for (const Json& value : test::member(test::member(one, "inputs"), "p").as_array()) {
      p.push_back(value.as_number());
    }
    const auto adjusted = holm(p);
    const JsonArray& want = test::member(test::member(one, "expected"), "adjusted").as_array();
    ASSERT_EQ(adjusted.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      test::expect_relative(adjusted[i], want[i].as_number(), 1e-12, "adjusted");
    }
  }
}

TEST(PairedShift, FindsRanksAmongTheAveragesOfManyPairs) {
  // The selection against all averages written out, ties included.
  for (const double step : {0.0, 0.25}) {
    std::vector<double> d;
    for (std::uint64_t i = 0; i < 301; ++i) {
      const double z = random_normal(5, i);
      d.push_back(step == 0 ? z : std::round(z / step) * step);
    }
    std::vector<double> walsh;
    for (std::size_t i = 0; i < d.size(); ++i) {
      for (std::size_t j = i; j < d.size(); ++j) walsh.push_back((d[i] + d[j]) / 2);
    }
    std::sort(walsh.begin(), walsh.end());
    const Shift shift = paired_shift(d, Probability(95, 100));
    EXPECT_EQ(*shift.lower, walsh[static_cast<std::size_t>(shift.rank - 1)]);
    EXPECT_EQ(*shift.upper, walsh[walsh.size() - static_cast<std::size_t>(shift.rank)]);
  }
}

TEST(Shift, OfManySamplesIsFound) {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> d;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    a.push_back(0.05 * random_normal(1, i));
    b.push_back(0.01 + 0.05 * random_normal(2, i));
    d.push_back(b.back() - a.back());
  }
  const Shift paired = paired_shift(d, Probability(95, 100));
  const Shift unpaired = unpaired_shift(a, b, Probability(95, 100));
  for (const Shift& shift : {paired, unpaired}) {
    EXPECT_NEAR(shift.estimate, 0.01, 0.001);
    EXPECT_LT(*shift.upper - *shift.lower, 0.002);
    EXPECT_EQ(shift.change, Change::kRegressed);
  }
}

TEST(ChangeOf, AValueAtTheMarginCountsAsEqual) {
  const double b = std::log1p(0.02);
  EXPECT_EQ(change_of(-b, b, 0.02), Change::kEquivalent);
  EXPECT_EQ(change_of(b, 2 * b, 0.02), Change::kInconclusive);
  EXPECT_EQ(change_of(b + 1e-9, 2 * b, 0.02), Change::kRegressed);
  EXPECT_EQ(change_of(-1.0, -b - 1e-9, 0.02), Change::kImproved);
  EXPECT_EQ(change_of(std::nullopt, std::nullopt, 0.02), Change::kInconclusive);
}

}  // namespace
}  // namespace vivace::stats
