#include "platform/usage.h"

#include <sched.h>
#include <sys/resource.h>

#include <ctime>

namespace vivace::platform {

Usage read_usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  // The CPU-time clock has nanoseconds where rusage has scheduler ticks on some kernels.
  timespec cpu{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  return {std::int64_t{cpu.tv_sec} * 1'000'000'000 + cpu.tv_nsec, usage.ru_nvcsw, usage.ru_nivcsw,
          usage.ru_minflt, usage.ru_majflt};
}

int current_cpu() { return sched_getcpu(); }

std::uint64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // kilobytes on Linux
}

}  // namespace vivace::platform
