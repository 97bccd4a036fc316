#include "platform/thread_pool.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace vivace::platform {
namespace {

/// Runs one loop and checks that every index was called once, by a thread that exists.
void expect_each_index_once(ThreadPool& pool, std::size_t count) {
  std::vector<std::atomic<int>> calls(count);
  std::atomic<bool> thread_in_range{true};
  pool.parallel_for(count, [&](std::size_t index, int thread) {
    calls[index].fetch_add(1, std::memory_order_relaxed);
    if (thread < 0 || thread >= pool.thread_count()) thread_in_range = false;
  });
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(calls[i].load(), 1) << "index " << i;
  EXPECT_TRUE(thread_in_range);
}

class ThreadPoolOf : public testing::TestWithParam<int> {};

TEST_P(ThreadPoolOf, CallsEachIndexOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.thread_count(), GetParam());
  for (const std::size_t count : {0u, 1u, 2u, 3u, 7u, 64u, 1000u}) {
    expect_each_index_once(pool, count);
  }
}

TEST_P(ThreadPoolOf, ResultsAreVisibleAfterManyTinyLoops) {
  ThreadPool pool(GetParam());
  // Plain memory on purpose: a loop that returns before its tasks have would be a data race here.
  std::vector<std::uint64_t> sums(5, 0);
  constexpr std::uint64_t kLoops = 3000;
  for (std::uint64_t loop = 0; loop < kLoops; ++loop) {
    pool.parallel_for(sums.size(), [&](std::size_t index, int) { sums[index] += loop + index; });
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i], kLoops * (kLoops - 1) / 2 + kLoops * i);
  }
}

TEST_P(ThreadPoolOf, BalancesUnevenTasks) {
  ThreadPool pool(GetParam());
  std::vector<std::uint64_t> results(40, 0);
  for (int loop = 0; loop < 20; ++loop) {
    pool.parallel_for(results.size(), [&](std::size_t index, int) {
      std::uint64_t value = index;
      const std::uint64_t steps = index % 10 == 0 ? 20000 : 10;
      for (std::uint64_t i = 0; i < steps; ++i) value = value * 6364136223846793005u + 1;
      results[index] = value;
    });
  }
  EXPECT_NE(results[0], 0u);
  EXPECT_NE(results[39], 0u);
}

TEST_P(ThreadPoolOf, WakesParkedWorkers) {
  ThreadPool pool(GetParam());
  for (int loop = 0; loop < 20; ++loop) {
    expect_each_index_once(pool, 8);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // far beyond the spin
  }
}

TEST_P(ThreadPoolOf, IsBuiltAndDestroyedRepeatedly) {
  for (int round = 0; round < 50; ++round) {
    ThreadPool pool(GetParam());
    if (round % 2 == 0) expect_each_index_once(pool, 9);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ThreadPoolOf, testing::Values(1, 2, 3, 7, 16));

TEST(ThreadPool, WorkersTakePartInALongLoop) {
  ThreadPool pool(2);
  // Both threads must be inside at once for this loop to end: task 0 waits for task 1.
  std::atomic<int> arrived{0};
  pool.parallel_for(2, [&](std::size_t, int) {
    arrived.fetch_add(1);
    while (arrived.load() < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived.load(), 2);
}

TEST(ThreadPool, PoolsWorkSideBySide) {
  std::vector<std::thread> callers;
  std::atomic<std::uint64_t> total{0};
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&total] {
      ThreadPool pool(2);
      for (int loop = 0; loop < 200; ++loop) {
        pool.parallel_for(10, [&](std::size_t index, int) { total += index; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total.load(), 3u * 200u * 45u);
}

}  // namespace
}  // namespace vivace::platform
