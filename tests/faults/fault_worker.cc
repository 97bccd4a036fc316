// A worker (docs/systems.md) whose requests are a little decoding and a little encoding, with one
// fault planted. What is planted is real: pages are faulted in, another process takes the core, a
// lock is held.
//
//   fault_worker FAULT [SEED]
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/random.h"
#include "platform/clock.h"

namespace {

using vivace::platform::now_ns;

constexpr std::size_t kStorm = std::size_t{8} << 20;
// More than the caches hold, walked through piece by piece.
constexpr std::size_t kStream = std::size_t{128} << 20;
constexpr std::size_t kPiece = std::size_t{8} << 20;
constexpr double kFaultShare = 0.04;

/// A fixed amount of computing, about 0.1 ms a piece.
void compute(int pieces) {
  std::uint64_t x = 1;
  for (int i = 0; i < pieces * 80'000; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(x));
  }
}

void sleep_ns(std::int64_t ns) {
  const timespec time{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  nanosleep(&time, nullptr);
}

void spin_ns(std::int64_t ns) {
  const std::int64_t end = now_ns() + ns;
  while (now_ns() < end) {
  }
}

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/// The last CPU that we may use.
int last_cpu() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) last = cpu;
  }
  return last;
}

/// Runs `body` again and again in a process that is no descendant of ours, for as long as we live.
void apart(const std::function<void()>& body) {
  const pid_t worker = getpid();
  const pid_t child = fork();
  if (child != 0) {
    waitpid(child, nullptr, 0);
    return;
  }
  setsid();
  if (fork() != 0) _exit(0);
  for (int stream : {0, 1, 2}) close(stream);
  while (kill(worker, 0) == 0) body();
  _exit(0);
}

class Worker {
 public:
  Worker(std::string fault, std::uint64_t seed) : fault_(std::move(fault)), seed_(seed) {
    if (fault_ == "memory_hog" || fault_ == "memory") stream_.resize(kStream, 1);
    if (fault_ == "cpu_hog") {
      const int cpu = last_cpu();
      pin_to(cpu);
      // Comes back at once to a core that it left alone for a while, so it is let in at once.
      apart([] {
        sleep_ns(60'000'000);
        spin_ns(9'000'000);
      });
    } else if (fault_ == "memory_hog") {
      pin_to(last_cpu());
      apart([] {
        static std::vector<char>* from = nullptr;
        if (from == nullptr) {
          from = new std::vector<char>(std::size_t{96} << 20, 1);
          cpu_set_t all;
          memset(&all, 0xff, sizeof all);
          sched_setaffinity(0, sizeof all, &all);
          pin_to(0);
        }
        sleep_ns(100'000'000);
        for (int i = 0; i < 3; ++i) memset(from->data(), i, from->size());
      });
    } else if (fault_ == "lock") {
      std::thread([this] {
        while (true) {
          sleep_ns(100'000'000);
          const std::lock_guard lock(mutex_);
          sleep_ns(8'000'000);
        }
      }).detach();
    } else if (fault_ == "io") {
      const char* folder = std::getenv("TMPDIR");
      std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/vivace-fault-XXXXXX";
      file_ = mkstemp(path.data());
      unlink(path.c_str());
      std::vector<char> megabyte(1 << 20, 'x');
      for (int i = 0; i < 4; ++i) (void)!write(file_, megabyte.data(), megabyte.size());
      fsync(file_);
    } else if (fault_ == "oversubscription") {
      for (int i = 0; i < 8; ++i) {
        std::thread([this] { serve(); }).detach();
      }
    }
  }

  /// One request; fills the times of its stages.
  void run(std::int64_t (&stages)[3]) {
    const std::uint64_t index = index_++;
    const double uniform = static_cast<double>(vivace::random_bits(seed_, index) >> 11) * 0x1p-53;
    const bool hit = uniform < kFaultShare;
    std::int64_t last = now_ns();
    const auto stamp = [&](int stage) {
      const std::int64_t now = now_ns();
      stages[stage] = now - last;
      last = now;
    };
    if (fault_ == "io") read_file(hit);
    stamp(0);
    compute(fault_ == "slow_decode" && hit ? 20 : 4);
    stamp(1);
    encode(index, uniform, hit);
    stamp(2);
  }

  void sync() {
    if (left_ > 0) compute(left_);
    left_ = 0;
  }

 private:
  void encode(std::uint64_t index, double uniform, bool hit) {
    int pieces = 12;
    if (fault_ == "bimodal" && uniform < 0.35) pieces = 17;
    if (fault_ == "long") pieces = 80;  // no fault: requests that outlast a tick of the scheduler
    if (fault_ == "drift") pieces += static_cast<int>(index / 40);
    if (fault_ == "stall" && index % 100 == 99) pieces = 60;
    if (fault_ == "async") {
      left_ = pieces - 2;
      pieces = 2;
    }
    if (fault_ == "page_faults" && hit) {
      for (int i = 0; i < 2; ++i) {
        void* memory =
            mmap(nullptr, kStorm, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(memory, kStorm, MADV_NOHUGEPAGE);
        std::memset(memory, 1, kStorm);
        munmap(memory, kStorm);
      }
    }
    if (fault_ == "lock") {
      const std::lock_guard lock(mutex_);
    }
    if (!stream_.empty()) {
      // "memory" is the same work without the hog.
      std::memset(stream_.data() + index * kPiece % kStream, static_cast<int>(index), kPiece);
      return;
    }
    if (fault_ == "oversubscription" && hit) {
      crowd();
      return;
    }
    compute(pieces);
  }

  void read_file(bool cold) {
    if (cold) posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
    static std::vector<char> buffer(4 << 20);
    (void)!pread(file_, buffer.data(), cold ? buffer.size() : 4096, 0);
  }

  /// Eight threads do what one would, each all of it.
  void crowd() {
    std::unique_lock lock(crowd_mutex_);
    waiting_ = 8;
    ++round_;
    begin_.notify_all();
    end_.wait(lock, [&] { return waiting_ == 0; });
  }

  void serve() {
    std::uint64_t seen = 0;
    while (true) {
      {
        std::unique_lock lock(crowd_mutex_);
        begin_.wait(lock, [&] { return round_ != seen; });
        seen = round_;
      }
      compute(12);
      const std::lock_guard lock(crowd_mutex_);
      if (--waiting_ == 0) end_.notify_all();
    }
  }

  std::string fault_;
  std::uint64_t seed_;
  std::uint64_t index_ = 0;
  int left_ = 0;
  int file_ = -1;
  std::vector<char> stream_;
  std::mutex mutex_;
  std::mutex crowd_mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  std::uint64_t round_ = 0;
  int waiting_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: fault_worker FAULT [SEED]\n", stderr);
    return 64;
  }
  Worker worker(argv[1], argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0);
  std::printf("vivace-worker 1 sync stages:read,decode,context_encode name:%s\n", argv[1]);
  std::fflush(stdout);
  char line[256];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    const std::string request(line);
    if (request.starts_with("quit")) break;
    if (request.starts_with("run")) {
      std::int64_t stages[3] = {};
      worker.run(stages);
      std::printf("ok stage:read=%lld stage:decode=%lld stage:context_encode=%lld\n",
                  static_cast<long long>(stages[0]), static_cast<long long>(stages[1]),
                  static_cast<long long>(stages[2]));
    } else {
      if (request.starts_with("sync")) worker.sync();
      std::puts("ok");
    }
    std::fflush(stdout);
  }
  return 0;
}
