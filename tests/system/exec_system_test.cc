// Commands as systems: what is run, what is told of a failure, and what is left behind (nothing).
#include "system/exec_system.h"

#include <string>

#include <gmock/gmock.h>

#include "support/temporary_folder.h"
#include "system/child_processes.h"

namespace vivace::system {
namespace {

using testing::HasSubstr;

Result<void> run(ExecSystem& system) {
  Recorder recorder;
  VIVACE_CHECK_OK(system.prepare());
  VIVACE_CHECK_OK(system.run(recorder));
  EXPECT_EQ(recorder.sum_ns(), 0);
  return system.finish();
}

std::string failure(const std::string& command) {
  ExecSystem system(command, false);
  const auto done = run(system);
  EXPECT_TRUE(test::no_child_is_left());
  if (done) return "done";
  EXPECT_EQ(done.error().code, ErrorCode::kUnavailable);
  return done.error().message;
}

TEST(ExecSystem, RunsAShellCommandEachTime) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "count").string();
  ExecSystem system("printf x >>" + file, false);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(run(system));
  EXPECT_EQ(std::filesystem::file_size(file), 3U);
  EXPECT_EQ(system.untimed_ns(), 0);
  EXPECT_EQ(system.items_per_run(), 1);
  EXPECT_EQ(system.completion(), Completion::kByConstruction);
  EXPECT_FALSE(system.runs_here());
  EXPECT_FALSE(system.simulated());
}

TEST(ExecSystem, HasNoInputAndNoOutput) {
  // Fails where a line can be read or where the output is no device.
  EXPECT_EQ(failure("! read line && echo unseen && [ -c /proc/self/fd/1 ]"), "done");
}

TEST(ExecSystem, TellsHowACommandFailed) {
  EXPECT_THAT(failure("exit 3"), HasSubstr("exit status 3)"));
  EXPECT_THAT(failure("kill -9 $$"), HasSubstr("exit status 137"));
  EXPECT_THAT(failure("/nonexistent/program"), HasSubstr("exit status 127"));
  EXPECT_THAT(failure("/nonexistent/program"), HasSubstr("not found"));
  const std::string said = failure("echo first >&2; echo unseen; echo no such model >&2; exit 1");
  EXPECT_THAT(said, HasSubstr("exit status 1, \"first / no such model\""));
  EXPECT_THAT(said, testing::Not(HasSubstr("unseen / ")));
  EXPECT_THAT(failure("echo warning >&2"), "done");
  // The end of what is said is what counts.
  const std::string much =
      failure("i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1");
  EXPECT_THAT(much, HasSubstr("line 1999"));
  EXPECT_LT(much.size(), 1000U);
}

TEST(ExecSystem, CountsWhatTheCommandUses) {
  ExecSystem system("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", false);
  const platform::Usage before = system.usage();
  ASSERT_TRUE(run(system));
  const platform::Usage once = system.usage();
  EXPECT_GT(once.cpu_ns, before.cpu_ns);
  EXPECT_GT(once.minor_faults, before.minor_faults);
  ASSERT_TRUE(run(system));
  EXPECT_GT(system.usage().cpu_ns, once.cpu_ns);
  // Also what a command's own children use.
  ExecSystem outer("sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; true", false);
  ASSERT_TRUE(run(outer));
  EXPECT_GT(outer.usage().cpu_ns, 0);
}

TEST(ExecSystem, EstimatesTheStartOfTheShell) {
  ExecSystem system("true", true);
  EXPECT_EQ(system.untimed_ns(), 0);
  ASSERT_TRUE(system.prepare());
  EXPECT_GT(system.untimed_ns(), 0);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(run(system));
  EXPECT_GT(system.untimed_ns(), 0);
  EXPECT_TRUE(test::no_child_is_left());
}

TEST(ExecSystem, AnInterruptEndsTheCommandAndWhatItStarted) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "child").string();
  ExecSystem system("sleep 600 & echo $! >" + file + "; wait", false);
  {
    const test::Interruptions interruptions;
    const auto done = run(system);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kInterrupted);
  }
  EXPECT_TRUE(test::no_child_is_left());
  // The interrupt may have come before the child was there.
  if (!std::filesystem::exists(file)) return;
  const pid_t child = test::number_in(file);
  EXPECT_TRUE(child == 0 || test::has_ended(child));
}

}  // namespace
}  // namespace vivace::system
