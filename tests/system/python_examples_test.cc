// The workers in examples/ do what docs/systems.md says of them. Skipped where there is no Python.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>

#include <gmock/gmock.h>

#include "load/measure.h"
#include "platform/process.h"
#include "support/temporary_folder.h"
#include "system/child_processes.h"
#include "system/worker_system.h"

namespace vivace::system {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kExamples = std::string(VIVACE_SOURCE_DIR) + "/examples/";

class PythonExamples : public testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    if (std::system("python3 -c 'import hashlib' 2>/dev/null") != 0) {
      GTEST_SKIP() << "there is no python3";
    }
  }
  void TearDown() override { EXPECT_TRUE(test::no_child_is_left()); }

  static std::unique_ptr<WorkerSystem> started(const std::string& script, std::int64_t batch = 1) {
    auto system = WorkerSystem::start("python3 -B " + script, batch);
    EXPECT_TRUE(system) << (system ? "" : system.error().message);
    return system ? std::move(*system) : nullptr;
  }
  static Result<void> request(WorkerSystem& system, Recorder& recorder) {
    VIVACE_CHECK_OK(system.prepare());
    VIVACE_CHECK_OK(system.run(recorder));
    return system.finish();
  }
  /// A worker of one's own, beside the protocol.
  static std::unique_ptr<WorkerSystem> written(const test::TemporaryFolder& folder,
                                               const std::string& text) {
    const std::string path = (folder.path() / "worker.py").string();
    std::ofstream(path) << "import sys\nsys.path.insert(0, '" << kExamples << "')\n"
                        << "from worker_protocol import serve\n"
                        << text;
    return started(path);
  }
  static load::CompletionCheck completion_of(const std::string& arguments) {
    const auto system = started(kExamples + "worker_async.py" + arguments);
    if (!system) return {};
    load::MeasurePlan plan;
    plan.warm_up = 10;
    plan.samples = 25;
    const auto measured = load::measure(*system, plan, {});
    EXPECT_TRUE(measured) << (measured ? "" : measured.error().message);
    return measured ? measured->completion : load::CompletionCheck{};
  }
};

TEST_F(PythonExamples, ACallable) {
  const auto system = started(kExamples + "worker_callable.py", 3);
  ASSERT_TRUE(system);
  EXPECT_THAT(system->hello().name, HasSubstr("python-3"));
  EXPECT_EQ(system->items_per_run(), 3);
  EXPECT_EQ(system->completion(), Completion::kCpuTime);
  EXPECT_THAT(system->covariate_names(), ElementsAre("collections"));
  Recorder recorder;
  for (int i = 0; i < 3; ++i) {
    recorder.reset();
    ASSERT_TRUE(request(*system, recorder));
    EXPECT_GT(recorder.times()[static_cast<std::size_t>(Stage::kPreprocess)], 0);
    EXPECT_GT(recorder.times()[static_cast<std::size_t>(Stage::kContextEncode)], 0);
  }
}

TEST_F(PythonExamples, ACallThatReturnsEarlyIsFoundOut) {
  const load::CompletionCheck by_sync = completion_of("");
  EXPECT_EQ(by_sync.by, Completion::kSync);
  EXPECT_TRUE(by_sync.checked);
  EXPECT_TRUE(by_sync.asynchronous) << by_sync.excess_share;
}

TEST_F(PythonExamples, ACallThatReturnsEarlyIsFoundOutByItsCpuTime) {
  const load::CompletionCheck by_cpu = completion_of(" --no-sync");
  EXPECT_EQ(by_cpu.by, Completion::kCpuTime);
  EXPECT_TRUE(by_cpu.checked);
  EXPECT_TRUE(by_cpu.asynchronous) << by_cpu.excess_share;
}

TEST_F(PythonExamples, ACallThatWaitsIsNot) {
  for (const char* arguments : {" --wait", " --wait --no-sync"}) {
    const load::CompletionCheck waits = completion_of(arguments);
    EXPECT_TRUE(waits.checked);
    EXPECT_FALSE(waits.asynchronous) << arguments << ": " << waits.excess_share;
  }
}

TEST_F(PythonExamples, WhatIsPrintedDoesNoHarm) {
  const test::TemporaryFolder folder;
  const auto system = written(folder, R"(
import os
def run(request):
    print("running", flush=True)
    os.system("echo from a child")
serve(run, timeout_s=20, items=5)
)");
  ASSERT_TRUE(system);
  EXPECT_EQ(system->hello().timeout_ns, 20'000'000'000);
  EXPECT_EQ(system->items_per_run(), 5);
  Recorder recorder;
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(request(*system, recorder));
}

TEST_F(PythonExamples, AnExceptionIsReported) {
  const test::TemporaryFolder folder;
  const auto system = written(folder, R"(
def run(request):
    raise ValueError("no such\nlayer")
serve(run)
)");
  ASSERT_TRUE(system);
  Recorder recorder;
  const auto done = request(*system, recorder);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(done.error().message, HasSubstr("ValueError: no such layer"));
  EXPECT_THAT(done.error().message, HasSubstr("raise ValueError"));
}

/// The lines of the transcript in docs/systems.md: who says it, and what.
std::vector<std::pair<char, std::string>> transcript() {
  std::ifstream document(std::string(VIVACE_SOURCE_DIR) + "/docs/systems.md");
  std::vector<std::pair<char, std::string>> lines;
  std::string line;
  bool inside = false;
  while (std::getline(document, line)) {
    if (line.starts_with("```")) inside = line == "```transcript";
    if (inside && (line.starts_with("> ") || line.starts_with("< "))) {
      lines.emplace_back(line[0], line.substr(2));
    }
  }
  return lines;
}

TEST_F(PythonExamples, TheTranscriptInTheDocumentIsWhatIsSaid) {
  const auto lines = transcript();
  ASSERT_GE(lines.size(), 9U);
  const std::vector<std::string> words = {"python3", "-B", kExamples + "worker_callable.py"};
  auto talk = platform::Conversation::start(words);
  ASSERT_TRUE(talk);
  // Times and versions differ.
  const std::regex number("[0-9]+");
  const auto shape = [&](const std::string& text) { return std::regex_replace(text, number, "N"); };
  constexpr std::int64_t kTimeoutNs = 20'000'000'000;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].first == '>') {
      ASSERT_LT(i + 1, lines.size());
      const auto reply = talk->ask(lines[i].second, kTimeoutNs);
      ASSERT_TRUE(reply) << reply.error().message;
      EXPECT_EQ(shape(*reply), shape(lines[++i].second)) << lines[i - 1].second;
      EXPECT_EQ(lines[i].first, '<');
    } else {
      const auto hello = talk->listen(kTimeoutNs);
      ASSERT_TRUE(hello) << hello.error().message;
      EXPECT_EQ(std::regex_replace(*hello, std::regex("name:.*"), "name:"),
                std::regex_replace(lines[i].second, std::regex("name:.*"), "name:"));
    }
  }
}

}  // namespace
}  // namespace vivace::system
