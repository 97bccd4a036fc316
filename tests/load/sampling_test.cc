#include "load/sampling.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "load/fake_system.h"

namespace vivace::load {
namespace {

Sample sample(std::int64_t start_ns, std::int64_t decode_ns) {
  Sample one;
  one.start_ns = start_ns;
  one.latency_ns = 100;
  one.stages[static_cast<std::size_t>(Stage::kDecode)] = decode_ns;
  one.stages[static_cast<std::size_t>(Stage::kUnattributed)] = 100 - decode_ns;
  one.usage.minor_faults = 7;
  one.cpu_before = 0;
  one.cpu_after = 1;
  return one;
}

TEST(SampleColumns, AStageThatBeginsLateTookNoTimeBefore) {
  test::FakeSystem system;
  SampleColumns columns(10, system, {});
  columns.add(sample(1000, 0), {});
  columns.add(sample(2000, 40), {});
  columns.add(sample(3000, 0), {});
  const result::Samples samples = columns.take();
  EXPECT_EQ(samples.start_ns, (std::vector<std::int64_t>{0, 1000, 2000}));
  ASSERT_EQ(samples.stages.size(), 2U);
  EXPECT_EQ(samples.stages[0].times_ns, (std::vector<std::int64_t>{0, 40, 0}));
  EXPECT_EQ(samples.stages[1].times_ns, (std::vector<std::int64_t>{100, 60, 100}));
}

TEST(SampleColumns, WithoutStagesThereIsNoBreakdown) {
  test::FakeSystem system;
  SampleColumns columns(10, system, {});
  columns.add(sample(1000, 0), {});
  EXPECT_TRUE(columns.take().stages.empty());
}

TEST(SampleColumns, AReadingIsSharedByItsSamples) {
  test::FakeSystem system;
  platform::SurroundingTotals known{};
  known[static_cast<std::size_t>(platform::Surrounding::kStealTicks)] = 5;
  SampleColumns columns(10, system, known);
  for (int i = 0; i < 3; ++i) columns.add(sample(i, 10), {});
  SurroundingsReading reading;
  reading.change[static_cast<std::size_t>(platform::Surrounding::kStealTicks)] = 2;
  reading.spin_probe_ns = 20'000;
  columns.set_surroundings(1, reading);
  EXPECT_EQ(columns.discard_first(1), (std::vector<std::int64_t>{100}));
  columns.add(sample(9, 10), {});
  columns.truncate(2);
  const result::Samples samples = columns.take();
  ASSERT_EQ(samples.latency_ns.size(), 2U);
  for (const auto& covariate : samples.covariates) {
    ASSERT_EQ(covariate.values.size(), 2U) << covariate.name;
    if (covariate.name == "steal_ticks") {
      EXPECT_EQ(covariate.values[1], 2);
    }
    if (covariate.name == "spin_probe_ns") {
      EXPECT_EQ(covariate.values[0], 20'000);
    }
    if (covariate.name == "minor_faults") {
      EXPECT_EQ(covariate.values[0], 7);
    }
    if (covariate.name == "migrated") {
      EXPECT_EQ(covariate.values[0], 1);
    }
    EXPECT_NE(covariate.name, "throttled_us") << "this machine has none";
  }
}

}  // namespace
}  // namespace vivace::load
