// Who else uses this machine right now: read before a run (the quiet check) and around it.
#pragma once

#include <cstdint>
#include <optional>

namespace vivace::platform {

struct Interference {
  double load_1min = 0;                     ///< runnable threads, average of the last minute
  std::optional<std::int64_t> steal_ticks;  ///< CPU time the hypervisor gave to others, since boot
  std::int64_t total_ticks = 0;             ///< all CPU time since boot, in the same ticks
  std::optional<double> cpu_pressure_pct;   ///< PSI "some avg10" of the CPU
  std::optional<double> memory_pressure_pct;
};

/// Reads /proc; a file that is absent leaves its field empty. Tens of microseconds.
Interference read_interference();

/// Share of CPU time between two readings that the hypervisor gave to others, in [0, 1].
double steal_share(const Interference& before, const Interference& after);

/// Share of CPU time of the whole machine that anyone used during a short sleep of `window_ms`
/// in which this process does nothing: what others take.
double busy_share_of_others(int window_ms);

}  // namespace vivace::platform
