// How a loop is published and left.
//
// `gate` holds one bit "open" and the number of workers inside. The caller fills in the loop's
// fields while the gate is closed and empty, opens it, raises `epoch` (what workers wait for),
// works along, closes the gate when the indices have run out, and waits until the last worker has
// left. A worker that wakes too late finds the gate closed and goes back to waiting, so a short
// loop never waits for a thread that has nothing to do.
#include "platform/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

#include "core/check.h"

namespace vivace::platform {
namespace {

// Longer than the serial code between two loops of a forward pass, shorter than anyone notices.
constexpr std::chrono::microseconds kSpin{40};
constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;
constexpr std::size_t kLine = 64;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

/// Returns when `value` differs from `old`: spins for at most `spin`, then parks.
std::uint32_t wait_while_equal(const std::atomic<std::uint32_t>& value, std::uint32_t old,
                               std::chrono::nanoseconds spin) {
  std::uint32_t now = value.load(std::memory_order_acquire);
  if (now != old) return now;
  if (spin.count() > 0) {
    const auto end = std::chrono::steady_clock::now() + spin;
    do {
      for (int i = 0; i < 32; ++i) {
        relax();
        now = value.load(std::memory_order_acquire);
        if (now != old) return now;
      }
    } while (std::chrono::steady_clock::now() < end);
  }
  while ((now = value.load(std::memory_order_acquire)) == old) {
    value.wait(old, std::memory_order_acquire);
  }
  return now;
}

}  // namespace

struct ThreadPool::State {
  alignas(kLine) std::atomic<std::uint32_t> epoch{0};
  alignas(kLine) std::atomic<std::uint32_t> gate{0};
  alignas(kLine) std::atomic<std::size_t> next{0};
  // The loop; written only while the gate is closed and nobody is inside.
  alignas(kLine) Call call = nullptr;
  const void* context = nullptr;
  std::size_t count = 0;
  std::atomic<bool> stop{false};
  std::chrono::nanoseconds spin{0};
  std::vector<std::thread> workers;

  void take_indices(int thread) {
    std::size_t index;
    while ((index = next.fetch_add(1, std::memory_order_relaxed)) < count) {
      call(context, index, thread);
    }
  }

  bool enter() {
    std::uint32_t seen = gate.load(std::memory_order_relaxed);
    while ((seen & kOpen) != 0) {
      if (gate.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  void leave() {
    // Only the last one out of a closed gate is waited for.
    if (gate.fetch_sub(1, std::memory_order_release) == 1) gate.notify_one();
  }

  void work(int thread) {
    std::uint32_t seen = 0;
    while (true) {
      seen = wait_while_equal(epoch, seen, spin);
      if (stop.load(std::memory_order_relaxed)) return;
      if (!enter()) continue;
      take_indices(thread);
      leave();
    }
  }
};

ThreadPool::ThreadPool(int thread_count)
    : thread_count_(thread_count), state_(std::make_unique<State>()) {
  VIVACE_CHECK(thread_count >= 1);
  // With more threads than CPUs a spinning thread would take the time of one that works.
  const unsigned cpus = std::thread::hardware_concurrency();
  if (cpus == 0 || static_cast<unsigned>(thread_count) <= cpus) state_->spin = kSpin;
  state_->workers.reserve(static_cast<std::size_t>(thread_count - 1));
  for (int thread = 1; thread < thread_count; ++thread) {
    try {
      state_->workers.emplace_back([state = state_.get(), thread] { state->work(thread); });
    } catch (const std::system_error&) {
      // A system that grants no more threads still computes, with those it has granted.
      thread_count_ = thread;
      break;
    }
  }
}

ThreadPool::~ThreadPool() {
  state_->stop.store(true, std::memory_order_relaxed);
  state_->epoch.fetch_add(1, std::memory_order_release);
  state_->epoch.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

void ThreadPool::run(std::size_t count, Call call, const void* context) {
  if (thread_count_ == 1 || count <= 1) {
    for (std::size_t index = 0; index < count; ++index) call(context, index, 0);
    return;
  }
  State& state = *state_;
  state.call = call;
  state.context = context;
  state.count = count;
  state.next.store(0, std::memory_order_relaxed);
  state.gate.store(kOpen, std::memory_order_release);
  state.epoch.fetch_add(1, std::memory_order_release);
  state.epoch.notify_all();

  state.take_indices(0);

  std::uint32_t inside = state.gate.fetch_and(~kOpen, std::memory_order_acquire) & ~kOpen;
  while (inside != 0) inside = wait_while_equal(state.gate, inside, state.spin);
}

}  // namespace vivace::platform
