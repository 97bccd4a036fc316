// The measuring loop against a system of known behaviour.
#include "load/measure.h"

#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "load/fake_system.h"

namespace vivace::load {
namespace {

using test::FakeSystem;

constexpr std::int64_t kMinute = 60'000'000'000;

TEST(Measure, CountsAreThoseOfThePlan) {
  FakeSystem system;
  system.items = 4;
  const auto measured = measure(system, {.warm_up = 12, .samples = 30, .duration_ns = kMinute}, {});
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(system.runs, 42);
  EXPECT_EQ(measured->warm_up_done, 12);
  EXPECT_EQ(measured->samples.size(), 30U);
  EXPECT_EQ(measured->stop_reason, StopReason::kSamples);
  EXPECT_EQ(measured->items_per_run, 4);
  // Each request is prepared, run, finished, in this order and never overlapping.
  std::string want;
  for (int i = 0; i < 42; ++i) want += "prf";
  EXPECT_EQ(system.calls, want);
  EXPECT_GT(measured->clock.resolution_ns, 0);
  EXPECT_GT(measured->usage_cost_ns, 0);
  EXPECT_GE(measured->after.total_ticks, measured->before.total_ticks);
}

TEST(Measure, StampsAreOfTheRunAlone) {
  FakeSystem system;
  system.busy_ns = 200'000;
  const auto measured = measure(system, {.warm_up = 2, .samples = 20, .duration_ns = kMinute}, {});
  ASSERT_TRUE(measured);
  EXPECT_GE(measured->first_inference_ns, 200'000);
  std::int64_t last_end_ns = 0;
  for (const Sample& sample : measured->samples) {
    EXPECT_GE(sample.latency_ns(), 200'000);
    EXPECT_EQ(sample.intended_ns, sample.start_ns) << "closed loop";
    EXPECT_GT(sample.start_ns, last_end_ns) << "one at a time";
    last_end_ns = sample.end_ns;
    EXPECT_GT(sample.usage.cpu_ns, 0) << "it spun";
    EXPECT_GE(sample.usage.involuntary_switches, 0);
    EXPECT_GE(sample.cpu_before, 0);
    EXPECT_GE(sample.cpu_after, 0);
  }
}

TEST(Measure, StagesAddUpToTheLatencyExactly) {
  FakeSystem system;
  system.busy_ns = 50'000;
  system.stamps = {{Stage::kDecode, 10'000}, {Stage::kContextEncode, 25'000}};
  const auto measured = measure(system, {.warm_up = 1, .samples = 10, .duration_ns = kMinute}, {});
  ASSERT_TRUE(measured);
  for (const Sample& sample : measured->samples) {
    const auto at = [&](Stage stage) { return sample.stages[static_cast<std::size_t>(stage)]; };
    EXPECT_EQ(at(Stage::kDecode), 10'000) << "of this request alone";
    EXPECT_EQ(at(Stage::kContextEncode), 25'000);
    EXPECT_EQ(at(Stage::kUnattributed), sample.latency_ns() - 35'000);
    EXPECT_EQ(std::accumulate(sample.stages.begin(), sample.stages.end(), std::int64_t{0}),
              sample.latency_ns());
  }
}

TEST(Measure, TheTimeLimitEndsTheSampling) {
  FakeSystem system;
  system.busy_ns = 2'000'000;
  const auto measured =
      measure(system, {.warm_up = 1, .samples = 1'000'000, .duration_ns = 20'000'000}, {});
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->stop_reason, StopReason::kDuration);
  EXPECT_GE(measured->samples.size(), 1U);
  EXPECT_LE(measured->samples.size(), 10U) << "20 ms hold no more than ten of 2 ms";
  EXPECT_EQ(static_cast<int>(measured->samples.size()) + 1, system.runs);
}

TEST(Measure, OneSampleIsAlwaysTaken) {
  FakeSystem system;
  const auto measured = measure(system, {.warm_up = 1, .samples = 5, .duration_ns = 0}, {});
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->samples.size(), 1U);
  EXPECT_EQ(measured->stop_reason, StopReason::kDuration);
}

TEST(Measure, AStopEndsTheRunWithWhatThereIs) {
  // At run 8: two warm-up runs and six samples.
  std::atomic<bool> stop = false;
  FakeSystem system;
  system.during_run = [&](int run) {
    if (run == 8) stop = true;
    return Result<void>();
  };
  const auto measured = measure(system, {.warm_up = 2, .samples = 100, .duration_ns = kMinute},
                                {.stop = &stop, .progress = {}});
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->stop_reason, StopReason::kInterrupted);
  EXPECT_EQ(measured->samples.size(), 6U);
  EXPECT_EQ(system.runs, 8);
}

TEST(Measure, AStopDuringTheWarmUpLeavesNoSample) {
  std::atomic<bool> stop = false;
  FakeSystem system;
  system.during_run = [&](int run) {
    if (run == 3) stop = true;
    return Result<void>();
  };
  const auto measured = measure(system, {.warm_up = 50, .samples = 100, .duration_ns = kMinute},
                                {.stop = &stop, .progress = {}});
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->stop_reason, StopReason::kInterrupted);
  EXPECT_EQ(measured->warm_up_done, 3);
  EXPECT_TRUE(measured->samples.empty());
  EXPECT_EQ(system.runs, 3);
}

TEST(Measure, ErrorsComeThrough) {
  const MeasurePlan plan{.warm_up = 2, .samples = 5, .duration_ns = kMinute};
  for (const int failing : {1, 2, 3, 7}) {
    FakeSystem system;
    system.during_run = [&](int run) -> Result<void> {
      if (run == failing) return fail(ErrorCode::kBadData, "broken picture");
      return {};
    };
    const auto measured = measure(system, plan, {});
    ASSERT_FALSE(measured) << failing;
    EXPECT_EQ(measured.error().code, ErrorCode::kBadData);
    EXPECT_EQ(measured.error().message, "broken picture");
    EXPECT_EQ(system.runs, failing);
  }
  FakeSystem unprepared;
  unprepared.prepared = fail(ErrorCode::kMissingInput, "gone");
  EXPECT_EQ(measure(unprepared, plan, {}).error().code, ErrorCode::kMissingInput);
  EXPECT_EQ(unprepared.runs, 0);
  FakeSystem unfinished;
  unfinished.finished = fail(ErrorCode::kInputOutput, "full");
  EXPECT_EQ(measure(unfinished, plan, {}).error().code, ErrorCode::kInputOutput);
}

TEST(Measure, ProgressIsToldBetweenRequests) {
  FakeSystem system;
  std::vector<std::string> told;
  const auto progress = [&](const char* phase, std::int64_t done, std::int64_t planned,
                            double left_s) {
    EXPECT_EQ(system.calls.back(), 'f') << "never within a request";
    EXPECT_GE(left_s, 0);
    told.push_back(std::string(phase) + " " + std::to_string(done) + "/" + std::to_string(planned));
  };
  ASSERT_TRUE(measure(system, {.warm_up = 3, .samples = 2, .duration_ns = kMinute},
                      {.stop = nullptr, .progress = progress}));
  EXPECT_THAT(told,
              testing::ElementsAre("warm-up 2/3", "warm-up 3/3", "sampling 1/2", "sampling 2/2"));
}

TEST(MeasureDeathTest, APlanWithoutRunsIsABug) {
  FakeSystem system;
  EXPECT_DEATH((void)measure(system, {.warm_up = 0, .samples = 1, .duration_ns = 1}, {}),
               "warm_up");
}

}  // namespace
}  // namespace vivace::load
