#include "platform/surroundings.h"

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "platform/probe.h"

namespace vivace::platform {
namespace {

TEST(CgroupCpuStat, FindsTheFileOfEachVersionAndLayout) {
  // First version: one hierarchy per controller.
  const std::string mounts_1 =
      "25 24 0:22 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n"
      "26 24 0:23 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
  const CgroupCpuStat first =
      cgroup_cpu_stat(mounts_1, "4:memory:/a\n3:cpu,cpuacct:/docker/b\n0::/\n");
  EXPECT_EQ(first.path, "/sys/fs/cgroup/cpu,cpuacct/docker/b/cpu.stat");
  EXPECT_TRUE(first.first_version);

  // Second version, at the root and below.
  const std::string mounts_2 =
      "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(cgroup_cpu_stat(mounts_2, "0::/\n").path, "/sys/fs/cgroup/cpu.stat");
  EXPECT_EQ(cgroup_cpu_stat(mounts_2, "0::/user.slice/s: 1\n").path,
            "/sys/fs/cgroup/user.slice/s: 1/cpu.stat");
  EXPECT_FALSE(cgroup_cpu_stat(mounts_2, "0::/\n").first_version);

  // A container whose mount shows its own cgroup as the root.
  const std::string mounts_3 = "30 24 0:26 /docker/b /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
  EXPECT_EQ(cgroup_cpu_stat(mounts_3, "0::/docker/b\n").path, "/sys/fs/cgroup/cpu.stat");

  EXPECT_TRUE(cgroup_cpu_stat("", "").path.empty());
  EXPECT_TRUE(cgroup_cpu_stat("nonsense\n - \n", "x\n::\n").path.empty());
}

TEST(NumberAfter, ReadsKernelTexts) {
  EXPECT_EQ(number_after("nr_throttled 3\nthrottled_time 12\n", "throttled_time"), 12);
  EXPECT_EQ(number_after("some avg10=0.00 avg300=1.5 total=4711\nfull", "total="), 4711);
  EXPECT_FALSE(number_after("some total=", "total="));
  EXPECT_FALSE(number_after("", "total="));
}

TEST(SurroundingsReader, FindsTheCgroupOfThisProcess) {
  // Where the kernel shows a cpu.stat with throttling for this process, it has to be read.
  const auto whole = [](const char* path) {
    std::ifstream file(path);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  const CgroupCpuStat stat =
      cgroup_cpu_stat(whole("/proc/self/mountinfo"), whole("/proc/self/cgroup"));
  const std::string text = stat.path.empty() ? std::string() : whole(stat.path.c_str());
  const char* key = stat.first_version ? "throttled_time" : "throttled_usec";
  const bool shown = number_after(text, key).has_value();
  const auto totals = SurroundingsReader().read();
  EXPECT_EQ(totals[static_cast<std::size_t>(Surrounding::kThrottledUs)].has_value(), shown);
  if (!shown) GTEST_SKIP() << "no cgroup of this process shows throttling here";
}

TEST(SurroundingsReader, TotalsNeverFall) {
  const SurroundingsReader reader;
  const SurroundingTotals before = reader.read();
  const SurroundingTotals after = reader.read();
  for (std::size_t i = 0; i < kSurroundingCount; ++i) {
    EXPECT_EQ(before[i].has_value(), after[i].has_value());
    if (!before[i]) continue;
    EXPECT_GE(*after[i], *before[i]) << name_of(static_cast<Surrounding>(i));
  }
}

TEST(Probes, TakeTime) {
  EXPECT_GT(spin_probe_ns(), 1000);
  MemoryProbe memory;
  EXPECT_GT(memory.read_ns(), 100);
  // Beyond the end of the buffer it begins anew.
  for (std::size_t i = 0; i < MemoryProbe::kBufferBytes / MemoryProbe::kReadBytes + 2; ++i) {
    EXPECT_GT(memory.read_ns(), 0);
  }
}

}  // namespace
}  // namespace vivace::platform
