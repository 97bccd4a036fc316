#include "platform/host.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "core/text.h"

namespace vivace::platform {
namespace {

/// The first line of a small file, or "".
std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The value after "KEY : " in /proc/cpuinfo, of the first CPU.
std::string cpuinfo(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos || colon + 2 > line.size()) continue;
    return line.substr(colon + 2);
  }
  return {};
}

std::vector<std::string> relevant_isa() {
  // x86 names under "flags", arm64 names under "Features".
  static const std::set<std::string_view> kRelevant = {
      "sse4_2",   "avx",      "avx2",        "fma",      "f16c",        "avx512f",
      "avx512bw", "avx512vl", "avx512_vnni", "avx_vnni", "avx512_bf16", "avx512_fp16",
      "amx_tile", "amx_int8", "amx_bf16",    "asimd",    "asimdhp",     "asimddp",
      "sve",      "sve2",     "bf16",        "i8mm"};
  std::string line = cpuinfo("flags");
  if (line.empty()) line = cpuinfo("Features");
  std::vector<std::string> found;
  for (const std::string_view name : split(line, ' ')) {
    if (kRelevant.contains(name)) found.emplace_back(name);
  }
  return found;
}

std::string container_name() {
  if (std::filesystem::exists("/.dockerenv")) return "docker";
  if (std::filesystem::exists("/run/.containerenv")) return "podman";
  if (std::getenv("KUBERNETES_SERVICE_HOST") != nullptr) return "kubernetes";
  const std::string declared = first_line("/run/systemd/container");
  return declared.empty() ? "none" : declared;
}

std::uint64_t memory_total_bytes() {
  const auto pages = sysconf(_SC_PHYS_PAGES);
  const auto page = sysconf(_SC_PAGE_SIZE);
  auto total = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  const std::string limit = first_line("/sys/fs/cgroup/memory.max");
  std::uint64_t limit_bytes = 0;
  if (std::from_chars(limit.data(), limit.data() + limit.size(), limit_bytes).ec == std::errc()) {
    total = std::min(total, limit_bytes);
  }
  return total;
}

double cgroup_cpu_quota() {
  // cgroup v2: "QUOTA PERIOD" in microseconds, or "max PERIOD".
  std::istringstream line(first_line("/sys/fs/cgroup/cpu.max"));
  double quota = 0;
  double period = 0;
  if (line >> quota >> period && period > 0) return quota / period;
  return 0;
}

int affinity_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace

HostFacts host_facts() {
  HostFacts facts;
  utsname system{};
  uname(&system);
  facts.architecture = system.machine;
  facts.kernel = system.release;
  facts.cpu = cpuinfo("model name");
  if (facts.cpu.empty()) {
    facts.cpu = fmt::format("{} implementer {} part {}", facts.architecture,
                            cpuinfo("CPU implementer"), cpuinfo("CPU part"));
  } else if (const std::string family = cpuinfo("cpu family"); !family.empty()) {
    // Guests often see a bare "AMD EPYC": family and model tell Zen 2 from Zen 4.
    facts.cpu += fmt::format(" (family {} model {})", family, cpuinfo("model\t"));
  }
  facts.cores_available = affinity_count();
  facts.cores_online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  facts.isa = relevant_isa();
  facts.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (facts.governor.empty()) facts.governor = "unknown";
  facts.container = container_name();
  const std::string flags = " " + cpuinfo("flags") + " ";
  facts.virtualization = flags.find(" hypervisor ") != std::string::npos ? "hypervisor" : "none";
  facts.memory_bytes = memory_total_bytes();
  facts.cpu_quota = cgroup_cpu_quota();
  return facts;
}

int usable_cpu_count() {
  const double quota = cgroup_cpu_quota();
  const int count = affinity_count();
  return quota > 0 ? std::clamp(static_cast<int>(std::ceil(quota)), 1, count) : count;
}

std::string fingerprint_of(const HostFacts& facts) {
  const std::string text = fmt::format(
      "{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", facts.cpu, facts.architecture, facts.cores_available,
      facts.cores_online, join(facts.isa, ","), facts.kernel, facts.governor, facts.container,
      facts.virtualization, facts.memory_bytes >> 28, facts.cpu_quota);
  return fmt::format("{:016x}", hash_of(text));
}

}  // namespace vivace::platform
