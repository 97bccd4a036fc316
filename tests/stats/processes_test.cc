#include "stats/processes.h"

#include <vector>

#include <gtest/gtest.h>

namespace vivace::stats {
namespace {

PercentileEstimate median(std::int64_t value, std::int64_t half_width) {
  PercentileEstimate estimate;
  estimate.value_ns = value;
  estimate.lower_ns = value - half_width;
  estimate.upper_ns = value + half_width;
  return estimate;
}

TEST(ProcessSpread, ComparesWhatLiesBetweenWithWhatLiesWithin) {
  // Medians 100, 110, 120: variance 100. Half-widths of 1.96 are standard errors of 1.
  const std::vector<PercentileEstimate> apart = {median(100'000, 196), median(110'000, 196),
                                                 median(120'000, 196)};
  const ProcessSpread wide = process_spread(apart, Probability(95, 100));
  EXPECT_DOUBLE_EQ(wide.between_ns2, 1e8);
  EXPECT_NEAR(wide.within_ns2, 1e4, 1);
  EXPECT_TRUE(wide.over_processes);

  const std::vector<PercentileEstimate> alike = {median(100'000, 19'600), median(100'100, 19'600)};
  const ProcessSpread narrow = process_spread(alike, Probability(95, 100));
  EXPECT_DOUBLE_EQ(narrow.between_ns2, 5'000);
  EXPECT_NEAR(narrow.within_ns2, 1e8, 1e4);
  EXPECT_FALSE(narrow.over_processes);
}

TEST(ProcessSpread, AMedianWithoutAnIntervalSaysNothingOfWithin) {
  std::vector<PercentileEstimate> medians = {median(100, 196), median(200, 196)};
  medians[1].upper_ns.reset();
  EXPECT_NEAR(process_spread(medians, Probability(95, 100)).within_ns2, 1e4, 1);
}

TEST(IntervalOverProcesses, NeedsSixProcesses) {
  const std::vector<std::int64_t> five = {100, 101, 102, 103, 104};
  EXPECT_FALSE(interval_over_processes(five, Probability(95, 100)).lower_ns);
  const std::vector<std::int64_t> six = {100, 101, 102, 103, 104, 105};
  const OverProcesses interval = interval_over_processes(six, Probability(95, 100));
  // With six pairs the signed-rank interval is from the least to the largest Walsh average.
  EXPECT_EQ(interval.lower_ns, 100);
  EXPECT_EQ(interval.upper_ns, 105);
  const std::vector<std::int64_t> with_zero = {0, 101, 102, 103, 104, 105};
  EXPECT_FALSE(interval_over_processes(with_zero, Probability(95, 100)).upper_ns);
}

}  // namespace
}  // namespace vivace::stats
