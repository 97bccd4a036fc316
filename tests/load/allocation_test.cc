// Nothing is allocated between the first and the last stamp of a request: the clock that the loop
// stamps with counts the allocations made until then.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "load/measure.h"
#include "support/counting_allocator.h"

namespace vivace::load {
namespace {

class StampedSystem final : public system::System {
 public:
  explicit StampedSystem(bool leaks) : leaks_(leaks) { between_.reserve(1000); }

  Result<void> prepare() override { return {}; }
  Result<void> run(Recorder& recorder) override {
    recorder.add(Stage::kDecode, 10);
    if (leaks_) kept_.push_back(std::make_unique<int>(1));
    return {};
  }
  Result<void> finish() override { return {}; }
  std::int64_t items_per_run() const override { return 1; }

  /// Called for the first stamp and for the last one of each request.
  std::int64_t now_ns() const override {
    const test::AllocationCounts now = test::allocation_counts();
    const long count = now.mallocs + now.news;
    if (stamps_++ % 2 == 1) between_.push_back(count - at_first_);
    at_first_ = count;
    return platform::now_ns();
  }

  const std::vector<long>& between() const { return between_; }

 private:
  bool leaks_;
  std::vector<std::unique_ptr<int>> kept_;
  mutable std::vector<long> between_;
  mutable long stamps_ = 0;
  mutable long at_first_ = 0;
};

TEST(Allocation, NoneBetweenTheStampsOfARequest) {
  for (const bool leaks : {false, true}) {
    StampedSystem system(leaks);
    const MeasurePlan plan{.warm_up = 10, .samples = 200, .duration_ns = 60'000'000'000};
    ASSERT_TRUE(measure(system, plan, {}));
    ASSERT_GE(system.between().size(), 210U);
    for (const long count : system.between()) {
      // The system's own allocations are seen, so the count is one.
      EXPECT_EQ(count > 0, leaks);
    }
  }
}

}  // namespace
}  // namespace vivace::load
