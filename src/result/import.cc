#include "result/import.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/text.h"
#include "result/import_formats.h"
#include "result/summarize.h"

namespace vivace::result {
namespace {

constexpr std::array<std::string_view, 6> kFormats = {
    "hyperfine", "pytest-benchmark", "trtexec", "perf_analyzer", "aiperf", "csv"};
/// Below it the product's own runs carry a caveat too.
constexpr std::int64_t kSamplesSound = 100;

bool has(const Json& json, std::string_view key) { return json.find(key) != nullptr; }

/// A summary of AIPerf or GenAI-Perf: figures per metric, no requests.
bool is_aggregate(const Json& json) {
  const Json* latency = json.find("request_latency");
  return latency != nullptr && has(*latency, "avg");
}

tl::unexpected<Error> unknown_format(std::string_view got) {
  return fail(ErrorCode::kBadData,
              {.what = "not a file that can be imported",
               .expected = "raw samples of " + fmt::format("{}", fmt::join(kFormats, ", ")),
               .got = std::string(got),
               .advice = "name a file with one latency per line or column"});
}

/// The format of a JSON text, told by the members that the tool always writes.
Result<std::string_view> json_format(const Json& json) {
  if (json.is_array()) {
    const JsonArray& array = json.as_array();
    if (!array.empty() && has(array.front(), "latencyMs")) return "trtexec";
    return unknown_format("a JSON array of something else");
  }
  if (has(json, "schema")) {
    return fail(ErrorCode::kUsage, {.what = "the file is a result file already",
                                    .expected = "a file of another tool",
                                    .got = {},
                                    .advice = "use it as it is"});
  }
  if (has(json, "results")) return "hyperfine";
  if (has(json, "benchmarks")) return "pytest-benchmark";
  if (has(json, "experiments")) return "perf_analyzer";
  if ((has(json, "metadata") && has(json, "metrics")) || is_aggregate(json)) return "aiperf";
  return unknown_format("a JSON object with other members");
}

/// Objects one a line, of which the first is whole by itself.
bool is_json_lines(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with('{')) return false;
  return text.find_first_not_of(" \t\r\n", end) != std::string_view::npos &&
         parse_json(text.substr(0, end)).has_value();
}

Result<Imported> import_json(std::string_view text, std::string_view wanted,
                             const ImportOptions& options, std::string& format) {
  VIVACE_TRY(const Json json, parse_json(text));
  if (wanted.empty()) {
    VIVACE_TRY(const std::string_view found, json_format(json));
    format = found;
  }
  if (format == "hyperfine") return import_hyperfine(json, options);
  if (format == "pytest-benchmark") return import_pytest_benchmark(json, options);
  if (format == "trtexec") return import_trtexec(json, options);
  if (format == "perf_analyzer") return import_perf_analyzer(json, options);
  if (is_aggregate(json)) {
    return fail(ErrorCode::kBadData,
                {.what = "the file holds a summary of AIPerf or GenAI-Perf",
                 .expected = "one record per request",
                 .got = "averages and percentiles only",
                 .advice = "import AIPerf's profile_export.jsonl (--export-level records), or the "
                           "profile_export.json that GenAI-Perf keeps beside it"});
  }
  return import_aiperf(text, options);
}

Document document_of(Imported imported, const std::string& format, const ImportOptions& options) {
  Document document;
  document.created = std::move(imported.created);
  document.environment.cpu = std::move(imported.cpu);
  document.configuration = {{"imported_from", format}};
  for (auto& member : imported.configuration) document.configuration.push_back(std::move(member));
  document.input.kind = "imported";
  document.input.name = options.source;
  document.timed_region = std::move(imported.timed_region);
  document.phases.warm_up.method = "unknown";
  document.phases.warm_up.discarded = imported.warm_up_discarded;
  document.samples = std::move(imported.samples);
  const auto count = static_cast<std::int64_t>(document.samples.latency_ns.size());
  document.phases.sampling.count = count;
  document.phases.sampling.stop_reason = "imported";
  document.summary = summarize(document.samples);
  document.caveats = std::move(imported.caveats);
  document.caveats.push_back(
      caveat("import.unknown_environment",
             "the file does not say on what machine, beside what load and with what clock it was "
             "measured",
             "compare it with runs of the same machine only"));
  if (count < kSamplesSound) {
    document.caveats.push_back(
        caveat("sampling.few",
               fmt::format("{} samples; a sound run has at least {}", count, kSamplesSound),
               "measure again with more runs"));
  }
  return document;
}

}  // namespace

std::span<const std::string_view> import_formats() { return kFormats; }

std::optional<double> unit_ns(std::string_view unit) {
  const std::string word = lower(unit);
  if (word == "ns" || word == "nsec" || word == "nanoseconds") return 1;
  if (word == "us" || word == "\u00b5s" || word == "\u03bcs" || word == "usec" ||
      word == "microseconds") {
    return 1e3;
  }
  if (word == "ms" || word == "msec" || word == "milliseconds") return 1e6;
  if (word == "s" || word == "sec" || word == "secs" || word == "seconds") return 1e9;
  return std::nullopt;
}

Result<std::int64_t> duration_ns(double value, double unit_in_ns, const std::string& place) {
  const double ns = value * unit_in_ns;
  // The negation holds for NaN too.
  if (!(value >= 0) || !(ns < 9.2e18)) {
    return fail(ErrorCode::kBadData, {.what = place + " is no duration",
                                      .expected = "a number that is not negative",
                                      .got = fmt::format("{}", value),
                                      .advice = "correct or remove it"});
  }
  return std::llround(ns);
}

Result<std::size_t> choose(std::span<const std::string> names, std::string_view wanted,
                           std::string_view noun) {
  if (names.empty()) {
    return fail(ErrorCode::kBadData, fmt::format("the file holds no {}", noun));
  }
  if (wanted.empty() && names.size() == 1) return 0;
  if (const auto found = std::find(names.begin(), names.end(), wanted); found != names.end()) {
    return static_cast<std::size_t>(found - names.begin());
  }
  if (!wanted.empty() && wanted.size() < 10 &&
      wanted.find_first_not_of("0123456789") == std::string_view::npos) {
    const std::size_t number = std::stoul(std::string(wanted));
    if (number >= 1 && number <= names.size()) return number - 1;
  }
  std::string list;
  constexpr std::size_t kListed = 8;
  for (std::size_t i = 0; i < std::min(names.size(), kListed); ++i) {
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", i + 1, quote(names[i], 60));
  }
  if (names.size() > kListed) list += fmt::format(" and {} more", names.size() - kListed);
  return fail(ErrorCode::kUsage,
              {.what = wanted.empty() ? fmt::format("the file holds {} {}s", names.size(), noun)
                                      : fmt::format("the file holds no {} {}", noun, quote(wanted)),
               .expected = "one of " + list,
               .got = wanted.empty() ? std::string("none named") : quote(wanted),
               .advice = fmt::format("name one {}, or give its number", noun)});
}

void sort_by_start(Samples& samples) {
  std::vector<std::size_t> order(samples.start_ns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Equal starts stay in the order of the file.
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(samples.start_ns[a], a) < std::pair(samples.start_ns[b], b);
  });
  const auto reorder = [&](std::vector<std::int64_t>& column) {
    std::vector<std::int64_t> sorted;
    sorted.reserve(column.size());
    for (const std::size_t i : order) sorted.push_back(column[i]);
    column = std::move(sorted);
  };
  reorder(samples.latency_ns);
  reorder(samples.start_ns);
  for (StageSamples& stage : samples.stages) reorder(stage.times_ns);
  if (samples.start_ns.empty()) return;
  const std::int64_t first = samples.start_ns.front();
  for (std::int64_t& start : samples.start_ns) start -= first;
}

Caveat caveat(std::string id, std::string message, std::string advice) {
  return {.id = std::move(id),
          .message = std::move(message),
          .advice = std::move(advice),
          .unknown = {}};
}

void add_failed_caveat(std::int64_t failed, std::vector<Caveat>& caveats) {
  if (failed == 0) return;
  caveats.push_back(
      caveat("import.failed_requests",
             fmt::format("{} requests failed; they have no latency and are left out", failed),
             "find out why they failed: those that hang are the slowest of all"));
}

Result<Document> import_result(std::string_view bytes, const ImportOptions& options) {
  if (!options.format.empty() &&
      std::find(kFormats.begin(), kFormats.end(), options.format) == kFormats.end()) {
    return fail(ErrorCode::kUsage, {.what = "no known format",
                                    .expected = fmt::format("one of {}", fmt::join(kFormats, ", ")),
                                    .got = quote(options.format),
                                    .advice = {}});
  }
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return fail(ErrorCode::kBadData, "the file is empty");
  const std::string_view text = bytes.substr(start);

  std::string format = options.format;
  const bool json = text.starts_with('{') || text.starts_with('[');
  Result<Imported> imported;
  if (format == "csv" || (format.empty() && !json)) {
    format = "csv";
    imported = import_csv(bytes, options);
  } else if (is_json_lines(text) && (format.empty() || format == "aiperf")) {
    format = "aiperf";
    imported = import_aiperf(text, options);
  } else {
    imported = import_json(text, options.format, options, format);
  }
  if (imported && imported->samples.latency_ns.empty()) {
    imported = fail(ErrorCode::kBadData, "the file holds no sample");
  }
  if (!imported) {
    if (options.source.empty()) return tl::unexpected(std::move(imported).error());
    return tl::unexpected(with_context(std::move(imported).error(), options.source));
  }
  return document_of(std::move(*imported), format, options);
}

}  // namespace vivace::result
