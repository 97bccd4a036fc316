// A fixed set of threads for data-parallel loops, one pool per workspace.
//
// The calling thread works too, so a pool of one starts no thread. Workers wait for the next loop
// by spinning for a short while and then parking: within a forward pass loops follow each other in
// microseconds and waking a parked thread costs tens of them; between requests nothing spins.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace vivace::platform {

class ThreadPool {
 public:
  /// `thread_count` >= 1, the calling thread included.
  explicit ThreadPool(int thread_count);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int thread_count() const { return thread_count_; }

  /// Calls task(index, thread) once for every index in [0, count), thread in [0, thread_count()),
  /// and returns when all calls have. Indices are handed out one by one, so uneven work balances.
  /// Allocates nothing. Not reentrant: a task must not call the pool, and one caller at a time.
  template <class Task>
  void parallel_for(std::size_t count, const Task& task) {
    run(
        count,
        [](const void* context, std::size_t index, int thread) {
          (*static_cast<const Task*>(context))(index, thread);
        },
        &task);
  }

 private:
  using Call = void (*)(const void* context, std::size_t index, int thread);
  void run(std::size_t count, Call call, const void* context);

  struct State;
  int thread_count_;
  std::unique_ptr<State> state_;
};

}  // namespace vivace::platform
