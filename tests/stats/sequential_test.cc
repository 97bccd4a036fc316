#include "stats/sequential.h"

#include <cmath>

#include <gtest/gtest.h>

namespace vivace::stats {
namespace {

TEST(SequentialLevelTest, WealthIsAMartingaleAtTheLimit) {
  // What one more sample makes of it is, on average, what it was.
  const Probability p(95, 100);
  const SequentialLevelTest test(p, Probability(95, 100));
  const double q = 0.05;
  for (const auto& [n, t] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {10, 0}, {100, 7}}) {
    const double next =
        q * std::exp(test.log_wealth(n + 1, t + 1)) + (1 - q) * std::exp(test.log_wealth(n + 1, t));
    EXPECT_NEAR(next, std::exp(test.log_wealth(n, t)), 1e-9 * next) << n << " " << t;
  }
}

TEST(SequentialLevelTest, SaysPassBelowFailAboveAndNothingEarly) {
  const SequentialLevelTest test(Probability(95, 100), Probability(95, 100));
  EXPECT_EQ(test.read(0, 0), LevelVerdict::kInconclusive);
  EXPECT_EQ(test.read(20, 0), LevelVerdict::kInconclusive);
  EXPECT_EQ(test.read(200, 0), LevelVerdict::kPass);
  EXPECT_EQ(test.read(2000, 100), LevelVerdict::kInconclusive);
  EXPECT_EQ(test.read(200, 40), LevelVerdict::kFail);
  // It takes more than the verdict that is read once.
  EXPECT_EQ(judge_level(60, 0, Probability(95, 100), Probability(95, 100)).verdict,
            LevelVerdict::kPass);
  EXPECT_EQ(test.read(60, 0), LevelVerdict::kInconclusive);
}

}  // namespace
}  // namespace vivace::stats
