#include "platform/host.h"

#include <functional>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace vivace::platform {
namespace {

TEST(Host, FactsAreFilled) {
  const HostFacts facts = host_facts();
  EXPECT_FALSE(facts.cpu.empty());
  EXPECT_FALSE(facts.architecture.empty());
  EXPECT_FALSE(facts.kernel.empty());
  EXPECT_FALSE(facts.governor.empty());
  EXPECT_FALSE(facts.container.empty());
  EXPECT_FALSE(facts.virtualization.empty());
  EXPECT_GE(facts.cores_available, 1);
  EXPECT_GE(facts.cores_online, facts.cores_available);
  EXPECT_GT(facts.memory_bytes, std::uint64_t{64} << 20);
  EXPECT_GE(facts.cpu_quota, 0);
#if defined(__x86_64__)
  EXPECT_EQ(facts.architecture, "x86_64");
  EXPECT_FALSE(facts.isa.empty());
#endif
}

TEST(Host, UsableCpusAreAtLeastOne) {
  EXPECT_GE(usable_cpu_count(), 1);
  EXPECT_LE(usable_cpu_count(), host_facts().cores_available);
}

TEST(Host, FingerprintIsStable) {
  const std::string fingerprint = fingerprint_of(host_facts());
  EXPECT_EQ(fingerprint.size(), 16U);
  EXPECT_EQ(fingerprint.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(fingerprint_of(host_facts()), fingerprint);
}

TEST(Host, FingerprintTellsEveryFact) {
  const std::function<void(HostFacts&)> changes[] = {
      [](HostFacts&) {},
      [](HostFacts& f) { f.cpu += "x"; },
      [](HostFacts& f) { f.architecture += "x"; },
      [](HostFacts& f) { ++f.cores_available; },
      [](HostFacts& f) { ++f.cores_online; },
      [](HostFacts& f) { f.isa.emplace_back("avx999"); },
      [](HostFacts& f) { f.kernel += "x"; },
      [](HostFacts& f) { f.governor += "x"; },
      [](HostFacts& f) { f.container += "x"; },
      [](HostFacts& f) { f.virtualization += "x"; },
      [](HostFacts& f) { f.memory_bytes += std::uint64_t{1} << 30; },
      [](HostFacts& f) { f.cpu_quota += 0.5; },
  };
  std::set<std::string> fingerprints;
  for (const auto& change : changes) {
    HostFacts facts = host_facts();
    change(facts);
    fingerprints.insert(fingerprint_of(facts));
  }
  EXPECT_EQ(fingerprints.size(), std::size(changes));
}

TEST(Host, FingerprintKeepsFieldsApart) {
  HostFacts a;
  a.cpu = "x";
  HostFacts b;
  b.architecture = "x";
  EXPECT_NE(fingerprint_of(a), fingerprint_of(b));
}

}  // namespace
}  // namespace vivace::platform
