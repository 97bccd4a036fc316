// What this process has used of the machine so far: the cheap covariates of every sample.
#pragma once

#include <cstdint>

namespace vivace::platform {

/// Sums over all threads of the process since its start.
struct Usage {
  std::int64_t cpu_ns = 0;
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
};

/// Two system calls, about two microseconds.
Usage read_usage();

/// The CPU that the calling thread runs on now, or -1.
int current_cpu();

/// The most physical memory the process has held, in bytes.
std::uint64_t peak_resident_bytes();

}  // namespace vivace::platform
