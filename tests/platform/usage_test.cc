// The instrument's readings of clock, process and machine: plausible, and never backwards.
#include <cstring>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "platform/clock.h"
#include "platform/interference.h"
#include "platform/usage.h"

namespace vivace::platform {
namespace {

TEST(Clock, NeverGoesBack) {
  std::int64_t last = now_ns();
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t now = now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, CountsNanoseconds) {
  const std::int64_t start = now_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  // A sleep is never shorter; how much longer it is depends on the machine.
  EXPECT_GE(now_ns() - start, 20'000'000);
}

TEST(Clock, CalibrationIsPlausible) {
  const ClockFacts facts = calibrate_clock();
  EXPECT_GT(facts.resolution_ns, 0);
  EXPECT_LE(facts.resolution_ns, 20'000'000) << "no clock is as coarse as that";
  EXPECT_GE(facts.cost_ns, 0);
  EXPECT_LE(facts.cost_ns, 1'000'000);
}

TEST(Clock, TimestampIsIso8601) {
  char buffer[32];
  EXPECT_TRUE(std::regex_match(utc_timestamp(buffer),
                               std::regex(R"(20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\dZ)")))
      << buffer;
}

TEST(Usage, OnlyGrows) {
  const Usage before = read_usage();
  // Work that must show: pages touched for the first time, and CPU time.
  constexpr std::size_t kBytes = std::size_t{32} << 20;
  std::vector<char> memory(kBytes);
  volatile std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 3'000'000; ++i) sum = sum + i;
  for (std::size_t i = 0; i < kBytes; i += 4096) memory[i] = 1;
  const Usage after = read_usage();
  EXPECT_GT(after.cpu_ns, before.cpu_ns);
  EXPECT_GE(after.voluntary_switches, before.voluntary_switches);
  EXPECT_GE(after.involuntary_switches, before.involuntary_switches);
  EXPECT_GE(after.minor_faults, before.minor_faults);
  EXPECT_GE(after.major_faults, before.major_faults);
  EXPECT_GE(peak_resident_bytes(), kBytes);
}

TEST(Usage, CountsTheCpuTimeOfAllThreads) {
  const Usage before = read_usage();
  std::thread worker([] {
    const std::int64_t start = now_ns();
    while (now_ns() - start < 5'000'000) {
    }
  });
  worker.join();
  EXPECT_GT(read_usage().cpu_ns, before.cpu_ns);
}

TEST(Usage, TheCpuIsKnown) { EXPECT_GE(current_cpu(), 0); }

TEST(Interference, IsReadable) {
  const Interference before = read_interference();
  EXPECT_GE(before.load_1min, 0);
  EXPECT_GT(before.total_ticks, 0);
  for (const auto& pressure : {before.cpu_pressure_pct, before.memory_pressure_pct}) {
    if (!pressure) continue;
    EXPECT_GE(*pressure, 0);
    EXPECT_LE(*pressure, 100);
  }
  const double busy = busy_share_of_others(30);
  EXPECT_GE(busy, 0);
  EXPECT_LE(busy, 1);
  EXPECT_GE(read_interference().total_ticks, before.total_ticks);
}

TEST(Interference, StealIsAShareOfAllTicks) {
  const auto reading = [](std::optional<std::int64_t> steal, std::int64_t total) {
    Interference interference;
    interference.steal_ticks = steal;
    interference.total_ticks = total;
    return interference;
  };
  EXPECT_EQ(steal_share(reading(10, 1000), reading(35, 1100)), 0.25);
  EXPECT_EQ(steal_share(reading(10, 1000), reading(10, 1100)), 0);
  EXPECT_EQ(steal_share(reading(10, 1000), reading(20, 1000)), 0) << "no time went by";
  EXPECT_EQ(steal_share(reading(std::nullopt, 1000), reading(20, 1100)), 0);
  EXPECT_EQ(steal_share(reading(10, 1000), reading(std::nullopt, 1100)), 0);
  EXPECT_EQ(steal_share(reading(10, 1000), reading(5, 1100)), 0) << "counters may run back";
}

}  // namespace
}  // namespace vivace::platform
