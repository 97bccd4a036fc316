// What goes on around a sample: what the machine did to this process while it ran, read between
// samples because each reading takes microseconds, not nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace vivace::platform {

/// Totals since boot, of the machine or of this process's cgroup; what is absent here is empty.
enum class Surrounding : std::uint8_t {
  kStealTicks,        ///< CPU time that the hypervisor gave to others (/proc/stat)
  kCpuPressureUs,     ///< time in which a task waited for a CPU (PSI "some")
  kMemoryPressureUs,  ///< time in which a task waited for memory
  kIoPressureUs,      ///< time in which a task waited for a disk
  kThrottledUs,       ///< time in which the cgroup's CPU quota held this process (cpu.stat)
};
inline constexpr std::size_t kSurroundingCount = 5;

/// "steal_ticks": the covariate's name.
std::string_view name_of(Surrounding one);

using SurroundingTotals = std::array<std::optional<std::int64_t>, kSurroundingCount>;

/// Holds the files open, so that a reading is a few system calls.
class SurroundingsReader {
 public:
  SurroundingsReader();
  ~SurroundingsReader();
  SurroundingsReader(const SurroundingsReader&) = delete;
  SurroundingsReader& operator=(const SurroundingsReader&) = delete;

  SurroundingTotals read() const;

 private:
  struct File {
    Surrounding what;
    std::string_view key;  ///< what the number follows
    std::int64_t divisor;  ///< from the file's unit
    int descriptor;
  };
  void open(Surrounding what, const std::string& path, std::string_view key, std::int64_t divisor);
  std::vector<File> files_;
};

/// The cpu.stat of this process's cgroup: its path, and whether it is of the first version of
/// cgroups (nanoseconds) or the second (microseconds). Empty where there is none.
struct CgroupCpuStat {
  std::string path;
  bool first_version = false;
};
/// `mounts` and `cgroups` are the texts of /proc/self/mountinfo and /proc/self/cgroup.
CgroupCpuStat cgroup_cpu_stat(std::string_view mounts, std::string_view cgroups);

/// The number behind `key` in a text such as "nr_throttled 3\nthrottled_time 12", or "some
/// avg10=0.00 total=25". Nothing where there is none.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view key);

}  // namespace vivace::platform
