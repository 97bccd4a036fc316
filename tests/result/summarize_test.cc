#include "result/summarize.h"

#include <limits>

#include <gtest/gtest.h>

#include "result/example_document.h"

namespace vivace::result {
namespace {

TEST(Summarize, StagesLargestFirstWithSharesOfTheWhole) {
  const Samples samples = test::example_samples(500);
  const Summary summary = summarize(samples);
  ASSERT_EQ(summary.stages.size(), 5u);
  EXPECT_EQ(summary.stages[0].stage, Stage::kContextEncode);
  EXPECT_EQ(summary.stages[1].stage, Stage::kDecode);
  EXPECT_EQ(summary.stages[4].stage, Stage::kUnattributed);
  double shares = 0;
  std::int64_t means = 0;
  for (const StageSummary& stage : summary.stages) {
    shares += stage.share;
    means += stage.mean_ns;
    EXPECT_EQ(stage.percentiles.size(), 5u);
  }
  EXPECT_NEAR(shares, 1, 1e-12);
  EXPECT_NEAR(static_cast<double>(means), static_cast<double>(summary.latency.mean_ns), 5);
}

TEST(Summarize, CarriesRanksAndMissingBounds) {
  const Summary summary = summarize(test::example_samples(100));
  EXPECT_EQ(summary.latency.n, 100);
  const Percentile& p99 = summary.latency.percentiles[3];
  EXPECT_EQ(p99.p.label(), "P99");
  EXPECT_TRUE(p99.rank_low && p99.ci_low_ns);
  EXPECT_FALSE(p99.rank_high);
  EXPECT_FALSE(p99.ci_high_ns);
  EXPECT_GE(p99.samples_needed, 368);
}

TEST(Summarize, TheLargestValuesDoNotWrapAround) {
  Samples samples;
  samples.latency_ns.assign(4, std::numeric_limits<std::int64_t>::max());
  EXPECT_GT(summarize(samples).latency.mean_ns, 9'000'000'000'000'000'000);
}

TEST(Summarize, AllZeroLatenciesHaveNoShares) {
  Samples samples;
  samples.latency_ns = {0, 0};
  samples.stages = {{Stage::kDecode, {0, 0}}};
  EXPECT_EQ(summarize(samples).stages[0].share, 0);
}

}  // namespace
}  // namespace vivace::result
