#include "kernels/target.h"

#include <gtest/gtest.h>

namespace vivace::kernels {
namespace {

TEST(Target, SelectsEachRunnableTargetAndTheBestAgain) {
  const auto targets = runnable_targets();
  ASSERT_FALSE(targets.empty());
  for (const auto target : targets) {
    EXPECT_TRUE(select_target(target));
    EXPECT_EQ(target_name(), target);
  }
  EXPECT_TRUE(select_target(""));
  EXPECT_EQ(target_name(), targets.front());
}

TEST(Target, RefusesAnUnknownNameAndKeepsTheChosenOne) {
  const auto targets = runnable_targets();
  ASSERT_TRUE(select_target(targets.back()));
  EXPECT_FALSE(select_target("AVX9"));
  EXPECT_EQ(target_name(), targets.back());
  select_target("");
}

}  // namespace
}  // namespace vivace::kernels
