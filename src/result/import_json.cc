// The JSON files of other tools, each read as its source writes it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/text.h"
#include "result/import_formats.h"

namespace vivace::result {
namespace {

tl::unexpected<Error> wrong(const std::string& place, std::string_view expected, const Json* got,
                            std::string advice = {}) {
  return fail(ErrorCode::kBadData,
              {.what = place + (got == nullptr ? " is missing" : " is wrong"),
               .expected = std::string(expected),
               .got = got == nullptr ? std::string() : std::string(got->kind_name()),
               .advice = std::move(advice)});
}

Result<const JsonArray*> array_of(const Json& parent, std::string_view key,
                                  const std::string& place, std::string advice = {}) {
  const Json* value = parent.find(key);
  if (value == nullptr || !value->is_array()) {
    return wrong(place, "an array", value, std::move(advice));
  }
  return &value->as_array();
}

Result<std::int64_t> time_of(const Json* value, double unit_in_ns, const std::string& place) {
  if (value == nullptr || !value->is_number()) return wrong(place, "a number", value);
  return duration_ns(value->as_number(), unit_in_ns, place);
}

std::string text_of(const Json& parent, std::string_view key) {
  const Json* value = parent.find(key);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

Result<std::vector<std::int64_t>> seconds_of(const JsonArray& array, const std::string& place) {
  std::vector<std::int64_t> times;
  times.reserve(array.size());
  for (std::size_t i = 0; i < array.size(); ++i) {
    VIVACE_TRY(const std::int64_t time, time_of(&array[i], 1e9, fmt::format("{}[{}]", place, i)));
    times.push_back(time);
  }
  return times;
}

/// "2025-01-31T12:00:00.25+00:00" -> "2025-01-31T12:00:00Z"; "" for other zones.
std::string utc_seconds(const std::string& iso) {
  if (iso.size() < 19 || !(iso.ends_with("+00:00") || iso.ends_with("Z"))) return {};
  return iso.substr(0, 19) + "Z";
}

}  // namespace

// results[]: {command, times[] in seconds, exit_codes[]}
// sharkdp/hyperfine:src/benchmark/benchmark_result.rs
Result<Imported> import_hyperfine(const Json& json, const ImportOptions& options) {
  VIVACE_TRY(const JsonArray* results, array_of(json, "results", "results"));
  std::vector<std::string> commands;
  for (const Json& one : *results) commands.push_back(text_of(one, "command"));
  VIVACE_TRY(const std::size_t chosen, choose(commands, options.select, "command"));
  const Json& result = (*results)[chosen];
  const std::string place = fmt::format("results[{}].times", chosen);
  VIVACE_TRY(const JsonArray* times,
             array_of(result, "times", place, "export it with hyperfine --export-json"));
  Imported imported;
  VIVACE_TRY(imported.samples.latency_ns, seconds_of(*times, place));
  imported.configuration = {{"command", commands[chosen]}};
  imported.timed_region.includes = {"one run of the command, from its start to its exit"};
  const Json* codes = result.find("exit_codes");
  const auto failed =
      codes == nullptr || !codes->is_array()
          ? 0
          : std::count_if(codes->as_array().begin(), codes->as_array().end(), [](const Json& code) {
              return !code.is_integer() || code.as_integer() != 0;
            });
  if (failed > 0) {
    imported.caveats.push_back(caveat("import.failed_runs",
                                      fmt::format("{} runs of the command failed; their times are "
                                                  "among the samples",
                                                  failed),
                                      "make the command succeed and measure again"));
  }
  return imported;
}

// benchmarks[]: {fullname, stats: {data[] in seconds, iterations}}, machine_info, datetime
// ionelmc/pytest-benchmark:src/pytest_benchmark/stats.py (Metadata.as_dict) and session.py
Result<Imported> import_pytest_benchmark(const Json& json, const ImportOptions& options) {
  VIVACE_TRY(const JsonArray* benchmarks, array_of(json, "benchmarks", "benchmarks"));
  std::vector<std::string> names;
  std::vector<std::string> short_names;
  for (const Json& one : *benchmarks) {
    names.push_back(text_of(one, "fullname"));
    short_names.push_back(text_of(one, "name"));
  }
  const bool by_short_name =
      std::count(short_names.begin(), short_names.end(), options.select) == 1;
  VIVACE_TRY(const std::size_t chosen,
             choose(by_short_name ? short_names : names, options.select, "benchmark"));
  const std::string place = fmt::format("benchmarks[{}].stats", chosen);
  const Json* stats = (*benchmarks)[chosen].find("stats");
  if (stats == nullptr || !stats->is_object()) return wrong(place, "an object", stats);
  VIVACE_TRY(const JsonArray* data,
             array_of(*stats, "data", place + ".data",
                      "run pytest with --benchmark-json, or with --benchmark-save-data"));
  Imported imported;
  VIVACE_TRY(imported.samples.latency_ns, seconds_of(*data, place + ".data"));
  imported.configuration = {{"benchmark", names[chosen]}};
  imported.created = utc_seconds(text_of(json, "datetime"));
  imported.timed_region.includes = {"one call of the benchmarked function"};
  if (const Json* machine = json.find("machine_info")) {
    if (const Json* cpu = machine->find("cpu")) imported.cpu = text_of(*cpu, "brand_raw");
  }
  const Json* iterations = stats->find("iterations");
  if (iterations != nullptr && iterations->is_integer() && iterations->as_integer() > 1) {
    imported.configuration.emplace_back("iterations", *iterations);
    imported.caveats.push_back(
        caveat("import.averaged",
               fmt::format("each sample is the mean of {} calls: single slow calls are hidden",
                           iterations->as_integer()),
               "benchmark with iterations=1 (benchmark.pedantic) to see the tail"));
  }
  return imported;
}

// [{startEnqMs, ..., h2dMs, computeMs, d2hMs, latencyMs}], latencyMs their sum; in older releases
// the transfers are inMs and outMs.
// NVIDIA/TensorRT:samples/common/sampleReporting.cpp (exportJSONTrace)
Result<Imported> import_trtexec(const Json& json, const ImportOptions&) {
  if (!json.is_array()) return wrong("the file", "an array of queries", &json);
  const JsonArray& queries = json.as_array();
  const bool old = !queries.empty() && queries[0].find("inMs") != nullptr;
  const std::array<std::pair<Stage, std::string_view>, 3> stages = {
      {{Stage::kHostToDevice, old ? "inMs" : "h2dMs"},
       {Stage::kContextEncode, "computeMs"},
       {Stage::kDeviceToHost, old ? "outMs" : "d2hMs"}}};
  const std::string_view start_key = old ? "startInMs" : "startH2dMs";
  Imported imported;
  Samples& samples = imported.samples;
  for (const auto& [stage, key] : stages) samples.stages.push_back({stage, {}});
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto read = [&](std::string_view key) {
      return time_of(queries[i].find(key), 1e6, fmt::format("query {}: {}", i + 1, key));
    };
    VIVACE_TRY(const std::int64_t latency_ns, read("latencyMs"));
    VIVACE_TRY(const std::int64_t start_ns, read(start_key));
    samples.latency_ns.push_back(latency_ns);
    samples.start_ns.push_back(start_ns);
    for (std::size_t s = 0; s < stages.size(); ++s) {
      VIVACE_TRY(const std::int64_t stage_ns, read(stages[s].second));
      samples.stages[s].times_ns.push_back(stage_ns);
    }
  }
  sort_by_start(samples);
  imported.timed_region.includes = {"host_to_device", "context_encode", "device_to_host"};
  imported.timed_region.excludes = {"enqueueing", "waiting between the three"};
  imported.caveats.push_back(
      caveat("import.stage_names",
             "all that the engine computes stands as context_encode, since trtexec does not "
             "divide it",
             "read that stage as the whole model"));
  return imported;
}

// experiments[]: {experiment: {mode, value}, requests[]: {timestamp, response_timestamps[]}} in ns;
// GenAI-Perf's profile_export.json is the same file.
// triton-inference-server/perf_analyzer:src/profile_data_exporter.cc
Result<Imported> import_perf_analyzer(const Json& json, const ImportOptions& options) {
  VIVACE_TRY(const JsonArray* experiments, array_of(json, "experiments", "experiments"));
  std::vector<std::string> names;
  for (const Json& one : *experiments) {
    const Json* setting = one.find("experiment");
    const Json* value = setting == nullptr ? nullptr : setting->find("value");
    names.push_back(value != nullptr && value->is_number()
                        ? fmt::format("{}={}", text_of(*setting, "mode"), value->as_number())
                        : std::string());
  }
  VIVACE_TRY(const std::size_t chosen, choose(names, options.select, "experiment"));
  const std::string place = fmt::format("experiments[{}].requests", chosen);
  VIVACE_TRY(const JsonArray* requests,
             array_of((*experiments)[chosen], "requests", place,
                      "write it with perf_analyzer --profile-export-file"));
  Imported imported;
  std::int64_t failed = 0;
  for (std::size_t i = 0; i < requests->size(); ++i) {
    const std::string request = fmt::format("{}[{}]", place, i);
    const Json* start = (*requests)[i].find("timestamp");
    VIVACE_TRY(const JsonArray* responses,
               array_of((*requests)[i], "response_timestamps", request + ".response_timestamps"));
    if (responses->empty()) {
      ++failed;
      continue;
    }
    // The last response ends a stream of them.
    const Json& end = responses->back();
    if (start == nullptr || !start->is_integer() || start->as_integer() < 0) {
      return wrong(request + ".timestamp", "nanoseconds", start);
    }
    if (!end.is_integer() || end.as_integer() < start->as_integer()) {
      return wrong(request + ".response_timestamps", "nanoseconds not before the request", &end);
    }
    imported.samples.start_ns.push_back(start->as_integer());
    imported.samples.latency_ns.push_back(end.as_integer() - start->as_integer());
  }
  sort_by_start(imported.samples);
  add_failed_caveat(failed, imported.caveats);
  imported.configuration = {{"experiment", names[chosen]}};
  for (const char* key : {"service_kind", "endpoint"}) {
    if (std::string text = text_of(json, key); !text.empty()) {
      imported.configuration.emplace_back(key, std::move(text));
    }
  }
  imported.timed_region.includes = {"from sending a request to its last response"};
  return imported;
}

// One record a line: {metadata: {request_start_ns, benchmark_phase, was_cancelled}, metrics:
// {request_latency: {value, unit}}, error}
// ai-dynamo/aiperf:src/aiperf/common/models/record_models.py (MetricRecordInfo)
Result<Imported> import_aiperf(std::string_view text, const ImportOptions&) {
  Imported imported;
  std::int64_t failed = 0;
  std::size_t line_number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++line_number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string place = fmt::format("record {}", line_number);
    auto record = parse_json(line);
    if (!record) return tl::unexpected(with_context(std::move(record).error(), place));
    const Json* metadata = record->find("metadata");
    if (metadata == nullptr || !metadata->is_object()) {
      return wrong(place + ": metadata", "an object", metadata,
                   "import AIPerf's profile_export.jsonl");
    }
    if (text_of(*metadata, "benchmark_phase") == "warmup") {
      ++imported.warm_up_discarded;
      continue;
    }
    const Json* error = record->find("error");
    const Json* cancelled = metadata->find("was_cancelled");
    if ((error != nullptr && !error->is_null()) ||
        (cancelled != nullptr && cancelled->is_bool() && cancelled->as_bool())) {
      ++failed;
      continue;
    }
    const Json* metrics = record->find("metrics");
    const Json* latency = metrics == nullptr ? nullptr : metrics->find("request_latency");
    if (latency == nullptr) return wrong(place + ": request_latency", "a metric", nullptr);
    const auto unit = unit_ns(text_of(*latency, "unit"));
    if (!unit) {
      return wrong(place + ": request_latency.unit", "a unit of time", latency->find("unit"));
    }
    VIVACE_TRY(const std::int64_t latency_ns,
               time_of(latency->find("value"), *unit, place + ": request_latency"));
    const Json* start = metadata->find("request_start_ns");
    if (start == nullptr || !start->is_integer() || start->as_integer() < 0) {
      return wrong(place + ": request_start_ns", "nanoseconds", start);
    }
    imported.samples.latency_ns.push_back(latency_ns);
    imported.samples.start_ns.push_back(start->as_integer());
  }
  sort_by_start(imported.samples);
  add_failed_caveat(failed, imported.caveats);
  imported.timed_region.includes = {"from sending a request to its last response"};
  return imported;
}

}  // namespace vivace::result
