#include "system/worker_system.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/text.h"
#include "platform/clock.h"

namespace vivace::system {
namespace {

/// A worker may load a model before it says hello, and run for long.
constexpr std::int64_t kHelloTimeoutNs = 300'000'000'000;
constexpr std::int64_t kReplyTimeoutNs = 60'000'000'000;
constexpr int kRoundTrips = 51;

tl::unexpected<Error> bad_line(std::string what, std::string expected, std::string_view got) {
  return fail(ErrorCode::kBadData,
              {.what = std::move(what),
               .expected = std::move(expected),
               .got = quote(got),
               .advice = "standard output of a worker is for the protocol alone (docs/systems.md); "
                         "let it log to standard error"});
}

}  // namespace

Result<WorkerHello> parse_hello(std::string_view line) {
  const auto words = split(line, ' ');
  if (words.size() < 2 || words[0] != "vivace-worker") {
    return bad_line("the worker's first line is no greeting", "\"vivace-worker 1 ...\"", line);
  }
  if (words[1] != "1") {
    return bad_line("the worker speaks another version of the protocol", "version 1", words[1]);
  }
  WorkerHello hello;
  for (const std::string_view word : std::span(words).subspan(2)) {
    const auto colon = word.find(':');
    const std::string_view key = word.substr(0, colon);
    const std::string_view value =
        colon == std::string_view::npos ? std::string_view() : word.substr(colon + 1);
    if (word.empty()) continue;
    if (word == "sync") {
      hello.has_sync = true;
    } else if (word == "batch") {
      hello.takes_batch = true;
    } else if (key == "name") {
      hello.name = value;
    } else if (key == "stages") {
      for (const std::string_view name : split(value, ',')) {
        const auto stage = stage_named(name);
        if (!stage || *stage == Stage::kUnattributed) {
          return bad_line("the worker names a stage that there is not",
                          "read, decode, preprocess, host_to_device, context_encode ...", name);
        }
        hello.stages.push_back(*stage);
      }
    } else if (key == "covariates") {
      for (const std::string_view name : split(value, ',')) {
        if (name.empty()) return bad_line("the worker names an empty covariate", "a name", word);
        hello.covariates.emplace_back(name);
      }
    } else {
      return bad_line("the worker's greeting has a word that is not known",
                      "sync, batch, stages:..., covariates:... or name:...", word);
    }
  }
  return hello;
}

WorkerSystem::WorkerSystem(platform::Conversation conversation, WorkerHello hello,
                           std::int64_t batch)
    : conversation_(std::move(conversation)),
      hello_(std::move(hello)),
      batch_(batch),
      prepare_line_(fmt::format("prepare {}", batch)),
      values_(hello_.covariates.size(), 0) {}

Result<std::unique_ptr<WorkerSystem>> WorkerSystem::start(const std::string& command,
                                                          std::int64_t batch) {
  // exec, so that the process that is watched is the worker and not a shell before it.
  const std::vector<std::string> words = {"/bin/sh", "-c", "exec " + command};
  VIVACE_TRY(platform::Conversation conversation, platform::Conversation::start(words));
  const auto of_worker = [&](Error error) {
    return tl::unexpected(with_context(std::move(error), "worker " + quote(command)));
  };
  auto line = conversation.listen(kHelloTimeoutNs);
  if (!line) return of_worker(std::move(line).error());
  auto hello = parse_hello(*line);
  if (!hello) return of_worker(std::move(hello).error());
  if (batch > 1 && !hello->takes_batch) {
    return fail(ErrorCode::kUsage, {.what = "worker " + quote(command) + " takes no --batch",
                                    .expected = "a batch of 1",
                                    .got = std::to_string(batch),
                                    .advice = "let its greeting say batch, and heed prepare N"});
  }
  std::unique_ptr<WorkerSystem> worker(
      new WorkerSystem(std::move(conversation), std::move(*hello), batch));
  auto calibrated = worker->calibrate();
  if (!calibrated) return of_worker(std::move(calibrated).error());
  return worker;
}

Result<void> WorkerSystem::calibrate() {
  std::vector<std::int64_t> times_ns;
  for (int i = 0; i < kRoundTrips; ++i) {
    const std::int64_t start_ns = platform::now_ns();
    VIVACE_CHECK_OK(ask_plainly("nop"));
    times_ns.push_back(platform::now_ns() - start_ns);
  }
  std::nth_element(times_ns.begin(), times_ns.begin() + kRoundTrips / 2, times_ns.end());
  round_trip_ns_ = times_ns[kRoundTrips / 2];
  return {};
}

/// What follows "ok" in the reply.
Result<std::string> WorkerSystem::ask(std::string_view request) {
  VIVACE_TRY(std::string reply, conversation_.ask(request, kReplyTimeoutNs));
  if (reply == "ok") return std::string();
  if (reply.starts_with("ok ")) return reply.substr(3);
  if (reply.starts_with("error")) {
    const std::string words = conversation_.last_words();
    return fail(ErrorCode::kUnavailable,
                {.what = "the worker reports an error",
                 .expected = "ok",
                 .got = quote(reply, 300) + (words.empty() ? "" : "; it said " + words),
                 .advice = {}});
  }
  return bad_line(fmt::format("the worker's answer to {} cannot be read", quote(request)),
                  "ok or error MESSAGE", reply);
}

Result<void> WorkerSystem::ask_plainly(std::string_view request) {
  VIVACE_TRY(const std::string rest, ask(request));
  if (rest.empty()) return {};
  return bad_line(fmt::format("the worker's answer to {} says too much", quote(request)), "ok",
                  rest);
}

Result<void> WorkerSystem::prepare() { return ask_plainly(prepare_line_); }
Result<void> WorkerSystem::sync() { return hello_.has_sync ? ask_plainly("sync") : Result<void>(); }
Result<void> WorkerSystem::finish() { return ask_plainly("finish"); }

Result<void> WorkerSystem::run(Recorder& recorder) {
  VIVACE_TRY(const std::string facts, ask("run"));
  return read_facts(facts, recorder);
}

/// "stage:decode=12345 covariate:allocations=3": whole nanoseconds, and numbers.
Result<void> WorkerSystem::read_facts(std::string_view facts, Recorder& recorder) {
  std::fill(values_.begin(), values_.end(), 0);
  for (const std::string_view word : split(facts, ' ')) {
    if (word.empty()) continue;
    const auto colon = word.find(':');
    const auto equals = word.find('=');
    const std::string expected = "stage:NAME=NANOSECONDS or covariate:NAME=NUMBER, as announced";
    if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon) {
      return bad_line("the worker's answer to run cannot be read", expected, word);
    }
    const std::string_view kind = word.substr(0, colon);
    const std::string_view name = word.substr(colon + 1, equals - colon - 1);
    const std::string_view number = word.substr(equals + 1);
    double value = 0;
    const auto [end, problem] =
        std::from_chars(number.data(), number.data() + number.size(), value);
    const bool is_number = problem == std::errc() && end == number.data() + number.size() &&
                           value >= 0 && value < 9e18;
    const auto stage = stage_named(name);
    const auto covariate = std::find(hello_.covariates.begin(), hello_.covariates.end(), name);
    if (is_number && kind == "stage" && stage &&
        std::find(hello_.stages.begin(), hello_.stages.end(), *stage) != hello_.stages.end()) {
      recorder.add(*stage, static_cast<std::int64_t>(value));
    } else if (is_number && kind == "covariate" && covariate != hello_.covariates.end()) {
      values_[static_cast<std::size_t>(covariate - hello_.covariates.begin())] = value;
    } else {
      return bad_line("the worker's answer to run cannot be read", expected, word);
    }
  }
  return {};
}

}  // namespace vivace::system
