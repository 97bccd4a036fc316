// Workers: what is understood of them, and that none of their failures is taken for a latency,
// hangs vivace or stays behind. They are written in the shell's language, which every machine has.
#include "system/worker_system.h"

#include <csignal>
#include <string>

#include <gmock/gmock.h>

#include "support/temporary_folder.h"
#include "system/child_processes.h"

namespace vivace::system {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kSoonNs = 200'000'000;

/// A worker with such a greeting that does this for each run, and answers ok to all else.
std::string worker(const std::string& hello, const std::string& on_run = "echo ok") {
  return "echo vivace-worker 1 " + hello + "; while read -r verb rest; do case $verb in run) " +
         on_run + " ;; *) echo ok ;; esac; done";
}

class WorkerTest : public testing::Test {
 protected:
  void SetUp() override { std::signal(SIGPIPE, SIG_IGN); }  // as the program does
  void TearDown() override { EXPECT_TRUE(test::no_child_is_left()); }

  static Result<void> request(WorkerSystem& system, Recorder& recorder) {
    VIVACE_CHECK_OK(system.prepare());
    VIVACE_CHECK_OK(system.run(recorder));
    return system.finish();
  }
  static std::unique_ptr<WorkerSystem> started(const std::string& command, std::int64_t batch = 1) {
    auto system = WorkerSystem::start(command, batch);
    EXPECT_TRUE(system) << (system ? "" : system.error().message);
    return system ? std::move(*system) : nullptr;
  }
  /// What is said of a worker that cannot be started.
  static std::string refusal(const std::string& command, ErrorCode code, std::int64_t batch = 1,
                             std::int64_t timeout_ns = kHelloTimeoutNs) {
    const auto system = WorkerSystem::start(command, batch, timeout_ns);
    if (system) return "started";
    EXPECT_EQ(system.error().code, code) << system.error().message;
    return system.error().message;
  }
  /// What is said of a worker that fails in one of two requests.
  static std::string failure(const std::string& command, ErrorCode code) {
    const auto system = started(command);
    if (!system) return "not started";
    Recorder recorder;
    for (int i = 0; i < 2; ++i) {
      recorder.reset();
      if (const auto done = request(*system, recorder); !done) {
        EXPECT_EQ(done.error().code, code) << done.error().message;
        EXPECT_THAT(done.error().message, HasSubstr("worker"));
        return done.error().message;
      }
    }
    return "done";
  }
};

std::string bad_hello(std::string_view line) {
  const auto hello = parse_hello(line);
  if (hello) return "accepted";
  EXPECT_EQ(hello.error().code, ErrorCode::kBadData);
  return hello.error().message;
}

TEST(ParseHello, ReadsWhatAWorkerCan) {
  const WorkerHello plain = parse_hello("vivace-worker 1").value();
  EXPECT_FALSE(plain.has_sync);
  EXPECT_FALSE(plain.takes_batch);
  EXPECT_EQ(plain.items, 1);
  EXPECT_EQ(plain.timeout_ns, kReplyTimeoutNs);
  const WorkerHello full = parse_hello(
                               "vivace-worker 1 sync batch items:8 stages:decode,context_encode "
                               "covariates:allocations,gc_runs timeout:2.5  name:torch-2.7:cpu")
                               .value();
  EXPECT_TRUE(full.has_sync);
  EXPECT_TRUE(full.takes_batch);
  EXPECT_EQ(full.items, 8);
  EXPECT_THAT(full.stages, ElementsAre(Stage::kDecode, Stage::kContextEncode));
  EXPECT_THAT(full.covariates, ElementsAre("allocations", "gc_runs"));
  EXPECT_EQ(full.timeout_ns, 2'500'000'000);
  EXPECT_EQ(full.name, "torch-2.7:cpu");
}

TEST(ParseHello, RefusesWhatItDoesNotKnow) {
  for (const char* line : {"", "vivace-worker", "Loading model...", "vivace-workers 1"}) {
    EXPECT_THAT(bad_hello(line), AllOf(HasSubstr("no greeting"), HasSubstr("standard error")))
        << line;
  }
  EXPECT_THAT(bad_hello("vivace-worker 2"), HasSubstr("another version"));
  EXPECT_THAT(bad_hello("vivace-worker 1 snyc"), HasSubstr("\"snyc\""));
  EXPECT_THAT(bad_hello("vivace-worker 1 stages:decode,denoise"), HasSubstr("\"denoise\""));
  EXPECT_THAT(bad_hello("vivace-worker 1 stages:unattributed"), HasSubstr("stage"));
  EXPECT_THAT(bad_hello("vivace-worker 1 covariates:"), HasSubstr("covariate"));
  EXPECT_THAT(bad_hello("vivace-worker 1 covariates:a,a"), HasSubstr("twice"));
  EXPECT_THAT(bad_hello("vivace-worker 1 covariates:Fancy-Name"), HasSubstr("lower-case"));
  for (const char* name : {"major_faults", "spin_probe_ns", "steal_ticks"}) {
    EXPECT_THAT(bad_hello(std::string("vivace-worker 1 covariates:") + name), HasSubstr("itself"));
  }
  for (const char* word : {"items:0", "items:x", "items"}) {
    EXPECT_THAT(bad_hello(std::string("vivace-worker 1 ") + word), HasSubstr("items")) << word;
  }
  for (const char* word : {"timeout:0", "timeout:x", "timeout:1e9", "timeout:-1"}) {
    EXPECT_THAT(bad_hello(std::string("vivace-worker 1 ") + word), HasSubstr("timeout")) << word;
  }
}

TEST_F(WorkerTest, AnswersRequests) {
  const auto system = started(worker("name:shell"));
  ASSERT_TRUE(system);
  EXPECT_EQ(system->hello().name, "shell");
  EXPECT_GT(system->round_trip_ns(), 0);
  EXPECT_EQ(system->items_per_run(), 1);
  EXPECT_EQ(system->completion(), Completion::kCpuTime);
  EXPECT_FALSE(system->runs_here());
  EXPECT_TRUE(system->covariate_names().empty());
  Recorder recorder;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(request(*system, recorder));
  EXPECT_TRUE(system->sync());  // it has none, and is not asked
  EXPECT_EQ(recorder.sum_ns(), 0);
}

TEST_F(WorkerTest, IsToldOfEveryPhaseAndTheBatch) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "asked").string();
  const auto system = started(
      "echo vivace-worker 1 sync batch items:2; while read -r line; do "
      "echo $line >>" +
          file + "; echo ok; done",
      4);
  ASSERT_TRUE(system);
  EXPECT_EQ(system->items_per_run(), 8);
  EXPECT_EQ(system->completion(), Completion::kSync);
  std::ofstream(file).close();  // forgets what was asked at the start
  Recorder recorder;
  ASSERT_TRUE(system->prepare());
  ASSERT_TRUE(system->run(recorder));
  ASSERT_TRUE(system->sync());
  ASSERT_TRUE(system->finish());
  std::ifstream asked(file);
  std::string line;
  std::vector<std::string> lines;
  while (std::getline(asked, line)) lines.push_back(line);
  EXPECT_THAT(lines, ElementsAre("prepare 4", "run", "sync", "finish"));
}

TEST_F(WorkerTest, TellsStagesAndCovariatesOfEachRun) {
  const auto system = started(worker("stages:decode,predict covariates:depth,misses",
                                     "n=$((n+1)); if [ $n = 1 ]; then echo ok stage:decode=11 "
                                     "covariate:misses=2.5 stage:predict=7; else echo ok "
                                     "covariate:depth=1e3 stage:decode=1 stage:decode=2; fi"));
  ASSERT_TRUE(system);
  EXPECT_THAT(system->covariate_names(), ElementsAre("depth", "misses"));
  Recorder recorder;
  ASSERT_TRUE(request(*system, recorder));
  const auto time = [&](Stage stage) { return recorder.times()[static_cast<std::size_t>(stage)]; };
  EXPECT_EQ(time(Stage::kDecode), 11);
  EXPECT_EQ(time(Stage::kPredict), 7);
  EXPECT_EQ(recorder.sum_ns(), 18);
  EXPECT_THAT(system->covariates(), ElementsAre(0, 2.5));
  // What is left out is 0, not the last value; a stage that comes twice adds up.
  recorder.reset();
  ASSERT_TRUE(request(*system, recorder));
  EXPECT_EQ(time(Stage::kDecode), 3);
  EXPECT_EQ(recorder.sum_ns(), 3);
  EXPECT_THAT(system->covariates(), ElementsAre(1000, 0));
}

TEST_F(WorkerTest, WhatCannotBeReadIsAnError) {
  const auto answering = [&](const std::string& answer) {
    return failure(worker("stages:decode covariates:depth", "echo '" + answer + "'"),
                   ErrorCode::kBadData);
  };
  EXPECT_THAT(answering("loaded 3 images"), HasSubstr("\"loaded 3 images\""));
  EXPECT_THAT(answering("okay"), HasSubstr("ok or error MESSAGE"));
  EXPECT_THAT(answering(""), HasSubstr("ok or error MESSAGE"));
  for (const char* fact :
       {"decode=3", "stage:decode", "stage:decode=", "stage:decode=3ms", "stage:decode=-1",
        "stage:decode=nan", "stage:decode=1e300", "stage:predict=3", "stage:unattributed=3",
        "covariate:width=1", "covariate:depth=x", "=stage:decode", "colour:red=3"}) {
    EXPECT_THAT(answering(std::string("ok ") + fact), HasSubstr("as announced")) << fact;
  }
  EXPECT_THAT(answering("ok stage:decode=900000000000"), HasSubstr("longer than its run"));
  // Only run may say more than ok.
  EXPECT_THAT(failure("echo vivace-worker 1; while read -r verb rest; do case $verb in prepare) "
                      "echo ok stage:decode=1 ;; *) echo ok ;; esac; done",
                      ErrorCode::kBadData),
              HasSubstr("says too much"));
}

TEST_F(WorkerTest, AnAnswerTooManyIsNotTakenForTheNext) {
  const std::string expected = "a line that it was not asked for";
  EXPECT_THAT(failure(worker("", "echo ok; echo ok"), ErrorCode::kUnavailable),
              HasSubstr(expected));
  // One that comes late: from then on the worker would be an answer behind.
  EXPECT_THAT(failure(worker("", "(sleep 0.01; echo ok) & echo ok; wait"), ErrorCode::kUnavailable),
              HasSubstr(expected));
}

TEST_F(WorkerTest, ReportsItsOwnErrors) {
  EXPECT_THAT(
      failure(worker("", "echo detail: 5 >&2; echo error out of memory"), ErrorCode::kUnavailable),
      AllOf(HasSubstr("error out of memory"), HasSubstr("detail: 5")));
  EXPECT_THAT(failure(worker("", "echo error"), ErrorCode::kUnavailable), HasSubstr("error"));
}

TEST_F(WorkerTest, OneThatEndsSaysWhy) {
  EXPECT_THAT(refusal("echo no such module >&2; exit 3", ErrorCode::kUnavailable),
              AllOf(HasSubstr("exit status 3"), HasSubstr("no such module")));
  EXPECT_THAT(refusal("/nonexistent/worker", ErrorCode::kUnavailable),
              AllOf(HasSubstr("exit status 127"), HasSubstr("not found")));
  EXPECT_THAT(refusal("echo vivace-worker 1", ErrorCode::kUnavailable), HasSubstr("status 0"));
  EXPECT_THAT(failure(worker("", "echo going down >&2; exit 9"), ErrorCode::kUnavailable),
              AllOf(HasSubstr("exit status 9"), HasSubstr("going down")));
  EXPECT_THAT(failure(worker("", "kill -9 $$"), ErrorCode::kUnavailable),
              HasSubstr("exit status 137"));
  // In the middle of an answer.
  EXPECT_THAT(failure(worker("", "printf 'ok stage'; exit 4"), ErrorCode::kUnavailable),
              HasSubstr("exit status 4"));
}

TEST_F(WorkerTest, OneThatHasEndedStaysEnded) {
  const auto system = started(worker("", "exit 9"));
  ASSERT_TRUE(system);
  Recorder recorder;
  EXPECT_FALSE(request(*system, recorder));
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(request(*system, recorder));
  (void)system->usage();
}

TEST_F(WorkerTest, OneThatHangsIsGivenUp) {
  EXPECT_THAT(refusal("echo loading >&2; sleep 600", ErrorCode::kUnavailable, 1, kSoonNs),
              AllOf(HasSubstr("did not answer within 200 ms"), HasSubstr("loading")));
  EXPECT_THAT(refusal("printf vivace-worker; sleep 600", ErrorCode::kUnavailable, 1, kSoonNs),
              HasSubstr("did not answer"));
}

TEST_F(WorkerTest, OneThatHangsInARunIsGivenUp) {
  EXPECT_THAT(failure(worker("timeout:0.2", "sleep 600"), ErrorCode::kUnavailable),
              HasSubstr("did not answer within 200 ms"));
}

TEST_F(WorkerTest, LongLinesAreReadOrRefused) {
  const std::string spaces = "i=0; l=' '; while [ $i -lt 12 ]; do l=\"$l$l\"; i=$((i+1)); done; ";
  EXPECT_EQ(failure(spaces + worker("", "echo \"ok$l\""), ErrorCode::kUnavailable), "done");
  EXPECT_THAT(failure(worker("", "yes x | tr -d '\\n'"), ErrorCode::kUnavailable),
              HasSubstr("more than 64 KiB"));
}

TEST_F(WorkerTest, TheCommandIsAnyShellCommand) {
  const test::TemporaryFolder folder;
  const auto system = started("cd " + folder.path().string() + " && NAME=Ada sh -c '" +
                              "echo vivace-worker 1 name:$NAME:$(basename $PWD); "
                              "while read -r line; do echo ok; done'");
  ASSERT_TRUE(system);
  EXPECT_EQ(system->hello().name, "Ada:" + folder.path().filename().string());
}

TEST_F(WorkerTest, ABatchIsOnlyForThoseThatTakeIt) {
  EXPECT_THAT(refusal(worker(""), ErrorCode::kUsage, 8), HasSubstr("takes no --batch"));
  EXPECT_EQ(started(worker("batch"), 8)->items_per_run(), 8);
}

TEST_F(WorkerTest, CountsWhatItAndItsChildrenUse) {
  const std::string loop = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; ";
  for (const bool in_a_child : {false, true}) {
    const auto system =
        started(worker("", (in_a_child ? "(" + loop + "true); " : loop) + "echo ok"));
    ASSERT_TRUE(system);
    const platform::Usage before = system->usage();
    Recorder recorder;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(request(*system, recorder));
    const platform::Usage after = system->usage();
    // At least the kernel's ticks of a child that has ended.
    EXPECT_GT(after.cpu_ns, before.cpu_ns + 10'000'000) << in_a_child;
    EXPECT_GE(after.voluntary_switches, before.voluntary_switches);
    EXPECT_GE(after.minor_faults, before.minor_faults);
  }
}

TEST_F(WorkerTest, NothingIsLeftOfOneThatDoesNotHeedTheEnd) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "pids").string();
  {
    // It has a child, and goes on when its input ends.
    const auto system =
        started("sleep 600 & echo $! >" + file + "; trap '' TERM; " + worker("") + "; sleep 600");
    ASSERT_TRUE(system);
  }
  EXPECT_TRUE(test::has_ended(test::number_in(file)));
}

TEST_F(WorkerTest, WhatItStartedEndsWithIt) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "pid").string();
  // The child does not hold the pipe, so the end of the worker is seen at once.
  EXPECT_THAT(failure("sleep 600 >/dev/null & echo $! >" + file + "; " + worker("", "exit 1"),
                      ErrorCode::kUnavailable),
              HasSubstr("exit status 1"));
  EXPECT_TRUE(test::has_ended(test::number_in(file)));
}

TEST_F(WorkerTest, AnInterruptEndsTheWait) {
  const auto system = started(worker("", "sleep 600"));
  ASSERT_TRUE(system);
  ASSERT_TRUE(system->prepare());
  const test::Interruptions interruptions;
  Recorder recorder;
  const auto done = system->run(recorder);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace vivace::system
