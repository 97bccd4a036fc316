// From measurement to document: the figures, the caveats when due and only then, and the way
// through JSON and back.
#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "load/fake_system.h"
#include "load/measure.h"

namespace vivace::load {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::int64_t>& column(Measurement& measurement, Stage stage) {
  for (auto& one : measurement.samples.stages) {
    if (one.stage == stage) return one.times_ns;
  }
  throw std::logic_error("no such stage");
}

/// A calm machine, and `count` samples of 1.00 to 1.09 ms whose stages leave 1% over.
Measurement calm(int count) {
  Measurement measurement;
  measurement.clock = {1, 25};
  measurement.usage_cost_ns = 1234.4;
  measurement.before.steal_ticks = 100;
  measurement.before.total_ticks = 10'000;
  measurement.after.steal_ticks = 100;
  measurement.after.total_ticks = 20'000;
  measurement.first_inference_ns = 5'000'000;
  measurement.warm_up.discarded = measurement.warm_up.fixed = 20;
  auto& samples = measurement.samples;
  samples.stages = {{Stage::kDecode, {}}, {Stage::kContextEncode, {}}, {Stage::kUnattributed, {}}};
  samples.covariates = {{"cpu_time_ns", {}}, {"throttled_us", {}}, {"major_faults", {}}};
  for (int i = 0; i < count; ++i) {
    // Scattered, so that neighbours do not resemble each other.
    const std::int64_t latency_ns = 1'000'000 + i * 7 % 10 * 10'000;
    samples.latency_ns.push_back(latency_ns);
    samples.start_ns.push_back(i * 2'000'000);
    samples.stages[0].times_ns.push_back(latency_ns / 4);
    samples.stages[1].times_ns.push_back(latency_ns - latency_ns / 100 - latency_ns / 4);
    samples.stages[2].times_ns.push_back(latency_ns / 100);
    samples.covariates[0].values.push_back(static_cast<double>(latency_ns) / 2);
    for (std::size_t c : {1, 2}) samples.covariates[c].values.push_back(0);
  }
  return measurement;
}

result::Document document_of(const Measurement& measurement) {
  result::Document document;
  document.created = "2026-01-31T12:00:00Z";
  const std::vector<stats::Probability> percentiles = {stats::Probability(50, 100),
                                                       stats::Probability(99, 100)};
  fill_document(measurement, 777, percentiles, stats::Probability(95, 100), document);
  return document;
}

std::set<std::string> caveats_of(const Measurement& measurement) {
  std::set<std::string> ids;
  for (const result::Caveat& caveat : document_of(measurement).caveats) {
    EXPECT_TRUE(ids.insert(caveat.id).second) << caveat.id << " twice";
    EXPECT_FALSE(caveat.message.empty()) << caveat.id;
    EXPECT_FALSE(caveat.advice.empty()) << caveat.id << " says what to do";
  }
  return ids;
}

TEST(Document, HoldsWhatWasMeasured) {
  Measurement measurement = calm(200);
  measurement.items_per_run = 4;
  const result::Document document = document_of(measurement);
  EXPECT_EQ(document.clock.resolution_ns, 1);
  EXPECT_EQ(document.clock.cost_ns, 25);
  EXPECT_EQ(document.phases.cold_start.load_ns, 777);
  EXPECT_EQ(document.phases.cold_start.first_inference_ns, 5'000'000);
  EXPECT_EQ(document.phases.warm_up.discarded, 20);
  EXPECT_EQ(document.phases.sampling.count, 200);
  EXPECT_EQ(document.phases.sampling.stop_reason, "samples");
  ASSERT_EQ(document.samples.latency_ns.size(), 200U);
  EXPECT_EQ(document.samples.latency_ns[3], 1'010'000) << "in the order they were taken";
  ASSERT_TRUE(document.summary);
  EXPECT_EQ(document.summary->latency.n, 200);
  EXPECT_EQ(document.summary->latency.min_ns, 1'000'000);
  EXPECT_EQ(document.summary->latency.max_ns, 1'090'000);
  EXPECT_EQ(document.summary->latency.mean_ns, 1'045'000);
  ASSERT_EQ(document.summary->latency.percentiles.size(), 2U);
  EXPECT_EQ(document.summary->latency.percentiles[0].value_ns, 1'040'000);
  EXPECT_EQ(document.summary->latency.percentiles[1].value_ns, 1'090'000);
  // 200 requests of 4 items in 200 x 1.045 ms.
  EXPECT_NEAR(document.summary->throughput_per_s.value(), 800 / 0.209, 1e-6);
  ASSERT_TRUE(document.summary->steadiness);
  EXPECT_EQ(document.summary->steadiness->name, "steady");
}

TEST(Document, ThroughputHasAnInterval) {
  Measurement measurement = calm(1000);
  measurement.items_per_run = 4;
  const std::uint64_t key = stream_key(3, "latencies");
  // Even between 1 and 2 ms: the mean's standard deviation is 1 ms / sqrt(12 x 1000) = 9.1 us.
  for (std::size_t i = 0; i < 1000; ++i) {
    measurement.samples.latency_ns[i] =
        1'000'000 + static_cast<std::int64_t>(random_bits(key, i) % 1'000'001);
  }
  const result::Summary summary = document_of(measurement).summary.value();
  const double low = summary.throughput_ci_low.value();
  const double high = summary.throughput_ci_high.value();
  EXPECT_LT(low, summary.throughput_per_s.value());
  EXPECT_GT(high, summary.throughput_per_s.value());
  // Two-sided 95% of 20 batches: their scatter is known to a third or so.
  const double half_width = (4e9 / low - 4e9 / high) / 2;
  EXPECT_GT(half_width, 1.96 * 9'100 / 2);
  EXPECT_LT(half_width, 1.96 * 9'100 * 2);
}

TEST(Document, StagesAreThoseThatRanAndAddUp) {
  const result::Document document = document_of(calm(150));
  std::vector<Stage> stages;
  for (const result::StageSamples& stage : document.samples.stages) {
    stages.push_back(stage.stage);
    EXPECT_EQ(stage.times_ns.size(), 150U);
  }
  EXPECT_THAT(stages, ElementsAre(Stage::kDecode, Stage::kContextEncode, Stage::kUnattributed));
  for (std::size_t i = 0; i < 150; ++i) {
    std::int64_t sum = 0;
    for (const result::StageSamples& stage : document.samples.stages) sum += stage.times_ns[i];
    EXPECT_EQ(sum, document.samples.latency_ns[i]);
  }
  double share = 0;
  for (const result::StageSummary& stage : document.summary->stages) share += stage.share;
  EXPECT_NEAR(share, 1, 1e-9);
}

TEST(Caveats, ACalmRunHasNone) {
  EXPECT_THAT(caveats_of(calm(100)), IsEmpty());
  EXPECT_THAT(caveats_of(calm(1000)), IsEmpty());
}

TEST(Caveats, FewSamplesAreMarkedBelowAHundred) {
  EXPECT_THAT(caveats_of(calm(99)), ElementsAre("sampling.few"));
  EXPECT_THAT(caveats_of(calm(1)), testing::Contains("sampling.few"));
  EXPECT_THAT(caveats_of(calm(100)), IsEmpty());
}

TEST(Caveats, TheTimeLimitIsMarked) {
  Measurement measurement = calm(150);
  measurement.stop_reason = StopReason::kDuration;
  EXPECT_THAT(caveats_of(measurement), ElementsAre("sampling.duration"));
  EXPECT_EQ(document_of(measurement).phases.sampling.stop_reason, "duration");
  measurement = calm(50);
  measurement.stop_reason = StopReason::kDuration;
  EXPECT_THAT(caveats_of(measurement), UnorderedElementsAre("sampling.duration", "sampling.few"));
}

TEST(Caveats, AnInterruptionIsMarkedAndTheDocumentKept) {
  Measurement measurement = calm(150);
  measurement.stop_reason = StopReason::kInterrupted;
  EXPECT_THAT(caveats_of(measurement), ElementsAre("sampling.interrupted"));
  EXPECT_EQ(document_of(measurement).phases.sampling.stop_reason, "interrupted");
  EXPECT_TRUE(document_of(measurement).summary);
  measurement.samples = {};
  const result::Document empty = document_of(measurement);
  EXPECT_FALSE(empty.summary) << "no figure is made up";
  EXPECT_EQ(empty.phases.sampling.count, 0);
  EXPECT_THAT(caveats_of(measurement),
              UnorderedElementsAre("sampling.interrupted", "sampling.few"));
}

TEST(Caveats, EachConditionOfTheMachineHasItsOwn) {
  struct Row {
    const char* id;
    std::function<void(Measurement&)> below;
    std::function<void(Measurement&)> above;
  };
  const Row rows[] = {
      {"environment.busy", [](Measurement& m) { m.others_busy_share = 0.10; },
       [](Measurement& m) { m.others_busy_share = 0.11; }},
      {"environment.steal", [](Measurement& m) { m.after.steal_ticks = 300; },
       [](Measurement& m) { m.after.steal_ticks = 301; }},
      {"environment.memory_pressure", [](Measurement& m) { m.before.memory_pressure_pct = 1.0; },
       [](Measurement& m) { m.before.memory_pressure_pct = 1.5; }},
      {"clock.coarse", [](Measurement& m) { m.clock.cost_ns = 25'000; },
       [](Measurement& m) { m.clock.cost_ns = 25'001; }},
      {"stages.unattributed", [](Measurement&) {},
       [](Measurement& m) {
         for (auto& time : column(m, Stage::kUnattributed)) time += 20'000;
         for (auto& time : column(m, Stage::kDecode)) time -= 20'000;
       }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.id);
    Measurement measurement = calm(150);
    row.below(measurement);
    EXPECT_THAT(caveats_of(measurement), IsEmpty()) << row.id;
    row.above(measurement);
    EXPECT_THAT(caveats_of(measurement), ElementsAre(row.id));
  }
}

TEST(Caveats, WhatTheSamplesThemselvesShow) {
  Measurement throttled = calm(150);
  for (std::size_t i = 0; i < 3; ++i) throttled.samples.covariates[1].values[50 * i] = 40'000;
  EXPECT_THAT(caveats_of(throttled), ElementsAre("environment.throttled"));

  Measurement paging = calm(150);
  for (std::size_t i = 0; i < 10; ++i) paging.samples.covariates[2].values[i] = 1;
  EXPECT_THAT(caveats_of(paging), ElementsAre("environment.major_faults"));

  Measurement unsettled = calm(150);
  unsettled.warm_up.steady = false;
  EXPECT_THAT(caveats_of(unsettled), ElementsAre("warm_up.no_steady_state"));

  Measurement early = calm(150);
  early.completion = {.checked = true,
                      .asynchronous = true,
                      .excess_share = 0.5,
                      .runs = 20,
                      .by = system::Completion::kSync};
  EXPECT_THAT(caveats_of(early), ElementsAre("async_system"));

  Measurement unchecked = calm(150);
  unchecked.completion.by = system::Completion::kCpuTime;
  EXPECT_THAT(caveats_of(unchecked), ElementsAre("completion.unchecked"));
}

TEST(Caveats, UnsteadySamplesSaySo) {
  Measurement step = calm(300);
  for (std::size_t i = 200; i < 300; ++i) step.samples.latency_ns[i] += 500'000;
  EXPECT_THAT(caveats_of(step), testing::Contains("steadiness.slow-down"));
  const auto steadiness = document_of(step).summary->steadiness;
  EXPECT_EQ(steadiness->change_points, (std::vector<std::int64_t>{200}));
  EXPECT_EQ(steadiness->segment_medians_ns.size(), 2U);
}

TEST(Caveats, ADriftAndTwoModesAreTold) {
  Measurement drift = calm(500);
  for (std::size_t i = 0; i < 500; ++i) {
    drift.samples.latency_ns[i] += 400 * static_cast<std::int64_t>(i);
  }
  EXPECT_THAT(caveats_of(drift), testing::Contains("steadiness.drifting"));
  EXPECT_GT(document_of(drift).summary->steadiness->trend_change.value(), 0.1);

  // A third of the samples takes half as long again, without any order.
  Measurement modes = calm(600);
  for (std::size_t i = 0; i < 600; ++i) {
    if (i * 7919 % 600 < 200) modes.samples.latency_ns[i] += 500'000;
  }
  EXPECT_THAT(caveats_of(modes), testing::Contains("steadiness.multimodal"));
  const auto steadiness = document_of(modes).summary->steadiness;
  EXPECT_TRUE(steadiness->bimodal);
  EXPECT_NEAR(static_cast<double>(steadiness->lower_mode_ns.value()), 1'045'000, 10'000);
  EXPECT_NEAR(static_cast<double>(steadiness->upper_mode_ns.value()), 1'545'000, 10'000);
  EXPECT_NEAR(steadiness->upper_share.value(), 1.0 / 3, 0.02);
}

TEST(Document, ASimulatedSystemSaysNothingOfTheMachine) {
  Measurement measurement = calm(150);
  measurement.simulated = true;
  measurement.others_busy_share = 1;
  measurement.clock.cost_ns = 1'000'000;
  EXPECT_THAT(caveats_of(measurement), IsEmpty());
  EXPECT_FALSE(document_of(measurement).clock.covariates_cost_ns);
}

TEST(Document, GoesThroughJsonAndBack) {
  for (const int count : {0, 1, 50, 150}) {
    Measurement measurement = calm(count);
    measurement.stop_reason = StopReason::kDuration;
    const result::Document document = document_of(measurement);
    const Json json = result::to_json(document);
    const auto parsed = parse_json(write_json(json));
    ASSERT_TRUE(parsed) << parsed.error().message;
    const auto back = result::from_json(*parsed);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(write_json(result::to_json(*back)), write_json(json)) << count << " samples";
    EXPECT_EQ(back->samples.latency_ns, document.samples.latency_ns);
    EXPECT_EQ(back->caveats.size(), document.caveats.size());
  }
}

TEST(Document, OfARealRunIsWhole) {
  test::FakeSystem system;
  system.busy_ns = 20'000;
  system.stamps = {{Stage::kPredict, 10'000}};
  const auto measured =
      measure(system, {.warm_up = 1, .samples = 120, .duration_ns = 60'000'000'000}, {});
  ASSERT_TRUE(measured);
  const result::Document document = document_of(*measured);
  ASSERT_TRUE(document.summary);
  EXPECT_EQ(document.summary->latency.n, 120);
  EXPECT_GE(document.summary->latency.min_ns, 20'000);
  const auto back = result::from_json(parse_json(write_json(result::to_json(document))).value());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->samples.latency_ns, document.samples.latency_ns);
}

TEST(Document, TellsWhatTheLoopFound) {
  test::FakeSystem early;
  early.simulate([](int run) { return 1'000'000 + run * 7 % 10; });
  early.left_ns = 500'000;
  const MeasurePlan plan{.warm_up = 20, .samples = 300, .duration_ns = 60'000'000'000};
  EXPECT_THAT(caveats_of(measure(early, plan, {}).value()), ElementsAre("async_system"));

  test::FakeSystem unsettled;
  unsettled.simulate([](int run) { return 3'000'000 - 5'000 * run; });
  EXPECT_THAT(caveats_of(measure(unsettled, plan, {}).value()),
              testing::IsSupersetOf({"warm_up.no_steady_state", "steadiness.drifting"}));
}

}  // namespace
}  // namespace vivace::load
