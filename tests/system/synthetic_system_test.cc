// The synthetic system: each parameter does exactly what its definition says, and the percentiles
// that are computed from the definition are those of what comes out.
#include "system/synthetic_system.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <gmock/gmock.h>

#include "core/random.h"
#include "platform/clock.h"

namespace vivace::system {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SyntheticSpec spec_of(const std::string& text) {
  auto spec = parse_synthetic(text);
  EXPECT_TRUE(spec) << text << ": " << (spec ? "" : spec.error().message);
  return spec.value_or(SyntheticSpec{});
}

SyntheticSystem simulated(const std::string& text, std::uint64_t seed = 0) {
  return {spec_of(text + ",clock=virtual"), seed, 1};
}

/// The latency of the next request by the system's own clock.
std::int64_t next(SyntheticSystem& system, Recorder* recorder = nullptr) {
  Recorder own;
  EXPECT_TRUE(system.prepare());
  const std::int64_t start_ns = system.now_ns();
  EXPECT_TRUE(system.run(recorder != nullptr ? *recorder : own));
  const std::int64_t latency_ns = system.now_ns() - start_ns;
  EXPECT_TRUE(system.finish());
  return latency_ns;
}

std::vector<std::int64_t> series(const std::string& text, int count, std::uint64_t seed = 0) {
  SyntheticSystem system = simulated(text, seed);
  std::vector<std::int64_t> latencies(static_cast<std::size_t>(count));
  for (std::int64_t& latency_ns : latencies) latency_ns = next(system);
  return latencies;
}

/// The true percentile, which these systems have.
double quantile_of(const SyntheticSpec& spec, double p) {
  const auto quantile_ns = true_quantile_ns(spec, p);
  EXPECT_TRUE(quantile_ns);
  return quantile_ns.value_or(0);
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string refusal(const std::string& text) {
  const auto spec = parse_synthetic(text);
  if (spec) return "accepted";
  EXPECT_EQ(spec.error().code, ErrorCode::kUsage);
  return spec.error().message;
}

TEST(ParseSynthetic, ReadsEveryParameter) {
  const SyntheticSpec spec = spec_of(
      "mean=10ms,noise=3%,autocorrelation=0.5,tail=1%x10,modes=30%x1.2,period=100x5,drift=5%,"
      "step=20%@250,warmup=300%@30,queue=70%,stages=decode:30%+context_encode:70%,async=80%,"
      "clock=virtual,seed=7");
  EXPECT_EQ(spec.mean_ns, 10'000'000);
  EXPECT_DOUBLE_EQ(spec.noise, 0.03);
  EXPECT_DOUBLE_EQ(spec.autocorrelation, 0.5);
  ASSERT_EQ(spec.mixed.size(), 2U);
  EXPECT_DOUBLE_EQ(spec.mixed[0].share, 0.01);
  EXPECT_DOUBLE_EQ(spec.mixed[0].factor, 10);
  EXPECT_DOUBLE_EQ(spec.mixed[1].share, 0.3);
  EXPECT_DOUBLE_EQ(spec.mixed[1].factor, 1.2);
  EXPECT_EQ(spec.period, 100);
  EXPECT_DOUBLE_EQ(spec.period_factor, 5);
  EXPECT_DOUBLE_EQ(spec.drift, 0.05);
  EXPECT_DOUBLE_EQ(spec.step, 0.2);
  EXPECT_EQ(spec.step_at, 250);
  EXPECT_DOUBLE_EQ(spec.warm_up, 3);
  EXPECT_EQ(spec.warm_up_until, 30);
  EXPECT_DOUBLE_EQ(spec.queue, 0.7);
  EXPECT_THAT(spec.stages, ElementsAre(testing::Pair(Stage::kDecode, 0.3),
                                       testing::Pair(Stage::kContextEncode, 0.7)));
  EXPECT_DOUBLE_EQ(spec.async, 0.8);
  EXPECT_TRUE(spec.virtual_clock);
  EXPECT_EQ(spec.seed, 7U);
  EXPECT_EQ(spec_of("").mean_ns, 1'000'000);
  EXPECT_FALSE(spec_of("mean=2s").virtual_clock);
}

TEST(ParseSynthetic, SaysWhatIsWrong) {
  EXPECT_THAT(refusal("nois=3%"), HasSubstr("did you mean noise?"));
  EXPECT_THAT(refusal("mean=1ms,colour=red"), HasSubstr("\"colour\""));
  EXPECT_THAT(refusal("mean=1ms,mean=2ms"), HasSubstr("each parameter once"));
  EXPECT_THAT(refusal("mean"), HasSubstr("PARAMETER=VALUE"));
  EXPECT_THAT(refusal("mean="), HasSubstr("PARAMETER=VALUE"));
  EXPECT_THAT(refusal("mean=1ms,"), HasSubstr("no parameter"));
  EXPECT_THAT(refusal("mean=10"), HasSubstr("mean=10ms"));
  EXPECT_THAT(refusal("mean=0ms"), HasSubstr("mean=10ms"));
  EXPECT_THAT(refusal("noise=101%"), HasSubstr("at most 100%"));
  EXPECT_THAT(refusal("autocorrelation=1"), HasSubstr("at most 99%"));
  EXPECT_THAT(refusal("queue=99%"), HasSubstr("at most 95%"));
  EXPECT_THAT(refusal("async=100%"), HasSubstr("at most 99%"));
  EXPECT_THAT(refusal("tail=1%"), HasSubstr("1%x10"));
  EXPECT_THAT(refusal("tail=1%x-1"), HasSubstr("1%x10"));
  EXPECT_THAT(refusal("tail=1%xnan"), HasSubstr("1%x10"));
  EXPECT_THAT(refusal("modes=200%x2"), HasSubstr("1%x10"));
  EXPECT_THAT(refusal("period=1x5"), HasSubstr("100x5"));
  EXPECT_THAT(refusal("period=100"), HasSubstr("100x5"));
  EXPECT_THAT(refusal("step=20%"), HasSubstr("20%@100"));
  EXPECT_THAT(refusal("warmup=20%@-1"), HasSubstr("20%@100"));
  EXPECT_THAT(refusal("step=1e9@1"), HasSubstr("20%@100"));
  EXPECT_THAT(refusal("stages=decode:30%"), HasSubstr("add up to 100%"));
  EXPECT_THAT(refusal("stages=denoise:100%"), HasSubstr("context_encode:70%"));
  EXPECT_THAT(refusal("stages=unattributed:100%"), HasSubstr("context_encode:70%"));
  EXPECT_THAT(refusal("stages=decode"), HasSubstr("context_encode:70%"));
  EXPECT_THAT(refusal("clock=sun"), HasSubstr("clock=virtual"));
  EXPECT_THAT(refusal("seed=-1"), HasSubstr("seed=2"));
  // Nothing that would leave 64 bits of nanoseconds.
  EXPECT_THAT(refusal("mean=2h"), HasSubstr("at most an hour"));
  EXPECT_THAT(refusal("mean=1s,tail=1%x1e300"), HasSubstr("at most an hour"));
  EXPECT_THAT(refusal("mean=1m,tail=1%x50,step=100%@1"), HasSubstr("at most an hour"));
}

TEST(SyntheticSystem, FactorsAreExact) {
  EXPECT_THAT(series("mean=1ms", 3), testing::Each(1'000'000));
  EXPECT_THAT(series("mean=1ms,period=3x5", 6),
              ElementsAre(1'000'000, 1'000'000, 5'000'000, 1'000'000, 1'000'000, 5'000'000));
  EXPECT_THAT(series("mean=1ms,step=25%@2", 4),
              ElementsAre(1'000'000, 1'000'000, 1'250'000, 1'250'000));
  EXPECT_THAT(series("mean=1ms,warmup=300%@2", 4),
              ElementsAre(4'000'000, 4'000'000, 1'000'000, 1'000'000));
  const auto drifting = series("mean=1ms,drift=10%", 501);
  EXPECT_EQ(drifting.front(), 1'000'000);
  EXPECT_EQ(drifting[250], 1'050'000);
  EXPECT_EQ(drifting.back(), 1'100'000);
  EXPECT_THAT(series("mean=1ms,tail=100%x10,modes=100%x0.5", 3), testing::Each(5'000'000));
}

TEST(SyntheticSystem, SharesAreDrawnIndependently) {
  const auto latencies = series("mean=1ms,tail=10%x10,modes=30%x1.5", 20'000);
  const auto count = [&](std::int64_t latency_ns) {
    return static_cast<double>(std::count(latencies.begin(), latencies.end(), latency_ns));
  };
  const auto expect_share = [&](std::int64_t latency_ns, double share) {
    EXPECT_NEAR(count(latency_ns), 20'000 * share, 5 * std::sqrt(20'000 * share * (1 - share)));
  };
  expect_share(1'000'000, 0.9 * 0.7);
  expect_share(10'000'000, 0.1 * 0.7);
  expect_share(1'500'000, 0.9 * 0.3);
  expect_share(15'000'000, 0.1 * 0.3);
}

TEST(SyntheticSystem, NoiseIsLogNormalWithTheMeanAndTheDependence) {
  constexpr int kCount = 40'000;
  std::vector<double> logs;
  std::vector<double> plain;
  for (const std::int64_t latency_ns : series("mean=10ms,noise=10%,autocorrelation=0.6", kCount)) {
    logs.push_back(std::log(static_cast<double>(latency_ns) / 10e6));
    plain.push_back(static_cast<double>(latency_ns) / 10e6);
  }
  // Of a mean of dependent noise the standard error is sqrt((1+r)/(1-r)) = 2 times as large.
  const double error = 2 * 0.1 / std::sqrt(kCount);
  EXPECT_NEAR(mean_of(plain), 1, 5 * error);
  const double centre = mean_of(logs);
  EXPECT_NEAR(centre, -0.1 * 0.1 / 2, 5 * error);
  double square = 0;
  double next_square = 0;
  for (std::size_t i = 0; i + 1 < logs.size(); ++i) {
    square += (logs[i] - centre) * (logs[i] - centre);
    next_square += (logs[i] - centre) * (logs[i + 1] - centre);
  }
  EXPECT_NEAR(std::sqrt(square / kCount), 0.1, 0.003);
  EXPECT_NEAR(next_square / square, 0.6, 0.03);
}

TEST(SyntheticSystem, TheSameSeriesEverywhereForASeed) {
  const std::string text = "mean=10ms,noise=5%,tail=5%x4";
  EXPECT_EQ(series(text, 100, 3), series(text, 100, 3));
  EXPECT_NE(series(text, 100, 3), series(text, 100, 4));
  EXPECT_NE(series(text, 100, 3), series(text + ",seed=1", 100, 3));
  // Pinned: the generator and its functions are the same on every machine.
  EXPECT_THAT(series("mean=10ms,noise=5%", 3), ElementsAre(9'681'218, 9'439'193, 10'305'705));
}

TEST(SyntheticSystem, TruePercentilesAreThoseOfTheSeries) {
  constexpr int kCount = 20'000;
  for (const char* text :
       {"mean=10ms,noise=3%", "mean=1ms,noise=5%,tail=2%x10", "mean=10ms,noise=2%,modes=30%x1.3",
        "mean=5ms,noise=10%,tail=1%x5,period=50x3", "mean=5ms,noise=50%,async=80%",
        "mean=7ms,noise=4%,warmup=200%@20"}) {
    const SyntheticSpec spec = spec_of(text);
    const auto latencies = series(text, kCount);
    for (const double p : {0.05, 0.5, 0.9, 0.95, 0.99}) {
      const double quantile = quantile_of(spec, p);
      const auto below = std::count_if(
          latencies.begin(), latencies.end(),
          [&](std::int64_t latency_ns) { return static_cast<double>(latency_ns) <= quantile; });
      // A request of the warm-up or of the period may lie on the wrong side.
      EXPECT_NEAR(static_cast<double>(below), kCount * p,
                  20 + 4.5 * std::sqrt(kCount * p * (1 - p)))
          << text << " p " << p;
    }
  }
}

TEST(SyntheticSystem, TruePercentilesInClosedForm) {
  const SyntheticSpec smooth = spec_of("mean=10ms,noise=20%");
  EXPECT_NEAR(quantile_of(smooth, 0.5), 10e6 * std::exp(-0.02), 1);
  EXPECT_NEAR(quantile_of(smooth, 0.99), 10e6 * std::exp(-0.02 + 0.2 * normal_quantile(0.99)), 10);
  const SyntheticSpec steps = spec_of("mean=1ms,tail=1%x10");
  EXPECT_NEAR(quantile_of(steps, 0.5), 1e6, 1);
  EXPECT_NEAR(quantile_of(steps, 0.985), 1e6, 1);
  EXPECT_NEAR(quantile_of(steps, 0.995), 10e6, 1);
  for (const char* text : {"drift=1%", "step=1%@5", "queue=50%"}) {
    EXPECT_FALSE(true_quantile_ns(spec_of(text), 0.5)) << text;
  }
  EXPECT_FALSE(true_quantile_ns(smooth, 0));
  EXPECT_FALSE(true_quantile_ns(smooth, 1));
  EXPECT_NEAR(mean_service_ns(spec_of("mean=1ms,tail=1%x10,period=4x3")), 1e6 * 1.09 * 1.5, 1);
}

TEST(SyntheticSystem, StagesAddUpToTheLatency) {
  SyntheticSystem system =
      simulated("mean=1ms,noise=30%,stages=read:12.5%+decode:20%+context_encode:67.5%");
  for (int i = 0; i < 200; ++i) {
    Recorder recorder;
    const std::int64_t latency_ns = next(system, &recorder);
    const auto time = [&](Stage stage) {
      return static_cast<double>(recorder.times()[static_cast<std::size_t>(stage)]);
    };
    ASSERT_EQ(recorder.sum_ns(), latency_ns);
    const auto whole = static_cast<double>(latency_ns);
    EXPECT_NEAR(time(Stage::kRead), 0.125 * whole, 1);
    EXPECT_NEAR(time(Stage::kDecode), 0.2 * whole, 1);
    EXPECT_NEAR(time(Stage::kContextEncode), 0.675 * whole, 1);
  }
  // No stage is negative, however short the request.
  SyntheticSystem shortest = simulated("mean=1ns,stages=read:50%+decode:50%+context_encode:0%");
  Recorder recorder;
  EXPECT_EQ(next(shortest, &recorder), 1);
  EXPECT_THAT(recorder.times(), testing::Each(testing::Ge(0)));
}

TEST(SyntheticSystem, AnAsynchronousCallLeavesWorkToSync) {
  SyntheticSystem system = simulated("mean=1ms,async=80%");
  EXPECT_EQ(system.completion(), Completion::kSync);
  EXPECT_EQ(next(system), 200'000);
  const std::int64_t before_ns = system.now_ns();
  EXPECT_TRUE(system.sync());
  EXPECT_EQ(system.now_ns() - before_ns, 800'000);
  EXPECT_TRUE(system.sync());
  EXPECT_EQ(system.now_ns() - before_ns, 800'000);
}

TEST(SyntheticSystem, TheQueueIsThatOfPollaczekAndKhinchine) {
  constexpr int kCount = 100'000;
  struct Case {
    const char* text;
    double second_moment;  // E[S^2] / E[S]^2
    double load;
  };
  for (const Case& one : {Case{"mean=1ms,queue=50%", 1, 0.5}, Case{"mean=1ms,queue=80%", 1, 0.8},
                          // E[S^2] = 0.95 + 0.05 * 25 = 2.2, E[S] = 1.2.
                          Case{"mean=1ms,queue=50%,tail=5%x5", 2.2 / 1.44, 0.5}}) {
    SyntheticSystem system = simulated(one.text);
    ASSERT_THAT(system.covariate_names(), ElementsAre("queue_length"));
    const double service_ns = mean_service_ns(spec_of(one.text));
    double waited_ns = 0;
    double found = 0;
    for (int i = 0; i < kCount; ++i) {
      Recorder recorder;
      (void)next(system, &recorder);
      waited_ns += static_cast<double>(recorder.times()[static_cast<std::size_t>(Stage::kQueue)]);
      found += system.covariates()[0];
      // A request waits if and only if it finds another.
      ASSERT_EQ(recorder.times()[static_cast<std::size_t>(Stage::kQueue)] > 0,
                system.covariates()[0] > 0);
    }
    const double expected_ns = one.load * service_ns * one.second_moment / (2 * (1 - one.load));
    EXPECT_NEAR(waited_ns / kCount / expected_ns, 1, 0.08) << one.text;
    // Arrivals see what is there on average: L = lambda (W + S).
    const double length = one.load * (expected_ns / service_ns + 1);
    EXPECT_NEAR(found / kCount / length, 1, 0.08) << one.text;
  }
  EXPECT_TRUE(simulated("mean=1ms").covariate_names().empty());
}

TEST(SyntheticSystem, TheRealClockIsNeverEarly) {
  // Below and above the length from which it sleeps.
  for (const char* text : {"mean=200us", "mean=3ms"}) {
    SyntheticSystem system(spec_of(text), 0, 4);
    EXPECT_FALSE(system.simulated());
    EXPECT_EQ(system.items_per_run(), 4);
    Recorder recorder;
    const std::int64_t start_ns = platform::now_ns();
    const std::int64_t latency_ns = next(system, &recorder);
    EXPECT_GE(platform::now_ns() - start_ns, latency_ns);
    EXPECT_GE(latency_ns, spec_of(text).mean_ns);
    EXPECT_GE(latency_ns, recorder.sum_ns());
    EXPECT_GE(recorder.sum_ns(), spec_of(text).mean_ns);
  }
  EXPECT_TRUE(simulated("mean=1ms").simulated());
}

}  // namespace
}  // namespace vivace::system
