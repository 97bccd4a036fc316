// The measuring loop against a system of known behaviour.
#include "load/measure.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "load/fake_system.h"

namespace vivace::load {
namespace {

using test::FakeSystem;

constexpr std::int64_t kMinute = 60'000'000'000;

const std::vector<double>& covariate(const result::Samples& samples, std::string_view name) {
  static const std::vector<double> none;
  for (const auto& one : samples.covariates) {
    if (one.name == name) return one.values;
  }
  ADD_FAILURE() << "no covariate " << name;
  return none;
}

TEST(Measure, CountsAreThoseOfThePlan) {
  FakeSystem system;
  system.items = 4;
  const auto measured = measure(system, {.warm_up = 12, .samples = 30, .duration_ns = kMinute}, {});
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(system.runs, 42);
  EXPECT_EQ(measured->warm_up.discarded, 12);
  EXPECT_EQ(measured->warm_up.latency_ns.size(), 12U);
  EXPECT_EQ(measured->samples.latency_ns.size(), 30U);
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
  const result::Samples& samples = measured->samples;
  std::int64_t last_end_ns = -1;
  for (std::size_t i = 0; i < samples.latency_ns.size(); ++i) {
    EXPECT_GE(samples.latency_ns[i], 200'000);
    EXPECT_GT(samples.start_ns[i], last_end_ns) << "one at a time";
    last_end_ns = samples.start_ns[i] + samples.latency_ns[i];
  }
  EXPECT_EQ(samples.start_ns[0], 0);
  for (const double cpu_ns : covariate(samples, "cpu_time_ns")) EXPECT_GT(cpu_ns, 0) << "it spun";
  for (const double cpu : covariate(samples, "cpu")) EXPECT_GE(cpu, 0);
  for (const double probe_ns : covariate(samples, "spin_probe_ns")) EXPECT_GT(probe_ns, 0);
}

TEST(Measure, StagesAddUpToTheLatencyExactly) {
  FakeSystem system;
  system.busy_ns = 50'000;
  system.stamps = {{Stage::kDecode, 10'000}, {Stage::kContextEncode, 25'000}};
  const auto measured = measure(system, {.warm_up = 1, .samples = 10, .duration_ns = kMinute}, {});
  ASSERT_TRUE(measured);
  const result::Samples& samples = measured->samples;
  ASSERT_EQ(samples.stages.size(), 3U);
  for (std::size_t i = 0; i < samples.latency_ns.size(); ++i) {
    EXPECT_EQ(samples.stages[0].times_ns[i], 10'000) << "of this request alone";
    EXPECT_EQ(samples.stages[1].times_ns[i], 25'000);
    EXPECT_EQ(samples.stages[2].stage, Stage::kUnattributed);
    EXPECT_EQ(samples.stages[2].times_ns[i], samples.latency_ns[i] - 35'000);
  }
}

TEST(Measure, TheTimeLimitEndsTheSampling) {
  FakeSystem system;
  system.busy_ns = 2'000'000;
  const auto measured =
      measure(system, {.warm_up = 1, .samples = 1'000'000, .duration_ns = 20'000'000}, {});
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->stop_reason, StopReason::kDuration);
  EXPECT_GE(measured->samples.latency_ns.size(), 1U);
  EXPECT_LE(measured->samples.latency_ns.size(), 10U) << "20 ms hold no more than ten of 2 ms";
  EXPECT_EQ(static_cast<int>(measured->samples.latency_ns.size()) + 1, system.runs);
}

TEST(Measure, OneSampleIsAlwaysTaken) {
  FakeSystem system;
  const auto measured = measure(system, {.warm_up = 1, .samples = 5, .duration_ns = 0}, {});
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->samples.latency_ns.size(), 1U);
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
  EXPECT_EQ(measured->samples.latency_ns.size(), 6U);
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
  EXPECT_EQ(measured->warm_up.discarded, 3);
  EXPECT_TRUE(measured->samples.latency_ns.empty());
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

TEST(Measure, FindsTheRestOfTheWarmUpAndMakesUpForIt) {
  FakeSystem system;
  system.simulate([](int run) { return run <= 80 ? 1'500'000 + run % 3 : 1'000'000 + run % 3; });
  const auto measured =
      measure(system, {.warm_up = 20, .samples = 300, .duration_ns = kMinute}, {});
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->warm_up.fixed, 20);
  EXPECT_EQ(measured->warm_up.discarded, 80);
  EXPECT_EQ(measured->warm_up.latency_ns.size(), 80U);
  EXPECT_EQ(measured->warm_up.steady, true);
  ASSERT_EQ(measured->samples.latency_ns.size(), 300U) << "as many as were asked for";
  EXPECT_EQ(*std::ranges::max_element(measured->samples.latency_ns), 1'000'002);
  EXPECT_EQ(measured->samples.start_ns.front(), 0);
  EXPECT_EQ(system.runs, 380);
}

TEST(Measure, KeepsTheSamplesOfARunThatNeverSettles) {
  FakeSystem system;
  system.simulate([](int run) { return 3'000'000 - 5'000 * run; });
  const auto measured =
      measure(system, {.warm_up = 20, .samples = 300, .duration_ns = kMinute}, {});
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->warm_up.steady, false);
  EXPECT_EQ(measured->warm_up.discarded, 20);
  EXPECT_EQ(measured->samples.latency_ns.size(), 300U);
}

TEST(Measure, StopsOnceTheIntervalIsNarrow) {
  FakeSystem system;
  system.simulate([](int run) { return 1'000'000 + run * 7919 % 1000; });
  MeasurePlan plan{.warm_up = 20, .samples = 100'000, .duration_ns = kMinute};
  plan.width_goal = WidthGoal{.p = stats::Probability(5, 10), .half_width = 0.01};
  const auto measured = measure(system, plan, {});
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->stop_reason, StopReason::kWidth);
  EXPECT_EQ(measured->samples.latency_ns.size(), 100U) << "the first look suffices";
}

TEST(Measure, StopsOnceTheLevelIsDecided) {
  for (const bool slow : {false, true}) {
    FakeSystem system;
    system.simulate([slow](int run) { return slow && run * 7 % 10 < 3 ? 9'000'000 : 1'000'000; });
    MeasurePlan plan{.warm_up = 20, .samples = 100'000, .duration_ns = kMinute};
    plan.verdict_goal = VerdictGoal{.p = stats::Probability(95, 100),
                                    .limit_ns = 5'000'000,
                                    .confidence = stats::Probability(95, 100)};
    const auto measured = measure(system, plan, {});
    ASSERT_TRUE(measured);
    EXPECT_EQ(measured->stop_reason, StopReason::kVerdict);
    EXPECT_LT(measured->samples.latency_ns.size(), 1000U);
  }
}

TEST(Measure, SeveralTakeTurnsInAnOrderThatIsDrawn) {
  FakeSystem a;
  FakeSystem b;
  std::string order;
  a.simulate([&](int) {
    order += 'a';
    return 1'000'000;
  });
  b.simulate([&](int run) {
    order += 'b';
    return run <= 45 ? 2'000'000 : 1'000'000;
  });
  const Subject subjects[] = {{&a, "a"}, {&b, "b"}};
  const auto measured =
      measure_side_by_side(subjects, {.warm_up = 10, .samples = 200, .duration_ns = kMinute}, {});
  ASSERT_TRUE(measured);
  EXPECT_EQ((*measured)[0].samples.latency_ns.size(), 200U);
  EXPECT_EQ((*measured)[1].samples.latency_ns.size(), 200U);
  // The warm-up of one is discarded for both.
  EXPECT_EQ((*measured)[0].warm_up.discarded, 45);
  EXPECT_EQ((*measured)[1].warm_up.discarded, 45);
  int a_first = 0;
  for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
    EXPECT_NE(order[i], order[i + 1]) << "each once a round";
    a_first += order[i] == 'a' ? 1 : 0;
  }
  const int rounds = static_cast<int>(order.size() / 2);
  EXPECT_GT(a_first, rounds / 3);
  EXPECT_LT(a_first, rounds * 2 / 3);
}

TEST(Measure, TheLongestWarmUpIsDiscardedForAllWhoeverHasIt) {
  for (const int slow : {0, 1, 2}) {
    FakeSystem systems[3];
    std::vector<Subject> subjects;
    for (int i = 0; i < 3; ++i) {
      const int end = i == slow ? 75 : 40;
      systems[i].simulate([end](int run) { return run <= end ? 2'000'000 : 1'000'000; });
      subjects.push_back({&systems[i], std::to_string(i)});
    }
    const auto measured =
        measure_side_by_side(subjects, {.warm_up = 10, .samples = 200, .duration_ns = kMinute}, {});
    ASSERT_TRUE(measured);
    for (const Measurement& one : *measured) {
      EXPECT_EQ(one.warm_up.discarded, 75) << slow;
      EXPECT_EQ(one.samples.latency_ns.size(), 200U);
    }
  }
}

TEST(Measure, AnInterruptWithinARoundLeavesWholeRounds) {
  std::atomic<bool> stop = false;
  FakeSystem a;
  FakeSystem b;
  // The first of round 30 is done, and its second is not.
  int begun = 0;
  a.during_run = b.during_run = [&](int run) -> Result<void> {
    if (run == 30) ++begun;
    if (begun < 2) return {};
    stop = true;
    return fail(ErrorCode::kInterrupted, "interrupted");
  };
  const Subject subjects[] = {{&a, "a"}, {&b, "b"}};
  const auto measured =
      measure_side_by_side(subjects, {.warm_up = 10, .samples = 200, .duration_ns = kMinute},
                           {.stop = &stop, .progress = {}});
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ((*measured)[0].stop_reason, StopReason::kInterrupted);
  EXPECT_EQ((*measured)[0].samples.latency_ns.size(), 19U);
  EXPECT_EQ((*measured)[1].samples.latency_ns.size(), 19U);
}

TEST(Measure, AnInterruptWithinTheWarmUpLeavesNoSample) {
  std::atomic<bool> stop = false;
  FakeSystem system;
  system.during_run = [&](int run) -> Result<void> {
    if (run < 5) return {};
    stop = true;
    return fail(ErrorCode::kInterrupted, "interrupted");
  };
  const auto measured = measure(system, {.warm_up = 10, .samples = 200, .duration_ns = kMinute},
                                {.stop = &stop, .progress = {}});
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->stop_reason, StopReason::kInterrupted);
  EXPECT_TRUE(measured->samples.latency_ns.empty());
  EXPECT_EQ(measured->warm_up.discarded, 4);
}

TEST(Measure, FindsWorkThatIsLeftWhenTheCallReturns) {
  for (const std::int64_t left_ns : {0, 40'000, 500'000}) {
    FakeSystem system;
    system.simulate([](int) { return 1'000'000; });
    system.left_ns = left_ns;
    const auto measured =
        measure(system, {.warm_up = 10, .samples = 60, .duration_ns = kMinute}, {});
    ASSERT_TRUE(measured);
    EXPECT_TRUE(measured->completion.checked);
    EXPECT_EQ(measured->completion.asynchronous, left_ns > 50'000) << left_ns;
    EXPECT_EQ(measured->completion.runs, 22);
    EXPECT_EQ(*std::ranges::max_element(measured->samples.latency_ns), 1'000'000)
        << "the check is no part of a latency";
  }
}

TEST(Measure, RecordsWhatTheSystemSaysOfItself) {
  FakeSystem system;
  system.simulate([](int) { return 1'000'000; });
  system.names = {"queue_length"};
  const auto measured = measure(system, {.warm_up = 10, .samples = 20, .duration_ns = kMinute}, {});
  ASSERT_TRUE(measured);
  ASSERT_EQ(measured->samples.covariates.size(), 1U) << "and nothing of the machine";
  EXPECT_EQ(covariate(measured->samples, "queue_length")[3], 14);
}

TEST(Measure, TakesOffWhatIsNotTimed) {
  FakeSystem system;
  system.simulate([](int) { return 1'000'000; });
  system.untimed = 400'000;
  const auto measured = measure(system, {.warm_up = 10, .samples = 20, .duration_ns = kMinute}, {});
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->samples.latency_ns.front(), 600'000);
}

TEST(Measure, SaysNothingOfOurProcessorWhereTheWorkIsElsewhere) {
  FakeSystem system;
  system.here = false;
  const auto measured = measure(system, {.warm_up = 10, .samples = 20, .duration_ns = kMinute}, {});
  ASSERT_TRUE(measured);
  for (const auto& one : measured->samples.covariates) {
    EXPECT_NE(one.name, "cpu");
    EXPECT_NE(one.name, "migrated");
  }
  EXPECT_EQ(covariate(measured->samples, "cpu_time_ns").size(), 20U) << "what it used is read";
}

TEST(MeasureDeathTest, APlanWithoutRunsIsABug) {
  FakeSystem system;
  EXPECT_DEATH((void)measure(system, {.warm_up = 0, .samples = 1, .duration_ns = 1}, {}),
               "warm_up");
}

}  // namespace
}  // namespace vivace::load
