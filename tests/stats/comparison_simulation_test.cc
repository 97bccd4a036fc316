// How often a comparison claims a change where there is none, and how often it finds one: on a
// machine that drifts, with dependent noise, in pairs and one after the other. Every share is
// printed; the seeds are fixed.
#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "stats/comparison.h"

namespace vivace::stats {
namespace {

constexpr double kNoise = 0.03;
constexpr std::size_t kPairs = 40;
constexpr std::uint64_t kRuns = 4000;
constexpr double kFalseAlarmsMax = 0.06;
const Probability kConfidence(95, 100);

/// Log latencies in the order in which they are taken.
struct Machine {
  double drift = 0;        ///< step of a random walk, a sample
  double correlation = 0;  ///< of neighbouring noise
};
std::vector<double> run_of(const Machine& machine, std::size_t count, std::uint64_t seed) {
  const std::uint64_t steps = stream_key(seed, "drift");
  const std::uint64_t noises = stream_key(seed, "noise");
  const double fresh = std::sqrt(1 - machine.correlation * machine.correlation);
  std::vector<double> run(count);
  double level = 0;
  double noise = random_normal(noises, count);
  for (std::size_t i = 0; i < count; ++i) {
    noise = machine.correlation * noise + fresh * random_normal(noises, i);
    level += machine.drift * random_normal(steps, i);
    run[i] = level + kNoise * noise;
  }
  return run;
}

/// Pairs of neighbours in random order; B is slower by `effect`.
std::vector<double> paired_ratios(const Machine& machine, double effect, std::uint64_t seed) {
  const std::vector<double> run = run_of(machine, 2 * kPairs, seed);
  const std::uint64_t order = stream_key(seed, "order");
  std::vector<double> d(kPairs);
  for (std::size_t i = 0; i < kPairs; ++i) {
    const bool a_first = random_bits(order, i) >> 63 == 0;
    d[i] = (a_first ? 1 : -1) * (run[2 * i + 1] - run[2 * i]) + std::log1p(effect);
  }
  return d;
}

/// The share of runs in which `claims(seed)` says that there is a change.
template <class Claims>
double share_of(const std::string& what, const Claims& claims) {
  std::uint64_t count = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) count += claims(seed) ? 1 : 0;
  const double share = static_cast<double>(count) / static_cast<double>(kRuns);
  std::printf("%-72s %5.1f%%\n", what.c_str(), 100 * share);
  return share;
}

bool is_claim(const Shift& shift) {
  return shift.change == Change::kRegressed || shift.change == Change::kImproved;
}

double paired_share(const std::string& what, const Machine& machine, double effect) {
  return share_of(what, [&](std::uint64_t seed) {
    return is_claim(paired_shift(paired_ratios(machine, effect, seed), kConfidence));
  });
}

std::string text_of(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

TEST(PairedSimulation, RandomisedPairsRarelyAlarmWhateverTheMachineDoes) {
  for (const double drift : {0.0, 0.002, 0.01}) {
    for (const double correlation : {0.0, 0.9}) {
      const std::string what = "A/A, 40 pairs: drift " + text_of(drift) + " a sample, noise 3%" +
                               " of autocorrelation " + text_of(correlation);
      EXPECT_LE(paired_share(what, {drift, correlation}, 0), kFalseAlarmsMax) << what;
    }
  }
}

TEST(PairedSimulation, FindsTwoPercent) {
  EXPECT_GE(paired_share("+2%, 40 pairs: noise 3%", {}, 0.02), 0.70);
  EXPECT_GE(paired_share("+2%, 40 pairs: noise 3%, drift 0.002 a sample", {0.002, 0}, 0.02), 0.70);
}

// Why pairs alternate: a law for independent samples takes any drift for a change.
TEST(UnpairedSimulation, OneAfterTheOtherTakesDriftForAChange) {
  const auto sequential = [](double drift) {
    return share_of(
        "A/A, 40 then 40 as if independent: drift " + text_of(drift), [&](std::uint64_t seed) {
          const auto run = run_of({drift, 0}, 2 * kPairs, seed);
          const std::span<const double> all(run);
          return is_claim(unpaired_shift(all.first(kPairs), all.last(kPairs), kConfidence));
        });
  };
  EXPECT_LE(sequential(0), kFalseAlarmsMax);
  EXPECT_GT(sequential(0.002), 0.20);
  EXPECT_GT(sequential(0.01), 0.60);
}

bool claims_between(const std::vector<double>& a, const std::vector<double>& b) {
  const SampleWorth worth{.a = rank_effective_size(a).m, .b = rank_effective_size(b).m};
  return is_claim(unpaired_shift(a, b, kConfidence, 0, worth));
}

TEST(UnpairedSimulation, DependentSamplesCountForWhatTheyAreWorth) {
  for (const double correlation : {0.0, 0.5, 0.9}) {
    for (const std::size_t n : {std::size_t{50}, std::size_t{100}, std::size_t{500}}) {
      const std::string what = "A/A, files of " + std::to_string(n) +
                               ": noise of autocorrelation " + text_of(correlation);
      const double share = share_of(what, [&](std::uint64_t seed) {
        return claims_between(run_of({0, correlation}, n, 2 * seed),
                              run_of({0, correlation}, n, 2 * seed + 1));
      });
      EXPECT_LE(share, kFalseAlarmsMax) << what;
    }
  }
}

// The caution must not cost independent samples their power.
TEST(UnpairedSimulation, IndependentSamplesKeepTheirPower) {
  const auto power = [](const std::string& what, const auto& claims) {
    return share_of(what, [&](std::uint64_t seed) {
      std::vector<double> b = run_of({}, 100, 2 * seed + 1);
      for (double& x : b) x += std::log1p(0.012);
      return claims(run_of({}, 100, 2 * seed), b);
    });
  };
  const double known = power(
      "+1.2%, files of 100, known to be independent",
      [](const auto& a, const auto& b) { return is_claim(unpaired_shift(a, b, kConfidence)); });
  const double found = power("+1.2%, files of 100, found to be independent", claims_between);
  EXPECT_GE(found, known - 0.10);
}

}  // namespace
}  // namespace vivace::stats
