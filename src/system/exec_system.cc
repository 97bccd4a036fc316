#include "system/exec_system.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/text.h"
#include "platform/clock.h"
#include "platform/process.h"

namespace vivace::system {
namespace {

constexpr std::size_t kStartupsMin = 20;
constexpr std::size_t kStartupsMax = 101;

Result<platform::Finished> shell(const std::string& command) {
  const std::vector<std::string> words = {"/bin/sh", "-c", command};
  return platform::run_quietly(words);
}

}  // namespace

ExecSystem::ExecSystem(std::string command, bool subtract_startup)
    : command_(std::move(command)), subtract_startup_(subtract_startup) {}

Result<void> ExecSystem::prepare() {
  if (!subtract_startup_) return {};
  do {
    const std::int64_t start_ns = platform::now_ns();
    VIVACE_CHECK_OK(shell(":"));
    startups_ns_.push_back(platform::now_ns() - start_ns);
  } while (startups_ns_.size() < kStartupsMin);
  if (startups_ns_.size() > kStartupsMax) startups_ns_.erase(startups_ns_.begin());
  std::vector<std::int64_t> sorted = startups_ns_;
  std::sort(sorted.begin(), sorted.end());
  startup_ns_ = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
  return {};
}

Result<void> ExecSystem::run(Recorder& recorder) {
  (void)recorder;  // what happens inside of a command is its own affair
  VIVACE_TRY(const platform::Finished finished, shell(command_));
  usage_.cpu_ns += finished.usage.cpu_ns;
  usage_.voluntary_switches += finished.usage.voluntary_switches;
  usage_.involuntary_switches += finished.usage.involuntary_switches;
  usage_.minor_faults += finished.usage.minor_faults;
  usage_.major_faults += finished.usage.major_faults;
  if (finished.status == 0) return {};
  return fail(ErrorCode::kUnavailable,
              {.what = "the command failed: " + quote(command_),
               .expected = "exit status 0",
               .got = fmt::format("exit status {}{}{}", finished.status,
                                  finished.last_words.empty() ? "" : ", ", finished.last_words),
               .advice = "run it by hand first"});
}

}  // namespace vivace::system
