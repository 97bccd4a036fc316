// The one clock of the product: CLOCK_MONOTONIC in nanoseconds.
#pragma once

#include <cstdint>
#include <ctime>

namespace vivace::platform {

/// Nanoseconds since an arbitrary start. Tens of nanoseconds a call (vDSO).
inline std::int64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

struct ClockFacts {
  std::int64_t resolution_ns = 0;  ///< the least non-zero step that was seen
  std::int64_t cost_ns = 0;        ///< median cost of one reading
};

/// Measures the clock here and now; takes about a millisecond.
ClockFacts calibrate_clock();

/// "2026-11-30T22:25:01Z".
const char* utc_timestamp(char (&buffer)[32]);

}  // namespace vivace::platform
