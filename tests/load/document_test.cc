// From measurement to document: the figures, the caveats when due and only then, and the way
// through JSON and back.
#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "load/fake_system.h"
#include "load/measure.h"

namespace vivace::load {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::size_t index(Stage stage) { return static_cast<std::size_t>(stage); }

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
  measurement.warm_up_done = 20;
  for (int i = 0; i < count; ++i) {
    Sample sample;
    const std::int64_t latency_ns = 1'000'000 + i % 10 * 10'000;
    sample.start_ns = sample.intended_ns = i * 2'000'000;
    sample.end_ns = sample.start_ns + latency_ns;
    sample.stages[index(Stage::kUnattributed)] = latency_ns / 100;
    sample.stages[index(Stage::kDecode)] = latency_ns / 4;
    sample.stages[index(Stage::kContextEncode)] = latency_ns - latency_ns / 100 - latency_ns / 4;
    sample.usage.cpu_ns = latency_ns / 2;
    sample.usage.involuntary_switches = i % 3;
    sample.cpu_before = 0;
    sample.cpu_after = i % 2;
    measurement.samples.push_back(sample);
  }
  return measurement;
}

result::Document document_of(const Measurement& measurement) {
  result::Document document;
  document.created = "2026-01-31T12:00:00Z";
  const std::vector<stats::Probability> percentiles = {stats::Probability(50, 100),
                                                       stats::Probability(99, 100)};
  fill_document(measurement, 777, percentiles, document);
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
  EXPECT_EQ(document.samples.latency_ns[3], 1'030'000) << "in the order they were taken";
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

TEST(Document, UnattributedIsShownEvenWhenThereIsNone) {
  Measurement measurement = calm(150);
  for (Sample& sample : measurement.samples) {
    sample.stages[index(Stage::kDecode)] += sample.stages[index(Stage::kUnattributed)];
    sample.stages[index(Stage::kUnattributed)] = 0;
  }
  EXPECT_EQ(document_of(measurement).samples.stages.back().stage, Stage::kUnattributed);
}

TEST(Document, CovariatesHaveOneValueASample) {
  const result::Document document = document_of(calm(120));
  std::set<std::string> names;
  for (const result::CovariateSamples& covariate : document.samples.covariates) {
    names.insert(covariate.name);
    ASSERT_EQ(covariate.values.size(), 120U);
    if (covariate.name == "involuntary_switches") {
      EXPECT_EQ(covariate.values[5], 2);
    }
    if (covariate.name == "migrated") {
      EXPECT_EQ(covariate.values[4], 0);
      EXPECT_EQ(covariate.values[5], 1);
    }
    if (covariate.name == "cpu_time_ns") {
      EXPECT_EQ(covariate.values[0], 500'000);
    }
  }
  EXPECT_THAT(names,
              UnorderedElementsAre("cpu_time_ns", "voluntary_switches", "involuntary_switches",
                                   "minor_faults", "major_faults", "migrated"));
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
  measurement.samples.clear();
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
         for (Sample& sample : m.samples) {
           sample.stages[index(Stage::kUnattributed)] += 20'000;
           sample.stages[index(Stage::kDecode)] -= 20'000;
         }
       }},
  };
  for (const Row& row : rows) {
    Measurement measurement = calm(150);
    row.below(measurement);
    EXPECT_THAT(caveats_of(measurement), IsEmpty()) << row.id;
    row.above(measurement);
    EXPECT_THAT(caveats_of(measurement), ElementsAre(row.id));
  }
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

}  // namespace
}  // namespace vivace::load
