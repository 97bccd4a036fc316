// Import: every format as its tool writes it (hyperfine's and pytest-benchmark's files were written
// by those tools), what is refused and whether the message says what to do.
#include "result/import.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "result/example_document.h"

namespace vivace::result {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string data(const std::string& name) {
  std::ifstream stream(std::string(VIVACE_SOURCE_DIR) + "/tests/result/data/" + name);
  EXPECT_TRUE(stream) << name;
  return {std::istreambuf_iterator<char>(stream), {}};
}

Document imported(const std::string& text, const ImportOptions& options = {}) {
  auto document = import_result(text, options);
  EXPECT_TRUE(document) << document.error().message;
  if (!document) return {};
  // What is imported is a document like any other.
  const std::string written = write_json(to_json(*document));
  const auto again = from_json(parse_json(written).value());
  EXPECT_TRUE(again) << again.error().message;
  EXPECT_EQ(write_json(to_json(*again)), written);
  return std::move(*document);
}

std::vector<std::int64_t> latencies(const std::string& text, const ImportOptions& options = {}) {
  return imported(text, options).samples.latency_ns;
}

void expect_refused(const std::string& text, const ImportOptions& options, ErrorCode code,
                    const std::vector<std::string>& parts) {
  const auto document = import_result(text, options);
  ASSERT_FALSE(document) << text.substr(0, 80);
  EXPECT_EQ(document.error().code, code) << document.error().message;
  for (const std::string& part : parts) {
    EXPECT_THAT(document.error().message, HasSubstr(part));
  }
}

bool has_caveat(const Document& document, const std::string& id) {
  return std::any_of(document.caveats.begin(), document.caveats.end(), [&](const Caveat& one) {
    return one.id == id && !one.message.empty() && !one.advice.empty();
  });
}

ImportOptions selecting(const std::string& run) {
  ImportOptions options;
  options.select = run;
  return options;
}

ImportOptions column(const std::string& name, const std::string& unit = "") {
  ImportOptions options;
  options.column = name;
  options.unit = unit;
  return options;
}

TEST(Import, WhatAFileLacksIsAbsent) {
  ImportOptions options = selecting("sleep 0.01");
  options.source = "bench.json";
  const Document document = imported(data("hyperfine.json"), options);
  EXPECT_EQ(document.kind, "measure");
  EXPECT_EQ(document.environment.fingerprint, "");
  EXPECT_FALSE(document.clock.resolution_ns);
  EXPECT_FALSE(document.model);
  EXPECT_TRUE(document.samples.stages.empty());
  EXPECT_EQ(document.input.name, "bench.json");
  EXPECT_EQ(document.configuration[0].first, "imported_from");
  EXPECT_EQ(document.configuration[0].second.as_string(), "hyperfine");
  EXPECT_TRUE(has_caveat(document, "import.unknown_environment"));
  EXPECT_TRUE(has_caveat(document, "sampling.few"));
  EXPECT_EQ(test::present(document.summary).latency.n, 12);
  EXPECT_EQ(document.phases.sampling.count, 12);
}

TEST(Import, Hyperfine) {
  const std::string text = data("hyperfine.json");
  const Document first = imported(text, selecting("sleep 0.01"));
  EXPECT_EQ(first.samples.latency_ns.front(), 11'392'559) << "seconds to the nanosecond";
  EXPECT_EQ(latencies(text, selecting("2")), latencies(text, selecting("sleep 0.02")));
  EXPECT_NE(latencies(text, selecting("2")), first.samples.latency_ns);
  expect_refused(text, {}, ErrorCode::kUsage,
                 {"2 commands", "1 \"sleep 0.01\", 2 \"sleep 0.02\"", "number"});
  expect_refused(text, selecting("sleep 3"), ErrorCode::kUsage, {"no command \"sleep 3\""});
  for (const char* number : {"0", "3", "99999999999"}) {
    expect_refused(text, selecting(number), ErrorCode::kUsage, {"no command"});
  }
  expect_refused(R"({"results": [{"command": "x", "mean": 1}]})", {}, ErrorCode::kBadData,
                 {"results[0].times is missing", "--export-json"});
  expect_refused(R"({"results": [{"command": "x", "times": [0.5, -0.5]}]})", {},
                 ErrorCode::kBadData, {"results[0].times[1] is no duration", "-0.5"});
  expect_refused(R"({"results": [{"command": "x", "times": [0.5, null]}]})", {},
                 ErrorCode::kBadData, {"results[0].times[1] is wrong", "got null"});
  expect_refused(R"({"results": []})", {}, ErrorCode::kBadData, {"no command"});
  expect_refused(R"({"results": [{"command": "x", "times": []}]})", {}, ErrorCode::kBadData,
                 {"no sample"});
  EXPECT_TRUE(has_caveat(
      imported(R"({"results": [{"command": "x", "times": [1, 2], "exit_codes": [0, 3]}]})"),
      "import.failed_runs"));
  EXPECT_FALSE(has_caveat(first, "import.failed_runs"));
}

TEST(Import, PytestBenchmark) {
  const std::string text = data("pytest_benchmark.json");
  const Document document = imported(text, selecting("test_sum"));
  EXPECT_EQ(document.samples.latency_ns.size(), 15U);
  EXPECT_EQ(document.created.size(), 20U);
  EXPECT_TRUE(document.created.ends_with('Z'));
  EXPECT_EQ(document.environment.cpu, "Example CPU 9000");
  EXPECT_FALSE(has_caveat(document, "import.averaged"));
  const Document scaled = imported(text, selecting("test_b.py::test_scaled"));
  EXPECT_EQ(scaled.samples.latency_ns.front(), 27'308);
  EXPECT_TRUE(has_caveat(scaled, "import.averaged")) << "of four calls each";
  expect_refused(text, {}, ErrorCode::kUsage, {"3 benchmarks", "test_b.py::test_sorted"});
  expect_refused(R"({"benchmarks": [{"fullname": "t", "stats": {"mean": 1}}]})", {},
                 ErrorCode::kBadData, {"stats.data is missing", "--benchmark-json"});
}

TEST(Import, Trtexec) {
  // As exportJSONTrace writes it, the second query recorded before the first.
  const std::string text = R"([
  { "startEnqMs" : 2, "endEnqMs" : 2.05, "startH2dMs" : 2.5, "endH2dMs" : 2.6, "startComputeMs" : 2.6, "endComputeMs" : 3.85, "startD2hMs" : 3.85, "endD2hMs" : 3.9, "h2dMs" : 0.1, "computeMs" : 1.25, "d2hMs" : 0.05, "latencyMs" : 1.4 }
, { "startEnqMs" : 0.5, "endEnqMs" : 0.6, "startH2dMs" : 1, "endH2dMs" : 1.2, "startComputeMs" : 1.2, "endComputeMs" : 2.2, "startD2hMs" : 2.2, "endD2hMs" : 2.3, "h2dMs" : 0.2, "computeMs" : 1, "d2hMs" : 0.1, "latencyMs" : 1.3 }
]
)";
  const Document document = imported(text);
  EXPECT_THAT(document.samples.latency_ns, ElementsAre(1'300'000, 1'400'000));
  EXPECT_THAT(document.samples.start_ns, ElementsAre(0, 1'500'000));
  ASSERT_EQ(document.samples.stages.size(), 3U);
  EXPECT_EQ(document.samples.stages[0].stage, Stage::kHostToDevice);
  EXPECT_THAT(document.samples.stages[1].times_ns, ElementsAre(1'000'000, 1'250'000));
  EXPECT_THAT(document.samples.stages[2].times_ns, ElementsAre(100'000, 50'000));
  EXPECT_TRUE(has_caveat(document, "import.stage_names"));
  EXPECT_EQ(test::present(document.summary).stages[0].stage, Stage::kContextEncode);
  const Document old = imported(
      R"([{"startInMs": 1, "inMs": 0.5, "computeMs": 2, "outMs": 0.25, "latencyMs": 2.75}])");
  EXPECT_THAT(old.samples.stages[2].times_ns, ElementsAre(250'000));
  expect_refused(R"([{"startH2dMs": 1, "h2dMs": 0, "computeMs": "x", "d2hMs": 0, "latencyMs": 1}])",
                 {}, ErrorCode::kBadData, {"query 1: computeMs is wrong"});
}

TEST(Import, PerfAnalyzer) {
  const auto file = [](const std::string& requests) {
    return R"({"experiments": [{"experiment": {"mode": "concurrency", "value": 4}, "requests": [)" +
           requests + R"(], "window_boundaries": []}], "version": "1", "service_kind": "triton",
                        "endpoint": ""})";
  };
  const Document document =
      imported(file(R"({"timestamp": 1745526100322752900, "request_inputs": {},
               "response_timestamps": [1745526100322753000, 1745526100322753907],
               "response_outputs": []},
              {"timestamp": 1745526100322752068, "response_timestamps": [1745526100322752069]},
              {"timestamp": 1745526100322752070, "response_timestamps": []})"));
  EXPECT_THAT(document.samples.latency_ns, ElementsAre(1, 1007)) << "exact beyond a double";
  EXPECT_THAT(document.samples.start_ns, ElementsAre(0, 832));
  EXPECT_TRUE(has_caveat(document, "import.failed_requests"));
  EXPECT_EQ(document.configuration[1].second.as_string(), "concurrency=4");
  expect_refused(file(R"({"timestamp": 5, "response_timestamps": [4]})"), {}, ErrorCode::kBadData,
                 {"requests[0].response_timestamps is wrong"});
  expect_refused(file(R"({"response_timestamps": [4]})"), {}, ErrorCode::kBadData,
                 {"requests[0].timestamp is missing"});
  expect_refused(file(""), {}, ErrorCode::kBadData, {"no sample"});
}

TEST(Import, AiperfRecords) {
  const auto record = [](int start, const std::string& latency, const std::string& phase,
                         const std::string& error) {
    return R"({"metadata":{"session_num":0,"request_start_ns":)" + std::to_string(start) +
           R"(,"request_end_ns":9,"worker_id":"w","benchmark_phase":")" + phase +
           R"(","was_cancelled":false},"metrics":{"request_latency":{"value":)" + latency +
           R"(,"unit":"ms"}},"error":)" + error + "}\n";
  };
  const std::string text =
      record(5, "9.5", "warmup", "null") + record(40, "1.25", "profiling", "null") +
      record(20, "2.5", "profiling", "null") + record(60, "0", "profiling", R"({"code": 500})");
  const Document document = imported(text);
  EXPECT_THAT(document.samples.latency_ns, ElementsAre(2'500'000, 1'250'000));
  EXPECT_THAT(document.samples.start_ns, ElementsAre(0, 20));
  EXPECT_EQ(document.phases.warm_up.discarded, 1);
  EXPECT_TRUE(has_caveat(document, "import.failed_requests"));
  EXPECT_EQ(document.configuration[0].second.as_string(), "aiperf");
  EXPECT_EQ(latencies(record(1, "3", "profiling", "null")).size(), 1U) << "a single record";
  expect_refused(text + record(70, "-1", "profiling", "null"), {}, ErrorCode::kBadData,
                 {"record 5: request_latency is no duration"});
  expect_refused(text + "{\"metadata\": ", {}, ErrorCode::kBadData, {"record 5", "not valid JSON"});
}

TEST(Import, SummariesAreRefusedWithTheFlagThatGivesSamples) {
  expect_refused(data("hyperfine_summary.csv"), {}, ErrorCode::kBadData,
                 {"hyperfine", "--export-json"});
  expect_refused("Concurrency,Inferences/Second,Client Send,p50 latency\n1,2,3,4\n", {},
                 ErrorCode::kBadData, {"perf_analyzer", "--profile-export-file"});
  expect_refused("Metric,avg,min,max\nRequest Latency (ms),2,1,3\n", {}, ErrorCode::kBadData,
                 {"AIPerf", "profile_export.jsonl"});
  expect_refused(R"({"request_latency": {"unit": "ms", "avg": 2}})", {}, ErrorCode::kBadData,
                 {"summary of AIPerf or GenAI-Perf", "--export-level records"});
}

TEST(Import, ColumnsOfTables) {
  EXPECT_THAT(latencies("latency_ns\n5\n7\n"), ElementsAre(5, 7));
  EXPECT_THAT(latencies("Latency (ms)\n1.5\n0\n"), ElementsAre(1'500'000, 0));
  EXPECT_THAT(latencies("id,latency_us,note\n1,2.5,\"a, b\"\n2,3,\"say \"\"x\"\"\"\n"),
              ElementsAre(2500, 3000));
  EXPECT_THAT(latencies("id;timeMs\r\n1;2\r\n\r\n# end\r\n2;3\r\n"),
              ElementsAre(2'000'000, 3'000'000));
  EXPECT_THAT(latencies("a_s\tb_s\n1\t2\n", column("b_s")), ElementsAre(2'000'000'000));
  EXPECT_THAT(latencies("a b\n1 2\n 3   4 \n", column("2", "us")), ElementsAre(2000, 4000));
  EXPECT_THAT(latencies("1,10\n2,20\n", column("2", "ns")), ElementsAre(10, 20));
  EXPECT_THAT(latencies("\xef\xbb\xbf"
                        "1.25e3\n+2\n",
                        column("", "ns")),
              ElementsAre(1250, 2));
  EXPECT_THAT(latencies("0.4\n0.6\n", column("", "ns")), ElementsAre(0, 1)) << "rounded";
  EXPECT_EQ(imported("x,y_ms\n1,2\n").configuration[1].second.as_string(), "y_ms");
}

TEST(Import, UnitsAreNeverGuessed) {
  expect_refused("latency\n5\n", {}, ErrorCode::kUsage, {"unit", "\"latency\"", "ns, us, ms or s"});
  expect_refused("5\n6\n", {}, ErrorCode::kUsage, {"unit"});
  expect_refused("items/s\n5\n", {}, ErrorCode::kUsage, {"unit"});
  expect_refused("images_per_s\n5\n", {}, ErrorCode::kUsage, {"unit"});
  expect_refused("latency_ms\n5\n", column("", "us"), ErrorCode::kUsage, {"in doubt", "ms", "us"});
  expect_refused("5\n", column("", "hours"), ErrorCode::kUsage, {"no known unit", "hours"});
  EXPECT_THAT(latencies("latency_ms\n5\n", column("", "ms")), ElementsAre(5'000'000));
}

TEST(Import, BadTablesAreRefusedByLine) {
  const ErrorCode bad = ErrorCode::kBadData;
  expect_refused("a_ns\n1\nx\n", {}, bad, {"line 3, column 1 is no number", "\"x\""});
  expect_refused("a_ns\n1\nnan\n", {}, bad, {"line 3, column 1 is no duration", "nan"});
  expect_refused("a_ns\n1\ninf\n", {}, bad, {"line 3, column 1 is no duration"});
  expect_refused("a_ns\n# c\n-1\n", {}, bad, {"line 3, column 1 is no duration", "-1"});
  expect_refused("a_s\n1e300\n", {}, bad, {"no duration"});
  expect_refused("i,a_ns\n1,2\n3\n", {}, bad, {"line 3, column 2", "no such column"});
  expect_refused("i,a_ns\n1,2\n3,\n", {}, bad, {"line 3, column 2 is no number"});
  expect_refused("a_ns,\"b\n1,2\n", {}, bad, {"line 1", "quote"});
  expect_refused("a_ns\n", {}, bad, {"no sample"});
  expect_refused("# nothing\n", {}, bad, {"no line of values"});
  expect_refused("", {}, bad, {"empty"});
  expect_refused("a_ns,b_ns\n1,2\n", {}, ErrorCode::kUsage,
                 {"2 columns", "1 \"a_ns\", 2 \"b_ns\""});
  expect_refused("a_ns\n1\n", column("z"), ErrorCode::kUsage, {"no column \"z\"", "a_ns"});
  expect_refused("1,2\n", column("3", "ns"), ErrorCode::kUsage, {"no column \"3\""});
}

TEST(Import, OtherFilesAreRefused) {
  ImportOptions options;
  options.format = "junit";
  expect_refused("1\n", options, ErrorCode::kUsage, {"hyperfine", "trtexec", "\"junit\""});
  options.format = "hyperfine";
  expect_refused("1\n2\n", options, ErrorCode::kBadData, {"not valid JSON"});
  expect_refused("[1]", options, ErrorCode::kBadData, {"results is missing"});
  expect_refused(R"({"schema": "vivace.result"})", {}, ErrorCode::kUsage, {"already"});
  expect_refused("{\"a\": 1}", {}, ErrorCode::kBadData, {"hyperfine, pytest-benchmark"});
  expect_refused("[]", {}, ErrorCode::kBadData, {"hyperfine, pytest-benchmark"});
  expect_refused("{\"results\": ", {}, ErrorCode::kBadData, {"not valid JSON"});
  for (const std::string_view format : import_formats()) {
    options.format = format;
    EXPECT_FALSE(import_result("{}", options)) << format;
    EXPECT_FALSE(import_result("[{}]", options)) << format;
    EXPECT_FALSE(
        import_result("{\"results\": 1, \"experiments\": [1], \"benchmarks\": [2]}", options))
        << format;
  }
}

TEST(Import, ErrorsNameTheSource) {
  ImportOptions options;
  options.source = "times.csv";
  expect_refused("a_ns\nx\n", options, ErrorCode::kBadData, {"times.csv: line 2"});
}

}  // namespace
}  // namespace vivace::result
