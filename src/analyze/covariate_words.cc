#include "analyze/covariate_words.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/text.h"
#include "core/units.h"

namespace vivace::analyze {
namespace {

enum class Unit { kCount, kNanoseconds, kMicroseconds };

struct Words {
  std::string_view name;
  Unit unit;
  std::string_view any;   // above a threshold of 0
  std::string_view noun;  // above another one: "more than 3 NOUN"
  std::string_view advice;
};

// Names of no entry stand where this one does.
constexpr std::string_view kOther = "";

// The most specific first.
constexpr std::array<Words, 16> kWords = {{
    {"throttled_us", Unit::kMicroseconds, "throttling by the CPU quota",
     "of throttling by the CPU quota",
     "raise the CPU quota of the cgroup (cpu.max, docker --cpus), or spend it more slowly with "
     "fewer "
     "threads (--threads 1)"},
    {"steal_ticks", Unit::kCount, "time stolen by the hypervisor", "ticks stolen by the hypervisor",
     "the host gave the processor to another guest: measure on another machine, on dedicated "
     "processors, or at another time"},
    {"major_faults", Unit::kCount, "a major page fault", "major page faults",
     "pages were read from disk: read the files once before (cat FILE >/dev/null), lock them in "
     "memory (mlock, vmtouch -l), or give the process more memory"},
    {"memory_pressure_us", Unit::kMicroseconds, "a stall for memory", "of stalls for memory",
     "memory was short: stop what uses it, or raise memory.high and memory.max of the cgroup"},
    {"minor_faults", Unit::kCount, "a minor page fault", "minor page faults",
     "memory was touched for the first time: allocate and touch buffers before, reuse them, and "
     "keep "
     "freed memory (MALLOC_TRIM_THRESHOLD_=1073741824 MALLOC_MMAP_THRESHOLD_=1073741824)"},
    {"io_pressure_us", Unit::kMicroseconds, "a stall for I/O", "of stalls for I/O",
     "the disk was awaited: keep inputs in memory, stop what else uses the disk (iostat -x 1), "
     "raise "
     "io.max of the cgroup"},
    {"allocations", Unit::kCount, "an allocation", "allocations",
     "allocate before the first request and reuse the buffers"},
    {kOther, Unit::kCount, "", "", "look at what raises it: the system reported it by this name"},
    {"involuntary_switches", Unit::kCount, "an involuntary context switch",
     "involuntary context switches",
     "something else took the processor: pin the run to a free one (taskset -c N), use fewer "
     "threads "
     "(--threads 1), stop the other program, or raise the priority (chrt -f 1)"},
    {"memory_probe_ns", Unit::kNanoseconds, "a slow memory probe", "for the memory probe",
     "something else used the memory bandwidth: stop it, or run on another socket (numactl -N 1 -m "
     "1)"},
    {"spin_probe_ns", Unit::kNanoseconds, "a slow spin probe", "for the spin probe",
     "the processor itself was slower: fix its frequency (cpupower frequency-set -g performance), "
     "look for heat, and stop what runs on the sibling thread or the host"},
    {"voluntary_switches", Unit::kCount, "a voluntary context switch", "voluntary context switches",
     "the threads waited, for a lock, a disk or each other: see for what (perf sched timehist, "
     "strace "
     "-f -T -e futex,read); --threads 1 takes waiting between threads away"},
    {"cpu_pressure_us", Unit::kMicroseconds, "a wait for a processor", "of waits for a processor",
     "more threads were ready than processors: use fewer threads (--threads 1), or stop other "
     "programs"},
    {"migrated", Unit::kCount, "a move to another processor", "moves to another processor",
     "pin the run to its processors (taskset -c 0,1)"},
    {"batch_size", Unit::kCount, "a batch", "items in the batch",
     "bound the size of a batch, or the time that it may take to fill"},
    // Longer queues follow from whatever makes requests slow.
    {"queue_length", Unit::kCount, "a queue before it", "requests in the queue",
     "requests waited behind others: lower the arrival rate, or serve more of them at a time"},
}};

std::size_t place_of(std::string_view name) {
  const auto named = [](std::string_view wanted) {
    return static_cast<std::size_t>(std::ranges::find(kWords, wanted, &Words::name) -
                                    kWords.begin());
  };
  const std::size_t place = named(name);
  return place < kWords.size() ? place : named(kOther);
}

std::string amount(double value, Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      return format_duration(value);
    case Unit::kMicroseconds:
      return format_duration(value * 1e3);
    case Unit::kCount:
      break;
  }
  return fmt::format("{:.6g}", value);
}

}  // namespace

int specificity(std::string_view name) { return static_cast<int>(place_of(name)); }

int least_specificity() { return static_cast<int>(kWords.size()); }

bool is_probe(std::string_view name) {
  return name == "spin_probe_ns" || name == "memory_probe_ns";
}

std::string exposure_phrase(std::string_view name, double threshold) {
  const Words& words = kWords[place_of(name)];
  if (words.name == kOther) {
    return fmt::format("{} above {}", quote(name), amount(threshold, Unit::kCount));
  }
  if (threshold == 0) return std::string(words.any);
  return fmt::format("more than {} {}", amount(threshold, words.unit), words.noun);
}

std::string advice_against(std::string_view name) {
  return std::string(kWords[place_of(name)].advice);
}

}  // namespace vivace::analyze
