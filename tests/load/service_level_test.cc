#include "load/service_level.h"

#include <vector>

#include <gtest/gtest.h>

namespace vivace::load {
namespace {

const stats::Probability k95(95, 100);

TEST(ParseServiceLevel, ReadsPercentileAndLimit) {
  const ServiceLevel level = parse_service_level("p95<30ms").value();
  EXPECT_EQ(level.p, k95);
  EXPECT_EQ(level.limit_ns, 30'000'000);
  EXPECT_EQ(level.text, "p95<30ms");
  EXPECT_EQ(parse_service_level("P99.9 <= 1.5 s")->limit_ns, 1'500'000'000);
  for (const char* wrong : {"", "p95", "p95>30ms", "p95<30", "p0<1ms", "p100<1ms", "95%<1ms",
                            "p95<0ms", "p95<-1ms", "p95<30ms<40ms", "<30ms"}) {
    const auto bad = parse_service_level(wrong);
    ASSERT_FALSE(bad) << wrong;
    EXPECT_EQ(bad.error().code, ErrorCode::kUsage);
    EXPECT_NE(bad.error().message.find("p95<30ms"), std::string::npos);
  }
}

/// `n` samples of 1 ms, each `every`-th of them 9 ms, scattered so that they count as independent.
std::vector<std::int64_t> scattered(int n, int every) {
  std::vector<std::int64_t> samples;
  for (int i = 0; i < n; ++i)
    samples.push_back(every > 0 && i % every == 0 ? 9'000'000 : 1'000'000);
  return samples;
}

TEST(Judge, SaysPassFailAndHowManyMore) {
  const ServiceLevel level = parse_service_level("p95<5ms").value();
  const result::Verdict pass = judge(level, scattered(500, 100), k95);
  EXPECT_EQ(pass.verdict, "pass");
  EXPECT_EQ(pass.over, 5);
  EXPECT_EQ(pass.n, 500);
  EXPECT_FALSE(pass.further_samples);
  EXPECT_NE(pass.message.find("MLPerf"), std::string::npos);
  EXPECT_EQ(judge(level, scattered(500, 5), k95).verdict, "fail");
  const result::Verdict open = judge(level, scattered(40, 0), k95);
  EXPECT_EQ(open.verdict, "inconclusive");
  EXPECT_EQ(open.further_samples, 19) << "59 in all, without any over the limit";
  EXPECT_FALSE(open.advice.empty());
  EXPECT_EQ(judge(level, {}, k95).verdict, "inconclusive");
}

TEST(Judge, TellsMlperfsEstimate) {
  const ServiceLevel level = parse_service_level("p95<5s").value();
  // 1 to 500 ms, in no order. P(Bin(500, 5%) <= 16) = 3.4% and with 17 it is above 5%: MLPerf's
  // figure is the one that 15 samples exceed.
  std::vector<std::int64_t> samples;
  for (std::int64_t i = 0; i < 500; ++i) samples.push_back((i * 7919 % 500 + 1) * 1'000'000);
  const std::string all = judge(level, samples, k95).message;
  EXPECT_TRUE(all.ends_with("; MLPerf's early-stopping estimate of P95 is 485 ms")) << all;
  // A first exceedance is allowed from 93 samples on.
  for (const int n : {92, 93}) {
    const std::string message = judge(level, scattered(n, 0), k95).message;
    EXPECT_EQ(message.find("needs more samples") != std::string::npos, n < 93) << message;
  }
}

TEST(Judge, ALatencyAtTheLimitMeetsIt) {
  const ServiceLevel level = parse_service_level("p95<5ms").value();
  EXPECT_EQ(judge(level, std::vector<std::int64_t>(100, 5'000'000), k95).verdict, "pass");
  EXPECT_EQ(judge(level, std::vector<std::int64_t>(100, 5'000'001), k95).verdict, "fail");
}

TEST(Judge, DependentSamplesCountForLess) {
  // Slow samples in runs of twenty: 5% of 800, but only a few independent stretches.
  std::vector<std::int64_t> samples;
  for (int i = 0; i < 800; ++i) samples.push_back(i % 400 < 10 ? 9'000'000 : 1'000'000 + i % 7);
  const ServiceLevel level = parse_service_level("p95<5ms").value();
  const result::Verdict verdict = judge(level, samples, k95);
  EXPECT_EQ(verdict.over, 20);
  EXPECT_LT(verdict.n_eff, 200);
  EXPECT_EQ(verdict.verdict, "inconclusive") << "800 independent ones would pass";
  EXPECT_NE(verdict.message.find("independent"), std::string::npos);
}

TEST(JudgeAtAnyTime, NeedsMoreThanTheVerdictReadOnce) {
  const ServiceLevel level = parse_service_level("p95<5ms").value();
  EXPECT_EQ(judge(level, scattered(60, 0), k95).verdict, "pass");
  EXPECT_EQ(judge_at_any_time(level, scattered(60, 0), k95).verdict, "inconclusive");
  EXPECT_EQ(judge_at_any_time(level, scattered(300, 0), k95).verdict, "pass");
  EXPECT_EQ(judge_at_any_time(level, scattered(300, 3), k95).verdict, "fail");
}

}  // namespace
}  // namespace vivace::load
