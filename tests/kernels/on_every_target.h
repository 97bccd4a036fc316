// Runs a test once per instruction set that this machine has, and values to run it with.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/target.h"

namespace vivace::kernels::test {

/// Calls check() with every runnable target selected, then restores the best.
template <class Check>
void on_every_target(const Check& check) {
  for (const std::string_view target : runnable_targets()) {
    ASSERT_TRUE(select_target(target));
    SCOPED_TRACE(target);
    check();
  }
  select_target("");
}

inline std::vector<float> normal_values(std::int64_t count, unsigned seed, float deviation = 1.0f) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> distribution(0.0f, deviation);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = distribution(generator);
  return values;
}

/// Every |got - want| <= tolerance; names the first that is not.
inline void expect_near(const std::vector<float>& got, const std::vector<float>& want,
                        double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_LE(std::abs(double{got[i]} - double{want[i]}), tolerance)
        << "at " << i << ": got " << got[i] << ", want " << want[i];
  }
}

}  // namespace vivace::kernels::test
