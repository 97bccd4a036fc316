#include "platform/interference.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace vivace::platform {
namespace {

/// The counters of the "cpu" line: user nice system idle iowait irq softirq steal ...
std::vector<std::int64_t> cpu_ticks() {
  std::ifstream file("/proc/stat");
  std::string name;
  std::vector<std::int64_t> ticks;
  if (!(file >> name) || name != "cpu") return ticks;
  std::int64_t value = 0;
  // guest and guest_nice, the 9th and 10th, are already part of user and nice.
  while (ticks.size() < 8 && file >> value) ticks.push_back(value);
  return ticks;
}

std::optional<double> pressure(const char* path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const auto position = line.find("avg10=");
  if (position == std::string::npos) return std::nullopt;
  std::istringstream number(line.substr(position + 6));
  double value = 0;
  if (!(number >> value)) return std::nullopt;
  return value;
}

}  // namespace

Interference read_interference() {
  Interference reading;
  std::ifstream("/proc/loadavg") >> reading.load_1min;
  const auto ticks = cpu_ticks();
  reading.total_ticks = std::accumulate(ticks.begin(), ticks.end(), std::int64_t{0});
  if (ticks.size() >= 8) reading.steal_ticks = ticks[7];
  reading.cpu_pressure_pct = pressure("/proc/pressure/cpu");
  reading.memory_pressure_pct = pressure("/proc/pressure/memory");
  return reading;
}

double steal_share(const Interference& before, const Interference& after) {
  const std::int64_t total = after.total_ticks - before.total_ticks;
  if (!before.steal_ticks || !after.steal_ticks || total <= 0) return 0;
  // Some hypervisors let the counter run backwards.
  return std::clamp(
      static_cast<double>(*after.steal_ticks - *before.steal_ticks) / static_cast<double>(total),
      0.0, 1.0);
}

double busy_share_of_others(int window_ms) {
  const auto before = cpu_ticks();
  std::this_thread::sleep_for(std::chrono::milliseconds(window_ms));
  const auto after = cpu_ticks();
  if (before.size() < 8 || after.size() < 8) return 0;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < 8; ++i) total += after[i] - before[i];
  const std::int64_t idle = after[3] - before[3] + after[4] - before[4];
  if (total <= 0) return 0;
  // iowait may run backwards (proc(5)).
  return std::clamp(1.0 - static_cast<double>(idle) / static_cast<double>(total), 0.0, 1.0);
}

}  // namespace vivace::platform
