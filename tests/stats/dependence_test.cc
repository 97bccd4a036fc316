#include "stats/dependence.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "stats/reference.h"
#include "stats/summary.h"

namespace vivace::stats {
namespace {

/// The definition in doubles, term by term.
IndicatorDependence by_definition(const std::vector<std::int64_t>& samples,
                                  std::int64_t threshold) {
  const std::size_t n = samples.size();
  std::vector<double> indicator;
  indicator.reserve(n);
  double mean = 0;
  for (const std::int64_t x : samples) indicator.push_back(x <= threshold ? 1 : 0);
  for (const double x : indicator) mean += x / static_cast<double>(n);
  double squares = 0;
  for (double& x : indicator) {
    x -= mean;
    squares += x * x;
  }
  IndicatorDependence dependence;
  for (std::size_t j = 1; j < n && squares > 1e-9; ++j) {
    double products = 0;
    for (std::size_t i = 0; i + j < n; ++i) products += indicator[i] * indicator[i + j];
    if (products / squares < 0.02) break;
    dependence.tau += 2 * products / squares;
    ++dependence.lags;
  }
  return dependence;
}

TEST(IndicatorDependence, FollowsItsDefinitionAcrossWordBoundaries) {
  // A step gives long lags, a sawtooth short ones; sizes around multiples of a machine word.
  for (const std::int64_t n : {1, 2, 63, 64, 65, 127, 128, 129, 300}) {
    std::vector<std::int64_t> step;
    std::vector<std::int64_t> sawtooth;
    for (std::int64_t i = 0; i < n; ++i) {
      step.push_back(i < n / 3 ? 10 : 20);
      sawtooth.push_back(i % 17);
    }
    for (const auto& series : {step, sawtooth}) {
      for (const std::int64_t threshold : {-1, 4, 10, 19, 20}) {
        const IndicatorDependence got = indicator_dependence(series, threshold);
        const IndicatorDependence want = by_definition(series, threshold);
        EXPECT_EQ(got.lags, want.lags) << n << " at " << threshold;
        EXPECT_NEAR(got.tau, want.tau, 1e-9 * want.tau) << n << " at " << threshold;
      }
    }
  }
}

TEST(IndicatorDependence, AConstantSeriesHasNone) {
  const std::vector<std::int64_t> constant(100, 7);
  for (const std::int64_t threshold : {6, 7, 8}) {
    EXPECT_EQ(indicator_dependence(constant, threshold).tau, 1);
    EXPECT_EQ(indicator_dependence(constant, threshold).lags, 0);
  }
}

TEST(IndicatorDependence, OfAStepInALongSeriesIsNearItsDefinition) {
  // Of s ones followed by n - s zeros the definition is a sum of plain fractions.
  for (const std::int64_t n : {65'536, 65'537, 200'000, 1'000'003}) {
    for (const std::int64_t ones : {n / 2, n / 10, n - n / 20}) {
      std::vector<std::int64_t> samples(static_cast<std::size_t>(n), 2);
      std::fill_n(samples.begin(), ones, 1);
      const double mean = static_cast<double>(ones) / static_cast<double>(n);
      const double squares = static_cast<double>(ones) * (1 - mean);
      IndicatorDependence want;
      for (std::int64_t j = 1; j < n; ++j) {
        const auto head = static_cast<double>(std::min(ones, n - j));
        const auto tail = static_cast<double>(std::max<std::int64_t>(0, ones - j));
        const double products =
            tail - mean * (head + tail) + static_cast<double>(n - j) * mean * mean;
        if (products < 0.02 * squares) break;
        want.tau += 2 * products / squares;
        ++want.lags;
      }
      const IndicatorDependence got = indicator_dependence(samples, 1);
      // Exact to 65,536 samples, beyond within a block at the end of the sum.
      const double tolerance = n <= 65'536 ? 1e-9 : 5e-3;
      EXPECT_NEAR(got.tau, want.tau, tolerance * want.tau) << n << " " << ones;
      EXPECT_NEAR(static_cast<double>(got.lags), static_cast<double>(want.lags),
                  tolerance * static_cast<double>(want.lags) + (n <= 65'536 ? 0 : 128))
          << n << " " << ones;
    }
  }
}

TEST(IndicatorDependence, OfALongAutocorrelatedSeriesIsNearItsDefinition) {
  // Dependent over more than the 512 single lags, so that both single lags and blocks count.
  std::vector<std::int64_t> samples;
  double z = random_normal(3, 0);
  for (std::uint64_t i = 1; i <= 100'000; ++i) {
    samples.push_back(static_cast<std::int64_t>(std::llround(1e6 * z)));
    z = 0.998 * z + std::sqrt(1 - 0.998 * 0.998) * random_normal(3, i);
  }
  for (const std::int64_t threshold : {0, 1'000'000}) {
    const IndicatorDependence got = indicator_dependence(samples, threshold);
    const IndicatorDependence want = by_definition(samples, threshold);
    ASSERT_GT(want.lags, 512);
    EXPECT_NEAR(got.tau, want.tau, 0.03 * want.tau) << threshold;
  }
}

TEST(EffectiveSize, NeverFallsBelowOneSample) {
  const EffectiveSize size = effective_size(10, 50.0);
  EXPECT_DOUBLE_EQ(size.n_eff, 0.2);
  EXPECT_EQ(size.m, 1);
  EXPECT_EQ(rescaled_ranks(10, size.m, *parse_percentile("50"), default_confidence()),
            RankInterval{});
}

TEST(EffectiveSize, BodyRankLeavesFiftyExceedances) {
  EXPECT_EQ(body_rank(1000, 990), 950);
  EXPECT_EQ(body_rank(1000, 900), 900);
  EXPECT_EQ(body_rank(60, 60), 30);
  EXPECT_EQ(body_rank(61, 61), 31);
  EXPECT_EQ(body_rank(1, 1), 1);
}

TEST(Dependence, MatchesReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-neff" / "n_eff.json")) {
    const Json& inputs = test::member(one, "inputs");
    const auto samples = test::integers(test::member(inputs, "samples_ns"));
    auto sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    const auto n = static_cast<std::int64_t>(samples.size());
    const Probability confidence =
        test::probability(test::member(inputs, "alpha").as_string()).complement();
    const JsonObject& expected_all = test::member(one, "expected").as_object();
    ASSERT_EQ(expected_all.size(), 4u);
    for (const auto& [p_text, expected] : expected_all) {
      SCOPED_TRACE(test::member(one, "id").as_string() + " at " + p_text);
      const Probability p = test::probability(p_text);
      const auto want_integer = [&, &want = expected](std::string_view key) {
        return test::integer_or_null(test::member(want, key));
      };
      const Summary summary = summarize(samples, std::span(&p, 1), confidence);
      const PercentileEstimate& got = summary.percentiles.at(0);
      EXPECT_EQ(got.rank, want_integer("rank"));
      EXPECT_EQ(got.value_ns, want_integer("value_ns"));
      EXPECT_EQ(body_rank(n, got.rank), want_integer("body_rank"));
      for (const auto& [key, rank] :
           {std::pair("at_rank", got.rank), std::pair("at_body_rank", body_rank(n, got.rank))}) {
        const IndicatorDependence dependence =
            indicator_dependence(samples, order_statistic(sorted, rank));
        EXPECT_EQ(dependence.lags, test::member(test::member(expected, key), "lags").as_integer());
        test::expect_relative(dependence.tau,
                              test::member(test::member(expected, key), "tau").as_number(), 1e-12,
                              key);
      }
      test::expect_relative(got.size.tau, test::member(expected, "tau").as_number(), 1e-12, "tau");
      test::expect_relative(got.size.n_eff, test::member(expected, "n_eff").as_number(), 1e-12,
                            "n_eff");
      EXPECT_EQ(got.size.m, want_integer("m"));
      EXPECT_EQ(got.ranks.lower, want_integer("lower_rank"));
      EXPECT_EQ(got.ranks.upper, want_integer("upper_rank"));
      EXPECT_EQ(got.lower_ns, want_integer("lower_ns"));
      EXPECT_EQ(got.upper_ns, want_integer("upper_ns"));
      const EffectiveSize alone = effective_size(samples, sorted, p);
      EXPECT_EQ(alone.m, got.size.m);
      EXPECT_EQ(alone.tau, got.size.tau);

      const auto width = relative_half_width(got);
      const Json& want_width = test::member(expected, "half_width_relative");
      ASSERT_EQ(width.has_value(), !want_width.is_null());
      if (width) test::expect_relative(*width, want_width.as_number(), 1e-12, "half-width");
      EXPECT_EQ(samples_for_half_width(got, n, 0.01), want_integer("samples_for_1_percent"));
    }
  }
}

}  // namespace
}  // namespace vivace::stats
