#include "system/worker_system.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/text.h"
#include "core/units.h"
#include "platform/clock.h"
#include "platform/surroundings.h"

namespace vivace::system {
namespace {

constexpr int kRoundTrips = 51;
constexpr int kSilencesExpected = 20;
constexpr int kSilenceMs = 2;
/// As many as fit into an answer can be added up.
constexpr double kFactMax = 1e15;
constexpr std::int64_t kDayNs = 86'400'000'000'000;
/// Two clocks of one machine may differ by as much over a request.
constexpr double kStageExcessMax = 0.01;
/// What the measuring loop records of every system, beside what platform/surroundings reads.
constexpr std::array<std::string_view, 9> kRecordedNames = {
    "cpu_time_ns",  "voluntary_switches", "involuntary_switches",
    "minor_faults", "major_faults",       "migrated",
    "cpu",          "spin_probe_ns",      "memory_probe_ns"};

tl::unexpected<Error> bad_line(std::string what, std::string expected, std::string_view got) {
  return fail(ErrorCode::kBadData,
              {.what = std::move(what),
               .expected = std::move(expected),
               .got = quote(got),
               .advice = "standard output of a worker is for the protocol alone (docs/systems.md); "
                         "let it log to standard error"});
}

tl::unexpected<Error> bad_fact(std::string_view word) {
  return bad_line("the worker's answer to run cannot be read",
                  "stage:NAME=NANOSECONDS or covariate:NAME=NUMBER, as announced", word);
}

Result<void> read_stages(std::string_view names, WorkerHello& hello) {
  for (const std::string_view name : split(names, ',')) {
    const auto stage = stage_named(name);
    if (!stage || *stage == Stage::kUnattributed) {
      return bad_line("the worker names a stage that there is not",
                      "read, decode, preprocess, host_to_device, context_encode ...", name);
    }
    hello.stages.push_back(*stage);
  }
  return {};
}

bool is_recorded(std::string_view name) {
  for (std::size_t i = 0; i < platform::kSurroundingCount; ++i) {
    if (name == platform::name_of(static_cast<platform::Surrounding>(i))) return true;
  }
  return std::find(kRecordedNames.begin(), kRecordedNames.end(), name) != kRecordedNames.end();
}

Result<void> read_covariates(std::string_view names, WorkerHello& hello) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (const std::string_view name : split(names, ',')) {
    if (name.empty() || name.find_first_not_of(kLetters) != std::string_view::npos) {
      return bad_line("the worker names a covariate that findings cannot name",
                      "lower-case letters, digits and _", name);
    }
    const bool again =
        std::find(hello.covariates.begin(), hello.covariates.end(), name) != hello.covariates.end();
    if (again || is_recorded(name)) {
      return bad_line(again ? "the worker names a covariate twice"
                            : "vivace records a covariate of this name itself",
                      "a name of its own for each", name);
    }
    hello.covariates.emplace_back(name);
  }
  return {};
}

/// One word of the greeting, after the version.
Result<void> read_word(std::string_view word, WorkerHello& hello) {
  const auto colon = word.find(':');
  const std::string_view key = word.substr(0, colon);
  const std::string_view value =
      colon == std::string_view::npos ? std::string_view() : word.substr(colon + 1);
  if (word == "sync") {
    hello.has_sync = true;
  } else if (word == "batch") {
    hello.takes_batch = true;
  } else if (key == "name") {
    hello.name = value;
  } else if (key == "stages") {
    return read_stages(value, hello);
  } else if (key == "covariates") {
    return read_covariates(value, hello);
  } else if (key == "items") {
    const auto items = parse_count(value, 1, 1'000'000'000);
    if (!items) return bad_line("the worker's items cannot be read", "items:N, N >= 1", word);
    hello.items = *items;
  } else if (key == "timeout") {
    const auto timeout_ns = parse_duration_ns(fmt::format("{}s", value));
    if (!timeout_ns || *timeout_ns == 0 || *timeout_ns > kDayNs) {
      return bad_line("the worker's timeout cannot be read", "timeout:SECONDS, at most a day",
                      word);
    }
    hello.timeout_ns = *timeout_ns;
  } else {
    return bad_line("the worker's greeting has a word that is not known",
                    "sync, batch, items:N, stages:..., covariates:..., timeout:SECONDS or name:...",
                    word);
  }
  return {};
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
    if (!word.empty()) VIVACE_CHECK_OK(read_word(word, hello));
  }
  return hello;
}

WorkerSystem::WorkerSystem(std::string command, platform::Conversation conversation,
                           WorkerHello hello, std::int64_t batch)
    : command_(std::move(command)),
      conversation_(std::move(conversation)),
      hello_(std::move(hello)),
      batch_(batch),
      prepare_line_(fmt::format("prepare {}", batch)),
      values_(hello_.covariates.size(), 0) {}

Result<std::unique_ptr<WorkerSystem>> WorkerSystem::start(const std::string& command,
                                                          std::int64_t batch,
                                                          std::int64_t hello_timeout_ns) {
  const std::vector<std::string> words = {"/bin/sh", "-c", command};
  VIVACE_TRY(platform::Conversation conversation, platform::Conversation::start(words));
  const auto of_worker = [&](Error error) {
    return tl::unexpected(with_context(std::move(error), "worker " + quote(command)));
  };
  auto line = conversation.listen(hello_timeout_ns);
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
      new WorkerSystem(command, std::move(conversation), std::move(*hello), batch));
  VIVACE_CHECK_OK(worker->calibrate());
  return worker;
}

Result<void> WorkerSystem::calibrate() {
  std::vector<std::int64_t> times_ns;
  for (int i = 0; i < kRoundTrips; ++i) {
    // As before each run: the worker has fallen asleep meanwhile, and is slower to answer.
    (void)usage();
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
  const auto of_worker = [&](tl::unexpected<Error> error) {
    return tl::unexpected(with_context(std::move(error).value(), "worker " + quote(command_)));
  };
  auto reply = conversation_.ask(request, hello_.timeout_ns);
  if (!reply) return of_worker(tl::unexpected(std::move(reply).error()));
  if (*reply == "ok") return std::string();
  if (reply->starts_with("ok ")) return reply->substr(3);
  if (*reply == "error" || reply->starts_with("error ")) {
    const std::string words = conversation_.last_words();
    return of_worker(
        fail(ErrorCode::kUnavailable,
             {.what = fmt::format("it answered {} with an error", quote(request)),
              .expected = "ok",
              .got = quote(*reply, 300) + (words.empty() ? "" : ", and on standard error " + words),
              .advice = {}}));
  }
  return of_worker(bad_line(fmt::format("its answer to {} cannot be read", quote(request)),
                            "ok or error MESSAGE", *reply));
}

Result<void> WorkerSystem::ask_plainly(std::string_view request) {
  VIVACE_TRY(const std::string rest, ask(request));
  if (rest.empty()) return {};
  return bad_line(fmt::format("the worker's answer to {} says too much", quote(request)), "ok",
                  rest);
}

Result<void> WorkerSystem::prepare() {
  // A worker that is an answer behind always finds the next request waiting, and seems quick.
  if (prepared_ < kSilencesExpected) {
    ++prepared_;
    if (auto silent = conversation_.expect_silence(kSilenceMs); !silent) {
      return tl::unexpected(with_context(std::move(silent).error(), "worker " + quote(command_)));
    }
  }
  return ask_plainly(prepare_line_);
}

Result<void> WorkerSystem::sync() { return hello_.has_sync ? ask_plainly("sync") : Result<void>(); }
Result<void> WorkerSystem::finish() { return ask_plainly("finish"); }

Result<void> WorkerSystem::run(Recorder& recorder) {
  const std::int64_t start_ns = platform::now_ns();
  VIVACE_TRY(const std::string facts, ask("run"));
  const std::int64_t elapsed_ns = platform::now_ns() - start_ns;
  VIVACE_CHECK_OK(read_facts(facts, recorder));
  // Stages that overlap, or a clock of another kind, would make a latency that never passed.
  if (static_cast<double>(recorder.sum_ns()) <=
      static_cast<double>(elapsed_ns) * (1 + kStageExcessMax)) {
    return {};
  }
  return fail(ErrorCode::kBadData,
              {.what = "worker " + quote(command_) + ": its stages take longer than its run",
               .expected = fmt::format("at most {} ns in all", elapsed_ns),
               .got = fmt::format("{} ns", recorder.sum_ns()),
               .advice = "let no stage overlap another, and time them by CLOCK_MONOTONIC"});
}

/// What a thread that has ended had switched is known no more: figures only grow here.
platform::Usage WorkerSystem::usage() {
  const platform::Usage now = conversation_.usage();
  usage_.cpu_ns = std::max(usage_.cpu_ns, now.cpu_ns);
  usage_.voluntary_switches = std::max(usage_.voluntary_switches, now.voluntary_switches);
  usage_.involuntary_switches = std::max(usage_.involuntary_switches, now.involuntary_switches);
  usage_.minor_faults = std::max(usage_.minor_faults, now.minor_faults);
  usage_.major_faults = std::max(usage_.major_faults, now.major_faults);
  return usage_;
}

/// "stage:decode=12345 covariate:allocations=3": whole nanoseconds, and numbers.
Result<void> WorkerSystem::read_facts(std::string_view facts, Recorder& recorder) {
  std::fill(values_.begin(), values_.end(), 0);
  for (const std::string_view word : split(facts, ' ')) {
    if (word.empty()) continue;
    const auto colon = word.find(':');
    const auto equals = word.find('=');
    if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon) {
      return bad_fact(word);
    }
    const std::string_view kind = word.substr(0, colon);
    const std::string_view name = word.substr(colon + 1, equals - colon - 1);
    const std::string_view number = word.substr(equals + 1);
    double value = 0;
    const auto [end, problem] =
        std::from_chars(number.data(), number.data() + number.size(), value);
    const bool is_number = problem == std::errc() && end == number.data() + number.size() &&
                           value >= 0 && value < kFactMax;
    const auto stage = stage_named(name);
    const auto covariate = std::find(hello_.covariates.begin(), hello_.covariates.end(), name);
    if (is_number && kind == "stage" && stage &&
        std::find(hello_.stages.begin(), hello_.stages.end(), *stage) != hello_.stages.end()) {
      recorder.add(*stage, static_cast<std::int64_t>(value));
    } else if (is_number && kind == "covariate" && covariate != hello_.covariates.end()) {
      values_[static_cast<std::size_t>(covariate - hello_.covariates.begin())] = value;
    } else {
      return bad_fact(word);
    }
  }
  return {};
}

}  // namespace vivace::system
