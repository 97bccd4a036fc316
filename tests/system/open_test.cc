// Systems by their URI: which there are, what a result says of them, and which mistakes are named.
#include "system/open.h"

#include <csignal>
#include <string>

#include <gmock/gmock.h>

namespace vivace::system {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kWorker =
    "worker:echo vivace-worker 1 batch name:sh; while read -r line; do echo ok; done";

class OpenSystem : public testing::Test {
 protected:
  void SetUp() override { std::signal(SIGPIPE, SIG_IGN); }

  static std::string refusal(std::string_view uri, const OpenOptions& options = {},
                             ErrorCode code = ErrorCode::kUsage) {
    const auto opened = open_system(uri, options);
    if (opened) return "opened";
    EXPECT_EQ(opened.error().code, code) << opened.error().message;
    return opened.error().message;
  }
  static void expect_request(System& system) {
    Recorder recorder;
    EXPECT_TRUE(system.prepare());
    EXPECT_TRUE(system.run(recorder));
    EXPECT_TRUE(system.finish());
  }
};

TEST_F(OpenSystem, Synthetic) {
  for (const char* uri : {"synthetic", "synthetic:", "synthetic:mean=1us,clock=virtual"}) {
    const auto opened = open_system(uri, {.seed = 1, .batch = 3});
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(opened->kind, "synthetic");
    EXPECT_EQ(opened->name, uri);
    EXPECT_EQ(opened->load_ns, 0);
    EXPECT_EQ(opened->system->items_per_run(), 3);
    expect_request(*opened->system);
  }
}

TEST_F(OpenSystem, TheSeedIsTheSystems) {
  const auto first = [](std::uint64_t seed) {
    auto opened = open_system("synthetic:noise=10%,clock=virtual", {.seed = seed}).value();
    Recorder recorder;
    EXPECT_TRUE(opened.system->prepare());
    EXPECT_TRUE(opened.system->run(recorder));
    return opened.system->now_ns();
  };
  EXPECT_EQ(first(5), first(5));
  EXPECT_NE(first(5), first(6));
}

TEST_F(OpenSystem, Exec) {
  const auto opened = open_system("exec:exit 0", {});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->kind, "exec");
  EXPECT_THAT(opened->includes, Contains(HasSubstr("shell")));
  EXPECT_THAT(opened->excludes, IsEmpty());
  expect_request(*opened->system);
}

TEST_F(OpenSystem, ExecWithoutTheStartOfTheShell) {
  const auto opened = open_system("exec:exit 0", {.subtract_startup = true});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_THAT(opened->includes, ElementsAre("the command until its end"));
  EXPECT_THAT(opened->excludes,
              ElementsAre(AllOf(HasSubstr("start of the shell"), HasSubstr("s taken off"))));
  EXPECT_GT(opened->system->untimed_ns(), 0);
}

TEST_F(OpenSystem, Worker) {
  const auto opened = open_system(kWorker, {.batch = 2});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->kind, "worker");
  EXPECT_THAT(opened->name, AllOf(HasSubstr(kWorker), HasSubstr("(sh)")));
  EXPECT_GT(opened->load_ns, 0);
  EXPECT_THAT(opened->includes, Contains(HasSubstr("round trip through its pipe (")));
  expect_request(*opened->system);
}

TEST_F(OpenSystem, MistakesAreNamed) {
  EXPECT_THAT(refusal("sythetic:mean=1ms"), HasSubstr("did you mean synthetic:?"));
  EXPECT_THAT(refusal("worker"), HasSubstr("did you mean worker:?"));
  EXPECT_THAT(refusal("exce:true"), HasSubstr("did you mean exec:?"));
  EXPECT_THAT(refusal("gopher:x"), AllOf(HasSubstr("not a system"), HasSubstr("worker:COMMAND")));
  EXPECT_THAT(refusal(""), HasSubstr("not a system"));
  EXPECT_THAT(refusal("exec:"), HasSubstr("names no command"));
  EXPECT_THAT(refusal("worker: \t"), HasSubstr("names no command"));
  EXPECT_THAT(refusal("synthetic:meen=1ms"), HasSubstr("did you mean mean?"));
  EXPECT_THAT(refusal("exec:true", {.batch = 2}), HasSubstr("takes no --batch"));
  EXPECT_THAT(refusal(kWorker, {.subtract_startup = true}), HasSubstr("is for exec:COMMAND"));
  EXPECT_THAT(refusal("synthetic:", {.subtract_startup = true}), HasSubstr("exec:COMMAND"));
  EXPECT_THAT(refusal("http://localhost:8000/", {}, ErrorCode::kUnavailable),
              HasSubstr("docs/systems.md"));
  EXPECT_THAT(refusal("worker:exit 1", {}, ErrorCode::kUnavailable), HasSubstr("exit status 1"));
  EXPECT_THAT(refusal("worker:echo hello", {}, ErrorCode::kBadData), HasSubstr("no greeting"));
}

}  // namespace
}  // namespace vivace::system
