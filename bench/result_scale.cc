// What a large result costs: samples of six stages and fourteen covariates are made, analysed and
// written (mode "write"), or read back (mode "read"); time and this process's peak memory are
// printed. One mode per process, since a peak never falls.
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "platform/clock.h"
#include "record/stage.h"
#include "result/document.h"
#include "result/summarize.h"
#include "stats/steadiness.h"

namespace vivace {
namespace {

constexpr std::size_t kStages = 6;
constexpr std::size_t kCovariates = 14;

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

void report(const char* step, std::int64_t started_ns) {
  std::printf("%-10s %7.2f s   peak %6.0f MB\n", step,
              static_cast<double>(platform::now_ns() - started_ns) * 1e-9, peak_mb());
}

result::Document made(std::size_t count) {
  result::Document document;
  result::Samples& samples = document.samples;
  std::uint64_t state = 1;
  const auto draw = [&state](std::int64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(below));
  };
  for (std::size_t i = 0; i < kStages; ++i) {
    samples.stages.push_back({static_cast<Stage>(static_cast<std::size_t>(Stage::kRead) + i), {}});
  }
  for (std::size_t i = 0; i < kCovariates; ++i) {
    samples.covariates.push_back({"covariate_" + std::to_string(i), {}});
  }
  // As the measuring loop does, which does not know how many samples a time limit will allow.
  const auto reserve = [](auto& column) { column.reserve(100'000); };
  reserve(samples.latency_ns);
  reserve(samples.start_ns);
  for (auto& stage : samples.stages) reserve(stage.times_ns);
  for (auto& covariate : samples.covariates) reserve(covariate.values);
  std::int64_t start_ns = 0;
  for (std::size_t sample = 0; sample < count; ++sample) {
    std::int64_t latency_ns = 0;
    for (auto& stage : samples.stages) {
      stage.times_ns.push_back(1'000'000 + draw(400'000));
      latency_ns += stage.times_ns.back();
    }
    samples.latency_ns.push_back(latency_ns);
    samples.start_ns.push_back(start_ns);
    start_ns += latency_ns;
    // A few counts, a few times, one fraction.
    for (std::size_t i = 0; i < kCovariates; ++i) {
      const double value =
          i % 3 == 0 ? static_cast<double>(draw(7'000'000)) : static_cast<double>(draw(4));
      samples.covariates[i].values.push_back(i == 13 ? value / 8 : value);
    }
  }
  document.phases.sampling.count = static_cast<std::int64_t>(count);
  return document;
}

int write(const char* path, std::size_t count) {
  std::int64_t started_ns = platform::now_ns();
  result::Document document = made(count);
  report("made", started_ns);
  started_ns = platform::now_ns();
  document.summary = result::summarize(document.samples);
  report("summarised", started_ns);
  started_ns = platform::now_ns();
  const auto steadiness = stats::assess_steadiness(document.samples.latency_ns);
  report(std::string(stats::name_of(steadiness.steadiness)).c_str(), started_ns);
  started_ns = platform::now_ns();
  if (const auto written = result::write_result(path, document); !written) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    return 1;
  }
  report("written", started_ns);
  return 0;
}

int read(const char* path) {
  const std::int64_t started_ns = platform::now_ns();
  const auto document = result::read_result(path);
  if (!document) {
    std::fprintf(stderr, "%s\n", document.error().message.c_str());
    return 1;
  }
  report("read", started_ns);
  std::printf("%zu samples\n", document->samples.latency_ns.size());
  return 0;
}

}  // namespace
}  // namespace vivace

int main(int argc, char** argv) {
  if (argc >= 3 && std::strcmp(argv[1], "write") == 0) {
    return vivace::write(argv[2], argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1'000'000);
  }
  if (argc == 3 && std::strcmp(argv[1], "read") == 0) return vivace::read(argv[2]);
  std::fprintf(stderr, "usage: %s write FILE [COUNT] | read FILE\n", argv[0]);
  return 64;
}
