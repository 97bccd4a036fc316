// What this machine is: the facts that decide whether two latencies may be compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vivace::platform {

struct HostFacts {
  std::string cpu;           ///< model name as the kernel gives it
  std::string architecture;  ///< "x86_64", "aarch64"
  int cores_available = 1;   ///< CPUs this process may run on
  int cores_online = 1;
  std::vector<std::string> isa;    ///< instruction-set extensions that matter to the kernels
  std::string kernel;              ///< release of the operating system's kernel
  std::string governor;            ///< "performance", or "unknown" (in most guests)
  std::string container;           ///< "none", or what the process seems to run in
  std::string virtualization;      ///< "none", or "hypervisor"
  std::uint64_t memory_bytes = 0;  ///< of the machine, or the cgroup's limit if that is less
  double cpu_quota = 0;            ///< CPUs that the cgroup allows; 0 is no limit
};

HostFacts host_facts();

/// CPUs the calling process may use, at least 1: affinity mask, then the cgroup's quota rounded up.
int usable_cpu_count();

/// 16 hexadecimal digits that differ when any fact above does (memory in steps of 256 MiB): equal
/// fingerprints may be compared.
std::string fingerprint_of(const HostFacts& facts);

}  // namespace vivace::platform
