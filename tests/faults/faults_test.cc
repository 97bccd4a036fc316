// Ten runs with each fault planted: wherever it moves P99 by 20% or more against the same system
// without it, the first finding has to be the fault, in nine runs of ten. Prints what was named how
// often, which docs/instrument.md keeps.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/json.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace vivace::test {
namespace {

constexpr int kRuns = 10;

struct Outcome {
  std::string first = "nothing";
  double p99_ns = 0;
};

/// Measures the worker with a fault in it; the whole of vivace under `before` (a shell prefix).
Outcome measure(const std::string& fault, int run, const std::filesystem::path& folder,
                const std::string& before = "") {
  const auto file = (folder / "result.json").string();
  const std::string command =
      before + VIVACE_PROGRAM +
      " measure --quiet --samples 1000 --system 'worker:" + VIVACE_FAULT_WORKER + " " + fault +
      " " + std::to_string(run) + "' --json " + file;
  const ProgramResult result = run_program("/bin/sh", {"-c", command});
  // 3 is what an asynchronous system gets.
  EXPECT_TRUE(result.status == 0 || result.status == 3) << command << result.err;
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto json = parse_json(text);
  Outcome outcome;
  if (!json) {
    ADD_FAILURE() << fault << ": " << json.error().message;
    return outcome;
  }
  const JsonArray& findings = json->find("findings")->as_array();
  if (!findings.empty()) outcome.first = findings[0].find("id")->as_string();
  std::vector<std::int64_t> latencies;
  for (const Json& x : json->find("samples")->find("latency_ns")->as_array()) {
    latencies.push_back(x.as_integer());
  }
  std::sort(latencies.begin(), latencies.end());
  if (!latencies.empty()) {
    outcome.p99_ns = static_cast<double>(latencies[(latencies.size() * 99 + 99) / 100 - 1]);
  }
  return outcome;
}

/// Runs the fault; `wanted` are the ids that name it, `always` where it need not move P99.
void expect_named(const std::string& fault, const std::set<std::string>& wanted,
                  bool always = false, const std::string& before = "",
                  const std::string& healthy = "none") {
  const TemporaryFolder folder;
  std::map<std::string, int> named;
  int counted = 0;
  int right = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Outcome without = measure(healthy, run, folder.path());
    const Outcome with = measure(fault, run, folder.path(), before);
    ++named[with.first];
    if (!always && with.p99_ns < 1.2 * without.p99_ns) continue;
    ++counted;
    right += wanted.contains(with.first) ? 1 : 0;
  }
  std::printf("| %-16s | %2d of %d |", fault.c_str(), counted, kRuns);
  for (const auto& [id, count] : named) std::printf(" %s %d;", id.c_str(), count);
  std::printf("\n");
  if (counted == 0)
    GTEST_SKIP() << fault << " moved P99 by less than 20% here, so it need not be named";
  EXPECT_GE(10 * right, 9 * counted) << fault << ": named in " << right << " of " << counted;
}

TEST(PlantedFault, SlowDecode) { expect_named("slow_decode", {"tail.stage.decode"}); }
TEST(PlantedFault, PageFaultStorm) { expect_named("page_faults", {"tail.minor_faults"}); }
// The core is taken while the worker runs, or before it is let in.
TEST(PlantedFault, HogOnTheSameCore) {
  expect_named("cpu_hog", {"tail.involuntary_switches", "tail.cpu_pressure_us"});
}
TEST(PlantedFault, MemoryBandwidthHog) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "the hog needs a core of its own";
  // vivace shares the worker's core: the other one is the hog's.
  const auto last = std::to_string(std::thread::hardware_concurrency() - 1);
  expect_named("memory_hog", {"tail.memory_probe_ns"}, false, "exec taskset -c " + last + " ",
               "memory");
}
TEST(PlantedFault, LockContention) { expect_named("lock", {"tail.voluntary_switches"}); }
TEST(PlantedFault, ColdFile) {
  expect_named("io", {"tail.io_pressure_us", "tail.major_faults", "tail.stage.read"});
}
TEST(PlantedFault, StallOfEveryHundredth) { expect_named("stall", {"tail.periodic"}); }
TEST(PlantedFault, Oversubscription) {
  expect_named("oversubscription",
               {"tail.involuntary_switches", "tail.voluntary_switches", "tail.cpu_pressure_us"});
}
TEST(PlantedFault, TwoModes) { expect_named("bimodal", {"steadiness.multimodal"}, true); }
TEST(PlantedFault, MissingSync) { expect_named("async", {"async_system"}, true); }
TEST(PlantedFault, Drift) {
  expect_named("drift", {"steadiness.drifting", "steadiness.slow-down"}, true);
}

TEST(PlantedFault, CpuQuota) {
  // A cgroup of either version with half of a CPU, as a container's limit makes it.
  const std::string first = "/sys/fs/cgroup/cpu";
  const std::string second = "/sys/fs/cgroup";
  const std::string name = "/vivace-fault-" + std::to_string(getpid());
  std::string group;
  std::error_code problem;
  if (std::filesystem::exists(first + "/cpu.cfs_quota_us")) {
    group = first + name;
    std::filesystem::create_directory(group, problem);
    std::ofstream(group + "/cpu.cfs_period_us") << 100000;
    std::ofstream(group + "/cpu.cfs_quota_us") << 50000;
  } else if (std::filesystem::exists(second + "/cgroup.controllers")) {
    group = second + name;
    std::filesystem::create_directory(group, problem);
    std::ofstream(group + "/cpu.max") << "50000 100000";
  }
  if (group.empty() || problem || !std::filesystem::exists(group + "/cpu.stat")) {
    GTEST_SKIP() << "no cgroup with a CPU quota can be made here";
  }
  // Short requests are mostly held between two of them, where the scheduler looks at the quota.
  expect_named("long", {"tail.throttled_us"}, false, "echo $$ > " + group + "/cgroup.procs; exec ",
               "long");
  std::filesystem::remove(group, problem);
}

}  // namespace
}  // namespace vivace::test
