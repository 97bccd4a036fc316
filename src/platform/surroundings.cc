#include "platform/surroundings.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

#include "core/text.h"

namespace vivace::platform {
namespace {

constexpr std::array<std::string_view, kSurroundingCount> kNames = {
    "steal_ticks", "cpu_pressure_us", "memory_pressure_us", "io_pressure_us", "throttled_us"};

/// Files below /proc have no size that a mapping could take: they are read to their end.
std::string small_file(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_piece(std::string_view list, char separator, std::string_view wanted) {
  for (const std::string_view piece : split(list, separator)) {
    if (piece == wanted) return true;
  }
  return false;
}

/// Steal is the 8th number of the first line of /proc/stat.
std::optional<std::int64_t> steal_of(std::string_view stat) {
  stat = stat.substr(0, stat.find('\n'));
  int place = 0;
  for (const std::string_view piece : split(stat, ' ')) {
    if (piece.empty() || piece == "cpu") continue;
    if (++place != 8) continue;
    std::int64_t value = 0;
    std::from_chars(piece.data(), piece.data() + piece.size(), value);
    return value;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Surrounding one) { return kNames[static_cast<std::size_t>(one)]; }

std::optional<std::int64_t> number_after(std::string_view text, std::string_view key) {
  const auto found = text.find(key);
  if (found == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(found + key.size());
  while (rest.starts_with(' ') || rest.starts_with('=')) rest.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (problem != std::errc() || end == rest.data()) return std::nullopt;
  return value;
}

CgroupCpuStat cgroup_cpu_stat(std::string_view mounts, std::string_view cgroups) {
  // The process's path in the hierarchy of the cpu controller, and in the unified one.
  std::string first_path;
  std::string second_path;
  bool has_first = false;
  for (const std::string_view line : split(cgroups, '\n')) {
    const auto pieces = split(line, ':');
    if (pieces.size() < 3) continue;
    const std::string_view path = line.substr(pieces[0].size() + pieces[1].size() + 2);
    if (pieces[1].empty()) second_path = path;
    if (has_piece(pieces[1], ',', "cpu")) {
      first_path = path;
      has_first = true;
    }
  }
  // mountinfo: ID PARENT DEVICE ROOT MOUNT-POINT OPTIONS ... - TYPE SOURCE SUPER-OPTIONS
  for (const std::string_view line : split(mounts, '\n')) {
    const auto dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto before = split(line.substr(0, dash), ' ');
    const auto after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    const bool first = has_first && after[0] == "cgroup" && has_piece(after[2], ',', "cpu");
    const bool second = !has_first && after[0] == "cgroup2";
    if (!first && !second) continue;
    // In a container the root of the mount is often the process's own cgroup.
    std::string_view path = first ? first_path : second_path;
    const std::string_view root = before[3];
    if (root != "/" && path.starts_with(root)) path.remove_prefix(root.size());
    if (path == "/") path = "";
    return {std::string(before[4]) + std::string(path) + "/cpu.stat", first};
  }
  return {};
}

SurroundingsReader::SurroundingsReader() {
  open(Surrounding::kStealTicks, "/proc/stat", "cpu ", 1);
  open(Surrounding::kCpuPressureUs, "/proc/pressure/cpu", "total=", 1);
  open(Surrounding::kMemoryPressureUs, "/proc/pressure/memory", "total=", 1);
  open(Surrounding::kIoPressureUs, "/proc/pressure/io", "total=", 1);
  const CgroupCpuStat stat =
      cgroup_cpu_stat(small_file("/proc/self/mountinfo"), small_file("/proc/self/cgroup"));
  if (stat.first_version) {
    open(Surrounding::kThrottledUs, stat.path, "throttled_time", 1000);
  } else if (!stat.path.empty()) {
    open(Surrounding::kThrottledUs, stat.path, "throttled_usec", 1);
  }
}

SurroundingsReader::~SurroundingsReader() {
  for (const File& file : files_) close(file.descriptor);
}

void SurroundingsReader::open(Surrounding what, const std::string& path, std::string_view key,
                              std::int64_t divisor) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) files_.push_back({what, key, divisor, descriptor});
}

SurroundingTotals SurroundingsReader::read() const {
  SurroundingTotals totals;
  for (const File& file : files_) {
    // What is looked for stands at the beginning of each of these files.
    char buffer[512];
    const ssize_t size = pread(file.descriptor, buffer, sizeof buffer, 0);
    if (size <= 0) continue;
    const std::string_view text(buffer, static_cast<std::size_t>(size));
    const auto value =
        file.what == Surrounding::kStealTicks ? steal_of(text) : number_after(text, file.key);
    if (value) totals[static_cast<std::size_t>(file.what)] = *value / file.divisor;
  }
  return totals;
}

}  // namespace vivace::platform
