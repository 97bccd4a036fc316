// Verdicts and cuts under repetition: what a verdict on a service level is worth when it is read
// again and again, and how well the end of a planted warm-up is found. Fixed seeds.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "stats/sequential.h"
#include "stats/service_level.h"
#include "stats/simulated.h"
#include "stats/warm_up.h"

namespace vivace::stats {
namespace {

struct Level {
  Probability p;
  Probability confidence;

  std::string name() const { return p.label() + " at " + confidence.percent_text() + "%"; }
};

const std::vector<Level> kLevels = {{{9, 10}, {95, 100}},
                                    {{95, 100}, {95, 100}},
                                    {{99, 100}, {95, 100}},
                                    {{9, 10}, {99, 100}},
                                    {{99, 100}, {99, 100}}};

constexpr std::int64_t kReadEvery = 50;

/// The most exceedances that pass at each reading, from 0 samples to 5,000; -1 where none do.
template <class Passes>
std::vector<std::int64_t> most_that_pass(const Passes& passes) {
  std::vector<std::int64_t> most = {-1};
  for (std::int64_t n = kReadEvery; n <= 5000; n += kReadEvery) {
    most.push_back(most.back());
    while (most.back() < n && passes(n, most.back() + 1)) ++most.back();
  }
  return most;
}

/// The share of systems exactly at the limit that pass at any reading.
double false_passes(const Level& level, const std::vector<std::int64_t>& most_that_pass, int runs) {
  const double q = level.p.complement().value();
  const std::uint64_t seed = stream_key(7, level.name());
  int passed = 0;
  for (int run = 0; run < runs; ++run) {
    const std::uint64_t key = random_bits(seed, static_cast<std::uint64_t>(run));
    std::uint64_t n = 0;
    std::int64_t t = 0;
    for (const std::int64_t most : most_that_pass) {
      if (t <= most) {
        ++passed;
        break;
      }
      for (std::int64_t i = 0; i < kReadEvery; ++i) t += test::uniform(key, n++) < q ? 1 : 0;
    }
  }
  return static_cast<double>(passed) / runs;
}

TEST(VerdictUnderPeeking, TheSequentialOneKeepsItsPromise) {
  constexpr int kRuns = 20'000;
  for (const Level& level : kLevels) {
    const SequentialLevelTest test(level.p, level.confidence);
    const auto most = most_that_pass(
        [&](std::int64_t n, std::int64_t t) { return test.read(n, t) == LevelVerdict::kPass; });
    const double share = false_passes(level, most, kRuns);
    std::printf("%s: %.4f passed falsely\n", level.name().c_str(), share);
    const double wrong = level.confidence.complement().value();
    EXPECT_LE(share, wrong + 3 * std::sqrt(wrong * (1 - wrong) / kRuns)) << level.name();
    EXPECT_GT(share, 0) << level.name();
  }
}

TEST(VerdictUnderPeeking, TheOneForAFixedSizeDoesNot) {
  // At 95%: 28% at P90, 25% at P95, 21% at P99, where 5% were promised.
  for (const Level& level : kLevels) {
    const auto most = most_that_pass([&](std::int64_t n, std::int64_t t) {
      return judge_level(n, t, level.p, level.confidence).verdict == LevelVerdict::kPass;
    });
    const double share = false_passes(level, most, 5000);
    std::printf("%s: %.4f passed falsely\n", level.name().c_str(), share);
    EXPECT_GE(share, 4 * level.confidence.complement().value()) << level.name();
  }
}

/// The size at which the sequential verdict, read every 50 samples, first is `wanted`.
std::int64_t stopping_size(const SequentialLevelTest& test, double rate, LevelVerdict wanted,
                           std::uint64_t key) {
  std::int64_t t = 0;
  for (std::int64_t n = 1; n <= 40'000; ++n) {
    t += test::uniform(key, static_cast<std::uint64_t>(n)) < rate ? 1 : 0;
    if (n % kReadEvery == 0 && test.read(n, t) == wanted) return n;
  }
  return std::numeric_limits<std::int64_t>::max();
}

TEST(SequentialPower, IsAsStated) {
  struct Power {
    Level level;
    double rate;
    LevelVerdict wanted;
    std::int64_t half_stop_by;
    std::int64_t most_stop_by;  ///< 90%
  };
  const Level p90{{9, 10}, {95, 100}};
  const Level p99{{99, 100}, {95, 100}};
  // Half of the allowed exceedances, and twice as many.
  for (const Power& power : {Power{p90, 0.05, LevelVerdict::kPass, 300, 600},
                             Power{p90, 0.2, LevelVerdict::kFail, 150, 300},
                             Power{p99, 0.005, LevelVerdict::kPass, 2500, 6000},
                             Power{p99, 0.02, LevelVerdict::kFail, 1300, 3000}}) {
    const SequentialLevelTest test(power.level.p, power.level.confidence);
    std::vector<std::int64_t> sizes;
    sizes.reserve(1000);
    for (std::uint64_t run = 0; run < 1000; ++run) {
      sizes.push_back(stopping_size(test, power.rate, power.wanted, random_bits(11, run)));
    }
    std::sort(sizes.begin(), sizes.end());
    std::printf("%s, rate %.3f: half stop by %lld, 90%% by %lld\n", power.level.name().c_str(),
                power.rate, static_cast<long long>(sizes[500]), static_cast<long long>(sizes[900]));
    EXPECT_LE(sizes[500], power.half_stop_by) << power.level.name() << " " << power.rate;
    EXPECT_LE(sizes[900], power.most_stop_by) << power.level.name() << " " << power.rate;
  }
}

/// A warm-up of `length` samples slower by `step`, in noise, with one spike of ten times in 100.
std::vector<std::int64_t> planted_warm_up(std::size_t n, std::size_t length, double step,
                                          double noise, std::uint64_t key) {
  std::vector<std::int64_t> samples;
  for (std::uint64_t i = 0; i < n; ++i) {
    double x = 20e6 * (1 + noise * random_normal(key, i));
    if (i < length) x *= 1 + step;
    if (test::uniform(key + 1, i) < 0.01) x *= 10;
    samples.push_back(std::llround(x));
  }
  return samples;
}

TEST(WarmUpUnderSpikes, IsFoundWhole) {
  constexpr std::uint64_t kRuns = 10'000;
  int kept = 0;
  int too_many = 0;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    // 200 to 1000 samples, of which 10 to a third are warm-up.
    const auto drawn = [&](std::uint64_t index) { return test::uniform(run, index); };
    const auto n = static_cast<std::size_t>(200 + 800 * drawn(0));
    const auto length = static_cast<std::size_t>(10 + (static_cast<double>(n) / 3 - 10) * drawn(1));
    const auto samples = planted_warm_up(n, length, 0.2 + 0.3 * drawn(2), 0.01 + 0.09 * drawn(3),
                                         random_bits(13, run));
    const std::int64_t excess =
        mser5(samples).discarded.value_or(0) - static_cast<std::int64_t>(length);
    kept += excess < -4 ? 1 : 0;
    too_many += excess > 15 ? 1 : 0;
  }
  std::printf("warm-up kept in %.2f%% of runs, more than 15 too many discarded in %.2f%%\n",
              100.0 * kept / kRuns, 100.0 * too_many / kRuns);
  EXPECT_LE(kept, 0.02 * kRuns);
  EXPECT_LE(too_many, 0.15 * kRuns);
}

}  // namespace
}  // namespace vivace::stats
