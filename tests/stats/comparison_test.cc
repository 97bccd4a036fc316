#include "stats/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
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

/// No number, which no expectation accepts, where there is no interval.
double width_of(const Shift& shift) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  return shift.upper.value_or(none) - shift.lower.value_or(none);
}

/// Every alpha and margin of one case, by `shift(confidence, margin)`.
template <class ShiftAt>
void expect_shifts(const Json& one, const ShiftAt& shift_at) {
  const Json& by_alpha = test::member(test::member(one, "expected"), "by_alpha");
  for (const auto& [alpha, expected] : by_alpha.as_object()) {
    const Probability confidence = test::probability(alpha).complement();
    for (const auto& [margin, want] : test::member(expected, "by_margin").as_object()) {
      SCOPED_TRACE(testing::Message() << "alpha " << alpha << " margin " << margin);
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
    std::vector<double> d(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      d[i] = std::log(static_cast<double>(b[i]) / static_cast<double>(a[i]));
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
    EXPECT_EQ(shift.lower, walsh[static_cast<std::size_t>(shift.rank - 1)]);
    EXPECT_EQ(shift.upper, walsh[walsh.size() - static_cast<std::size_t>(shift.rank)]);
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
    EXPECT_LT(width_of(shift), 0.002);
    EXPECT_EQ(shift.change, Change::kRegressed);
  }
}

/// A first-order autoregression with variance 1.
std::vector<double> autoregression(double correlation, std::size_t n, std::uint64_t seed) {
  std::vector<double> values(n);
  double x = random_normal(seed, n);
  for (std::size_t i = 0; i < n; ++i) {
    x = correlation * x + std::sqrt(1 - correlation * correlation) * random_normal(seed, i);
    values[i] = x;
  }
  return values;
}

TEST(UnpairedShift, AClaimAndItsPAgreeAtEveryWorth) {
  const Probability confidence(95, 100);
  int claims = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto a = autoregression(0, 61, 2 * seed);
    auto b = autoregression(0, 83, 2 * seed + 1);
    for (double& x : b) x += 0.03 * static_cast<double>(seed);
    double narrower = 0;
    for (const SampleWorth worth : {SampleWorth{61, 83}, {60, 30}, {17, 19}, {4, 4}, {3, 83}}) {
      const Shift shift = unpaired_shift(a, b, confidence, 0.1, worth);
      const bool claimed = shift.change == Change::kRegressed || shift.change == Change::kImproved;
      EXPECT_EQ(claimed, shift.p <= 0.05) << shift.p;
      claims += claimed ? 1 : 0;
      if (worth.b == 83 && worth.a < 61) continue;
      EXPECT_GT(width_of(shift), narrower);
      narrower = width_of(shift);
    }
  }
  EXPECT_GT(claims, 100);
  const std::vector<double> few = {1, 2, 3};
  EXPECT_FALSE(unpaired_shift(few, few, confidence, 0, {.a = 3, .b = 3}).lower);
}

TEST(RankEffectiveSize, IsNearWhatTheDependenceMakesOfIt) {
  // Ranks of normal values with correlation r have correlation 6/pi asin(r/2).
  for (const double correlation : {0.5, 0.9}) {
    double tau = 1;
    double power = 1;
    for (int lag = 1; lag < 400; ++lag) {
      power *= correlation;
      tau += 12 / std::acos(-1.0) * std::asin(power / 2);
    }
    // The longer is in means of five neighbours.
    for (const std::size_t n : {std::size_t{5'000}, std::size_t{100'000}}) {
      const EffectiveSize size = rank_effective_size(autoregression(correlation, n, 7));
      EXPECT_GT(size.tau, 0.9 * tau) << correlation << " " << n;
      EXPECT_LT(size.tau, 1.5 * tau) << correlation << " " << n;
      EXPECT_EQ(size.n_eff, static_cast<double>(n) / size.tau);
    }
  }
}

TEST(RankEffectiveSize, OfPlainAndOddSeries) {
  EXPECT_GT(rank_effective_size(autoregression(0, 1000, 3)).m, 900);
  EXPECT_EQ(rank_effective_size(std::vector<double>(50, 4.0)).m, 50);
  EXPECT_EQ(rank_effective_size(std::vector<double>{1}).m, 1);
  // A steady rise says as much as a handful of values.
  std::vector<double> rise(300);
  std::iota(rise.begin(), rise.end(), 0.0);
  EXPECT_LE(rank_effective_size(rise).m, 3);
  // Only the order of the values counts.
  std::vector<double> curved = autoregression(0.9, 400, 5);
  const EffectiveSize straight = rank_effective_size(curved);
  for (double& x : curved) x = std::exp(3 * x);
  EXPECT_EQ(rank_effective_size(curved).tau, straight.tau);
}

TEST(Minimum, IsTheLeastThatHasAnInterval) {
  EXPECT_EQ(minimum_pairs(Probability(95, 100)), 6);
  EXPECT_EQ(minimum_pairs(Probability(99, 100)), 8);
  EXPECT_EQ(minimum_unpaired(Probability(95, 100)), 4);
  EXPECT_EQ(minimum_unpaired(Probability(99, 100)), 5);
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
