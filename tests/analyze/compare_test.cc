#include "analyze/compare.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "stats/comparison.h"

namespace vivace::analyze {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// 20 ms times exp(noise z), times `factor`.
std::vector<std::int64_t> times(std::size_t n, std::uint64_t seed, double factor = 1,
                                double noise = 0.03) {
  std::vector<std::int64_t> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = std::llround(20e6 * factor * std::exp(noise * random_normal(seed, i)));
  }
  return values;
}

result::Document document_of(std::vector<std::int64_t> latency_ns) {
  result::Document document;
  document.environment.fingerprint = "f00d";
  document.samples.latency_ns = std::move(latency_ns);
  return document;
}

void add_stage(result::Document& document, Stage stage, std::vector<std::int64_t> times_ns) {
  document.samples.stages.push_back({stage, std::move(times_ns)});
}

result::Comparison compared(const result::Document& a, const result::Document& b,
                            const CompareOptions& options) {
  auto comparison = compare(a, b, options);
  EXPECT_TRUE(comparison) << comparison.error().message;
  return comparison.value_or(result::Comparison());
}

const result::ComparedQuantity& quantity(const result::Comparison& comparison,
                                         const std::string& name) {
  static const result::ComparedQuantity none;
  for (const result::ComparedQuantity& one : comparison.quantities) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << "no quantity " << name;
  return none;
}

/// No number, which no expectation accepts, where there is none.
double or_nan(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

const stats::Probability kP95(95, 100);
const stats::Probability kP99(99, 100);

TEST(Compare, PairsGiveTheSignedRankIntervalOfTheRatio) {
  const auto a = document_of(times(40, 1));
  const auto b = document_of(times(40, 2, 1.06));
  const auto comparison = compared(a, b, {.margin = 0.02, .percentiles = {}, .paired = true});
  std::vector<double> d(40);
  for (std::size_t i = 0; i < d.size(); ++i) {
    d[i] = std::log(static_cast<double>(b.samples.latency_ns[i]) /
                    static_cast<double>(a.samples.latency_ns[i]));
  }
  const stats::Shift shift = stats::paired_shift(d, {95, 100}, 0.02);
  ASSERT_EQ(comparison.quantities.size(), 1U);
  const result::ComparedQuantity& latency = comparison.quantities[0];
  EXPECT_EQ(latency.name, "latency");
  EXPECT_EQ(latency.ratio, std::exp(shift.estimate));
  EXPECT_EQ(latency.ci_low, std::exp(or_nan(shift.lower)));
  EXPECT_EQ(latency.ci_high, std::exp(or_nan(shift.upper)));
  EXPECT_EQ(latency.p, shift.p);
  EXPECT_EQ(latency.p_adjusted, shift.p);
  EXPECT_EQ(latency.verdict, "regressed");
  EXPECT_EQ(latency.note, "");
  EXPECT_EQ(comparison.verdict, "regressed");
  EXPECT_TRUE(comparison.paired);
  EXPECT_EQ(comparison.a.n, 40);
  EXPECT_EQ(comparison.a.fingerprint, "f00d");
  EXPECT_EQ(comparison.b.samples.latency_ns, b.samples.latency_ns);
  EXPECT_EQ(comparison.b.latency.percentiles[0].p, stats::Probability());
  EXPECT_EQ(latency.b_ns, comparison.b.latency.percentiles[0].value_ns);
}

TEST(Compare, EveryVerdict) {
  const auto verdict = [](double factor, double noise, std::size_t n) {
    return compared(document_of(times(n, 3, 1, noise)), document_of(times(n, 4, factor, noise)),
                    {.margin = 0.02, .percentiles = {}, .paired = false})
        .verdict;
  };
  EXPECT_EQ(verdict(1.10, 0.03, 100), "regressed");
  EXPECT_EQ(verdict(0.90, 0.03, 100), "improved");
  EXPECT_EQ(verdict(1.00, 0.01, 100), "equivalent");
  EXPECT_EQ(verdict(1.02, 0.03, 100), "inconclusive");
}

TEST(Compare, ATailThatGrewRegressesTheWhole) {
  auto a = times(1000, 5);
  auto b = times(1000, 6);
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (random_bits(9, i) % 25 == 0) b[i] *= 3;
  }
  const auto comparison =
      compared(document_of(a), document_of(b), {.percentiles = {kP95, kP99}, .paired = true});
  EXPECT_EQ(quantity(comparison, "latency").verdict, "equivalent");
  const result::ComparedQuantity& p99 = quantity(comparison, "p99");
  EXPECT_EQ(p99.verdict, "regressed");
  EXPECT_NEAR(p99.ratio, static_cast<double>(p99.b_ns) / static_cast<double>(p99.a_ns), 1e-12);
  EXPECT_GT(or_nan(p99.ci_low), 2);
  EXPECT_LT(or_nan(p99.ci_low), p99.ratio);
  EXPECT_GT(or_nan(p99.ci_high), p99.ratio);
  EXPECT_LT(or_nan(p99.p), 0.001);
  EXPECT_EQ(comparison.verdict, "regressed");
  // Without the percentile asked for, the whole is what the latency is.
  EXPECT_EQ(
      compared(document_of(a), document_of(b), {.percentiles = {kP95}, .paired = true}).verdict,
      "equivalent");
}

TEST(Compare, AMissingBoundSaysHowManySamplesItNeeds) {
  // Distinct values in an order without dependence.
  const auto a = document_of(times(100, 7));
  const auto b = document_of(times(100, 8));
  const auto comparison = compared(a, b, {.percentiles = {kP99}, .paired = false});
  const result::ComparedQuantity& p99 = quantity(comparison, "p99");
  EXPECT_EQ(p99.verdict, "inconclusive");
  EXPECT_FALSE(p99.ci_low);
  EXPECT_FALSE(p99.ci_high);
  EXPECT_EQ(p99.p, 1);
  // 0.99^n <= 0.05/4.
  EXPECT_GE(p99.samples_needed.value_or(0), 437);
  EXPECT_THAT(p99.note,
              HasSubstr(std::to_string(p99.samples_needed.value_or(0)) + " samples of each"));
}

TEST(Compare, ThePOfAPercentileIsTheLeastDoubtThatStillClaims) {
  const auto a = document_of(times(400, 10));
  const auto b = document_of(times(400, 11, 1.03));
  const auto at = [&](double doubt) {
    const stats::Probability confidence(std::llround((1 - doubt) * 1e10), 10'000'000'000);
    return quantity(
        compared(a, b,
                 {.margin = 0, .confidence = confidence, .percentiles = {kP95}, .paired = true}),
        "p95");
  };
  const double p = or_nan(at(0.05).p);
  ASSERT_GT(p, 1e-6);
  ASSERT_LT(p, 0.5);
  EXPECT_EQ(at(p * 1.001).verdict, "regressed");
  EXPECT_EQ(at(p * 0.999).verdict, "inconclusive");
}

TEST(Compare, StagesAreAGroupOfTheirOwnUnderHolm) {
  auto a = document_of(times(40, 12));
  auto b = document_of(times(40, 13));
  const auto add_to_both = [&](Stage stage, std::uint64_t seed, double factor) {
    add_stage(a, stage, times(40, seed));
    add_stage(b, stage, times(40, seed + 1, factor));
  };
  add_to_both(Stage::kPredict, 20, 1);
  add_to_both(Stage::kDecode, 24, 1.5);
  // Ranks 3 and 34 to 40 are negative: V = 262 of the 264 that a claim at 95% may have.
  std::vector<std::int64_t> read_ns(40);
  for (int i = 1; i <= 40; ++i) {
    const bool is_negative = i >= 34 || i == 3;
    read_ns[static_cast<std::size_t>(i - 1)] =
        std::llround(20e6 * std::exp((is_negative ? -0.001 : 0.001) * i));
  }
  add_stage(a, Stage::kRead, std::vector<std::int64_t>(40, 20'000'000));
  add_stage(b, Stage::kRead, read_ns);
  const auto comparison = compared(a, b, {.margin = 0, .percentiles = {kP95}, .paired = true});
  std::vector<std::string> names;
  names.reserve(comparison.quantities.size());
  for (const auto& one : comparison.quantities) names.push_back(one.name);
  ASSERT_THAT(names, ElementsAre("latency", "p95", "stage.read", "stage.decode", "stage.predict"));
  std::vector<double> p(3);
  for (std::size_t i = 0; i < 3; ++i) p[i] = or_nan(comparison.quantities[i + 2].p);
  const auto adjusted = stats::holm(p);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(comparison.quantities[i + 2].p_adjusted, adjusted[i]) << names[i + 2];
  }
  EXPECT_EQ(quantity(comparison, "stage.decode").verdict, "regressed");
  // A claim by itself, none among three.
  const result::ComparedQuantity& read = quantity(comparison, "stage.read");
  ASSERT_GT(or_nan(read.ci_low), 1);
  ASSERT_LE(or_nan(read.p), 0.05);
  ASSERT_GT(or_nan(read.p_adjusted), 0.05);
  EXPECT_EQ(read.verdict, "inconclusive");
  EXPECT_THAT(read.note, HasSubstr("regressed by itself"));
  // A stage does not decide on the whole.
  EXPECT_NE(comparison.verdict, "regressed");
}

TEST(Compare, StagesTooShortToCompareAreNamed) {
  auto a = document_of(times(30, 14));
  auto b = document_of(times(30, 15));
  const std::vector<std::int64_t> tiny(30, 1'000);
  std::vector<std::int64_t> cached(30, 0);
  for (std::size_t i = 0; i < 10; ++i) cached[i] = 8'000'000;
  std::vector<std::int64_t> often = times(30, 16);
  for (std::size_t i = 0; i < 3; ++i) often[i] = 0;
  add_stage(a, Stage::kRead, tiny);
  add_stage(b, Stage::kRead, tiny);
  add_stage(a, Stage::kDecode, cached);
  add_stage(b, Stage::kDecode, times(30, 17));
  add_stage(a, Stage::kNetwork, tiny);
  add_stage(b, Stage::kQueue, tiny);
  add_stage(a, Stage::kPredict, often);
  add_stage(b, Stage::kPredict, times(30, 18, 1.5));
  const auto comparison = compared(a, b, {.percentiles = {}, .paired = true});
  EXPECT_THAT(comparison.left_out, ElementsAre("network: only in A", "queue: only in B",
                                               "read: below 0.1% of the latency",
                                               "decode: half of its times or more are 0"));
  ASSERT_EQ(comparison.quantities.size(), 2U);
  EXPECT_EQ(quantity(comparison, "stage.predict").verdict, "regressed");
  EXPECT_TRUE(std::isfinite(or_nan(quantity(comparison, "stage.predict").ci_high)));
}

TEST(Compare, AnInconclusiveOneSaysHowManyWouldSettleIt) {
  // Ratios of 1.02 with the spread of two samples with 3% of noise, at even steps of its law.
  const auto latency = [](std::size_t n, double factor) {
    std::vector<std::int64_t> b(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double z = normal_quantile((static_cast<double>(i) + 0.5) / static_cast<double>(n));
      b[i] = std::llround(20e6 * factor * std::exp(0.0424 * z));
    }
    return compared(document_of(std::vector<std::int64_t>(n, 20'000'000)), document_of(b),
                    {.margin = 0, .percentiles = {}, .paired = true})
        .quantities[0];
  };
  const result::ComparedQuantity few = latency(10, 1.02);
  EXPECT_EQ(few.verdict, "inconclusive");
  // (1.96 + 0.84)^2 (4.24/2)^2 = 35, and some more since ten give a wider interval.
  EXPECT_GE(few.samples_needed.value_or(0), 30);
  EXPECT_LE(few.samples_needed.value_or(0), 60);
  EXPECT_THAT(few.note, HasSubstr(std::to_string(few.samples_needed.value_or(0)) + " pairs"));
  EXPECT_EQ(latency(static_cast<std::size_t>(few.samples_needed.value_or(0)), 1.02).verdict,
            "regressed");
  // Nothing to find: no number is promised.
  EXPECT_EQ(latency(10, 1).verdict, "inconclusive");
  EXPECT_FALSE(latency(10, 1).samples_needed);
  EXPECT_EQ(latency(5, 1.02).samples_needed, 6);
}

TEST(Compare, DependentFilesAreNotTakenForIndependent) {
  // Slow waves, which a law for independent samples takes for a change.
  const auto wave = [](double phase) {
    std::vector<std::int64_t> values = times(200, 40);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double level = 1 + 0.1 * std::sin(static_cast<double>(i) / 30 + phase);
      values[i] = std::llround(static_cast<double>(values[i]) * level);
    }
    return document_of(values);
  };
  const auto comparison = compared(wave(0), wave(1.5), {.margin = 0, .percentiles = {}});
  EXPECT_EQ(comparison.verdict, "inconclusive");

  std::vector<std::int64_t> rise(200);
  for (std::size_t i = 0; i < rise.size(); ++i) {
    rise[i] = 20'000'000 + 10'000 * static_cast<std::int64_t>(i);
  }
  const auto drifting = compared(document_of(rise), document_of(times(200, 41)), {});
  EXPECT_FALSE(drifting.quantities[0].ci_low);
  EXPECT_FALSE(drifting.quantities[0].samples_needed);
  EXPECT_THAT(drifting.quantities[0].note, HasSubstr("200 samples that drift"));
}

TEST(Compare, OddSamples) {
  const CompareOptions options{.percentiles = {kP99}, .paired = false};
  const auto zeros = document_of(std::vector<std::int64_t>(50, 0));
  EXPECT_EQ(compared(zeros, zeros, options).quantities[0].ratio, 1);
  EXPECT_EQ(compared(zeros, zeros, options).verdict, "equivalent");
  const auto largest = document_of(std::vector<std::int64_t>(50, INT64_MAX));
  EXPECT_EQ(compared(zeros, largest, options).verdict, "regressed");
  EXPECT_TRUE(std::isfinite(compared(zeros, largest, options).quantities[0].ratio));
  const auto one = document_of({20'000'000});
  const auto comparison = compared(one, one, options);
  EXPECT_EQ(comparison.verdict, "inconclusive");
  EXPECT_EQ(comparison.quantities[0].samples_needed, 4);
  EXPECT_EQ(compared(one, document_of(times(300, 50)), options).verdict, "inconclusive");
}

TEST(Compare, RefusesWhatCannotBeCompared) {
  const auto none = document_of({});
  const auto some = document_of(times(10, 51));
  EXPECT_THAT(compare(none, some, {}).error().message, HasSubstr("A has no samples"));
  EXPECT_THAT(compare(some, none, {}).error().message, HasSubstr("B has no samples"));
  const auto more = document_of(times(11, 52));
  const auto refused = compare(some, more, {.percentiles = {}, .paired = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBadData);
  EXPECT_THAT(refused.error().message, HasSubstr("10 and 11"));
}

// The percentiles share the doubt only among themselves, so the whole could alarm more often than
// one quantity; in fact their intervals are wide enough that it does not.
TEST(Compare, TheWholeRarelyAlarmsOnNothing) {
  int claims = 0;
  constexpr int kRuns = 1000;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const auto comparison =
        compared(document_of(times(150, 1000 + 2 * seed)), document_of(times(150, 1001 + 2 * seed)),
                 {.margin = 0, .percentiles = {stats::Probability(9, 10), kP95}, .paired = true});
    if (comparison.verdict == "regressed" || comparison.verdict == "improved") ++claims;
  }
  std::printf("the whole claims a change where there is none: %.1f%%\n", 100.0 * claims / kRuns);
  EXPECT_LE(claims, kRuns * 6 / 100);
  EXPECT_GT(claims, 0);
}

}  // namespace
}  // namespace vivace::analyze
