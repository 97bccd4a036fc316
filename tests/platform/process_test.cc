#include "platform/process.h"

#include <csignal>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace vivace::platform {
namespace {

Result<int> shell(const std::string& script, const std::atomic<bool>& stop) {
  const std::vector<std::string> words = {"/bin/sh", "-c", script};
  return run_program(words, stop);
}

TEST(RunProgram, GivesTheExitStatus) {
  const std::atomic<bool> stop{false};
  EXPECT_EQ(shell("exit 0", stop).value(), 0);
  EXPECT_EQ(shell("exit 7", stop).value(), 7);
  EXPECT_EQ(shell("kill -TERM $$", stop).value(), 128 + SIGTERM);
  // Nothing comes from standard input.
  EXPECT_EQ(shell("read line && exit 1; exit 4", stop).value(), 4);
}

TEST(RunProgram, PassesTheInterruptOnAndWaits) {
  std::atomic<bool> stop{false};
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  const auto status = shell("trap 'exit 42' INT; while :; do sleep 0.02; done", stop);
  later.join();
  EXPECT_EQ(status.value(), 42);
}

TEST(RunProgram, SaysThatAProgramIsMissing) {
  const std::atomic<bool> stop{false};
  const std::vector<std::string> words = {"/nonexistent/program"};
  const auto status = run_program(words, stop);
  if (status && *status == 127) {
    GTEST_SKIP() << "an emulator's posix_spawn cannot tell that a program is missing";
  }
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(status.error().message.find("/nonexistent/program"), std::string::npos);
}

}  // namespace
}  // namespace vivace::platform
