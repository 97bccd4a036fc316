#include "result/document.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "result/example_document.h"

namespace vivace::result {
namespace {

using ::testing::HasSubstr;

Document read_back(const Document& document) {
  const auto json = parse_json(write_json(to_json(document)));
  EXPECT_TRUE(json) << json.error().message;
  auto again = from_json(*json);
  EXPECT_TRUE(again) << again.error().message;
  return again.value_or(Document());
}

/// The member at a path of keys and indices, "samples/latency_ns/3".
Json& at(Json& json, const std::string& path) {
  Json* here = &json;
  std::size_t start = 0;
  while (start <= path.size()) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string key = path.substr(start, end - start);
    if (here->is_array()) {
      here = &here->as_array().at(std::stoul(key));
    } else {
      Json* next = nullptr;
      for (auto& [name, value] : here->as_object()) {
        if (name == key) next = &value;
      }
      if (next == nullptr) throw std::out_of_range(path);
      here = next;
    }
    start = end + 1;
  }
  return *here;
}

void remove(Json& json, const std::string& parent, const std::string& key) {
  JsonObject& object = parent.empty() ? json.as_object() : at(json, parent).as_object();
  const auto erased = std::erase_if(object, [&](const auto& one) { return one.first == key; });
  ASSERT_EQ(erased, 1u) << parent << " " << key;
}

void expect_refused(const Json& json, const std::string& message) {
  const auto document = from_json(json);
  ASSERT_FALSE(document) << message;
  EXPECT_EQ(document.error().code, ErrorCode::kBadData);
  EXPECT_THAT(document.error().message, HasSubstr(message));
}

TEST(Document, WritesWhatTheFormatPromises) {
  Json json = to_json(test::example_document());
  EXPECT_EQ(at(json, "schema").as_string(), "vivace.result");
  EXPECT_EQ(at(json, "version").as_integer(), 1);
  EXPECT_EQ(at(json, "kind").as_string(), "measure");
  for (const char* path : {"created",
                           "tool/version",
                           "tool/build",
                           "tool/isa",
                           "environment/fingerprint",
                           "environment/cpu",
                           "environment/cores",
                           "environment/isa",
                           "environment/kernel",
                           "environment/governor",
                           "environment/container",
                           "environment/memory_bytes",
                           "environment/device",
                           "configuration/threads",
                           "model/family",
                           "model/parameters",
                           "model/flops",
                           "model/weights_bytes",
                           "model/weights_sha256",
                           "model/stand_in",
                           "input/kind",
                           "input/sha256",
                           "timed_region/includes",
                           "timed_region/excludes",
                           "clock/resolution_ns",
                           "clock/cost_ns",
                           "phases/cold_start/load_ns",
                           "phases/cold_start/first_inference_ns",
                           "phases/warm_up/method",
                           "phases/warm_up/discarded",
                           "phases/sampling/count",
                           "phases/sampling/stop_reason",
                           "samples/latency_ns/499",
                           "samples/stages_ns/context_encode/499",
                           "samples/covariates/major_faults/499",
                           "summary/latency_ns/n",
                           "summary/latency_ns/n_eff",
                           "summary/latency_ns/mean",
                           "summary/latency_ns/standard_deviation",
                           "summary/latency_ns/mad",
                           "summary/latency_ns/min",
                           "summary/latency_ns/max",
                           "summary/stages/0/stage",
                           "summary/stages/0/mean_ns",
                           "summary/stages/0/share",
                           "summary/stages/0/percentiles/0/p",
                           "summary/throughput_per_s",
                           "summary/steadiness",
                           "verdicts",
                           "findings",
                           "caveats/0/id",
                           "caveats/0/message",
                           "caveats/0/advice"}) {
    EXPECT_NO_THROW(at(json, path)) << path;
  }
  EXPECT_TRUE(at(json, "summary/steadiness").is_null());
  EXPECT_EQ(at(json, "summary/latency_ns/percentiles/0/p").as_integer(), 50);
  EXPECT_EQ(at(json, "summary/latency_ns/percentiles/4/p").as_number(), 99.9);
  EXPECT_EQ(at(json, "summary/latency_ns/percentiles/0/confidence").as_number(), 0.95);
  for (const char* key : {"value", "ci_low", "ci_high", "rank_low", "rank_high"}) {
    EXPECT_TRUE(at(json, std::string("summary/latency_ns/percentiles/0/") + key).is_integer());
  }
  // P99.9 of 500 samples has no upper bound, and the file says so.
  EXPECT_TRUE(at(json, "summary/latency_ns/percentiles/4/ci_high").is_null());
  EXPECT_TRUE(at(json, "summary/latency_ns/percentiles/4/rank_high").is_null());
  EXPECT_TRUE(at(json, "summary/latency_ns/mean").is_integer());
}

TEST(Document, SamplesStandOnOneLine) {
  const std::string text = write_json(to_json(test::example_document()));
  const std::size_t start = text.find("\"latency_ns\": [");
  ASSERT_NE(start, std::string::npos);
  EXPECT_LT(text.find(']', start), text.find('\n', start));
}

TEST(Document, RoundTripLosesNothing) {
  for (const int count : {0, 1, 2, 500}) {
    const Document document = test::example_document(count);
    const std::string text = write_json(to_json(document));
    EXPECT_EQ(write_json(to_json(read_back(document))), text) << count;
  }
  const Document again = read_back(test::example_document());
  EXPECT_EQ(again.samples.latency_ns, test::example_samples(500).latency_ns);
  EXPECT_EQ(again.samples.covariates[1].values, test::example_samples(500).covariates[1].values);
  EXPECT_EQ(test::present(again.summary).latency.percentiles[4].p, stats::Probability(999, 1000));
  EXPECT_EQ(again.configuration[0].first, "backend");
  EXPECT_FALSE(read_back(test::example_document(0)).summary);
  EXPECT_FALSE(
      test::present(read_back(test::example_document(1)).summary).latency.standard_deviation_ns);
}

TEST(Document, TypedPiecesSurviveWithEveryValue) {
  const Json written = to_json(test::full_document());
  Document again = read_back(test::full_document());
  EXPECT_EQ(write_json(to_json(again)), write_json(written));
  // Values that a reader forgot would be written as their defaults, by both: each is looked at.
  const Steadiness& steadiness = test::present(test::present(again.summary).steadiness);
  EXPECT_EQ(steadiness.name, "drifting");
  EXPECT_EQ(steadiness.change_points, (std::vector<std::int64_t>{20, 40}));
  EXPECT_EQ(steadiness.trend_change, -0.03);
  EXPECT_EQ(steadiness.upper_share, 0.25);
  EXPECT_TRUE(steadiness.bimodal);
  EXPECT_EQ(test::present(again.summary).throughput_ci_low, 48.25);
  EXPECT_EQ(again.clock.surroundings_every, 16);
  EXPECT_EQ(again.phases.warm_up.latency_ns.size(), 25U);
  EXPECT_EQ(again.phases.warm_up.fixed, 20);
  EXPECT_EQ(again.phases.warm_up.steady, true);
  ASSERT_EQ(again.verdicts.size(), 1U);
  EXPECT_EQ(again.verdicts[0].confidence, stats::Probability(99, 100));
  EXPECT_EQ(again.verdicts[0].further_samples, 34);
  EXPECT_EQ(again.verdicts[0].advice, "take 34 more samples");
  ASSERT_EQ(again.findings.size(), 1U);
  EXPECT_EQ(again.findings[0].evidence[1].second.as_array().size(), 2U);
  EXPECT_EQ(again.findings[0].gain.as_number(), 0.125);
  ASSERT_EQ(test::present(again.comparison).quantities.size(), 1U);
  EXPECT_TRUE(test::present(again.comparison).paired);
  EXPECT_EQ(test::present(again.comparison).quantities[0].p_adjusted, 0.002);
  EXPECT_EQ(test::present(again.comparison).quantities[0].samples_needed, 240);
  EXPECT_EQ(test::present(again.comparison).left_out, std::vector<std::string>{"read: only in A"});
  EXPECT_EQ(test::present(again.comparison).b.samples.latency_ns,
            test::example_samples(60).latency_ns);
  ASSERT_EQ(again.points.size(), 1U);
  EXPECT_EQ(again.points[0].setting[0].second.as_string(), "4");
  EXPECT_EQ(again.points[0].result.samples.latency_ns.size(), 3U);
  EXPECT_EQ(test::present(again.processes).medians_ns.size(), 2U);
  EXPECT_TRUE(test::present(again.processes).over_processes);
}

TEST(Document, AnUnknownClockIsNull) {
  Document document = test::example_document(5);
  document.clock = {};
  Json json = to_json(document);
  EXPECT_TRUE(at(json, "clock").is_null());
  EXPECT_FALSE(read_back(document).clock.resolution_ns);
}

TEST(Document, PointsAreWholeDocuments) {
  Json json = to_json(test::full_document());
  at(json, "points/0/result/schema") = "other";
  expect_refused(json, "not a result file of vivace");
  json = to_json(test::full_document());
  at(json, "points/0/result/samples/latency_ns/1") = -4;
  expect_refused(json, "points[0].result.samples.latency_ns[1] is wrong");
}

TEST(Document, PercentilesKeepTheirDecimals) {
  for (const char* text : {"0.07", "7", "99.99", "28.999999999999", "99.9999999999999"}) {
    Document document = test::example_document(10);
    test::present(document.summary).latency.percentiles[0].p = *stats::parse_percentile(text);
    EXPECT_EQ(test::present(read_back(document).summary).latency.percentiles[0].p.percent_text(),
              text);
  }
}

TEST(Document, UnknownFieldsSurviveARewrite) {
  const Json original = to_json(test::full_document());
  for (const char* parent : {"",
                             "tool",
                             "environment",
                             "model",
                             "input",
                             "timed_region",
                             "clock",
                             "phases",
                             "phases/cold_start",
                             "phases/warm_up",
                             "phases/sampling",
                             "samples",
                             "summary",
                             "summary/latency_ns",
                             "summary/latency_ns/percentiles/0",
                             "summary/stages/0",
                             "summary/stages/0/percentiles/0",
                             "summary/steadiness",
                             "verdicts/0",
                             "findings/0",
                             "findings/0/evidence",
                             "comparison",
                             "comparison/quantities/0",
                             "comparison/a",
                             "comparison/b/samples",
                             "points/0",
                             "points/0/setting",
                             "points/0/result/model",
                             "processes",
                             "caveats/0"}) {
    Json json = original;
    (*parent == '\0' ? json : at(json, parent)).set("operators", JsonArray{Json(1), Json("two")});
    const auto document = from_json(json);
    ASSERT_TRUE(document) << parent << ": " << document.error().message;
    EXPECT_EQ(write_json(to_json(*document)), write_json(json)) << parent;
  }
}

TEST(Document, NewerVersionIsRefusedByName) {
  Json json = to_json(test::example_document());
  json.set("version", 2);
  json.set("samples", "in a form that version 1 does not know");
  expect_refused(json, "format version 2 of vivace.result");
  expect_refused(json, "at most version 1");
  expect_refused(json, "the vivace that wrote it, or a newer one");
}

TEST(Document, OtherThingsAreNoResults) {
  expect_refused(Json(), "not a result file of vivace");
  expect_refused(Json(JsonArray{}), "got an array");
  expect_refused(Json(JsonObject{}), "got no schema");
  Json json = to_json(test::example_document());
  json.set("schema", "other.result");
  expect_refused(json, "got \"other.result\"");
  json.set("schema", kSchema);
  for (const Json& version : {Json("1"), Json(0), Json(-1), Json(1.5), Json()}) {
    json.set("version", version);
    expect_refused(json, "no format version");
  }
}

TEST(Document, MissingFieldsAreNamed) {
  for (const auto& [parent, key] : std::vector<std::pair<std::string, std::string>>{
           {"", "kind"},
           {"", "created"},
           {"", "tool"},
           {"tool", "version"},
           {"", "environment"},
           {"environment", "fingerprint"},
           {"model", "family"},
           {"", "timed_region"},
           {"timed_region", "excludes"},
           {"", "phases"},
           {"phases/sampling", "count"},
           {"", "samples"},
           {"samples", "latency_ns"},
           {"summary", "latency_ns"},
           {"summary/latency_ns", "n"},
           {"summary/latency_ns", "percentiles"},
           {"summary/latency_ns/percentiles/2", "ci_high"},
           {"summary/stages/1", "share"},
           {"caveats/0", "id"}}) {
    Json json = to_json(test::example_document(50));
    remove(json, parent, key);
    expect_refused(json, key + " is missing");
  }
}

TEST(Document, WrongKindsAreNamedWithTheirPath) {
  const auto expect = [](const std::string& path, Json value, const std::string& message) {
    Json json = to_json(test::example_document(50));
    at(json, path) = std::move(value);
    expect_refused(json, message);
  };
  expect("created", 5, "created is wrong (expected a string, got 5)");
  expect("tool", JsonArray{}, "tool is wrong (expected an object, got an array)");
  expect("environment/isa/1", true, "environment.isa[1] is wrong (expected a string");
  expect("environment/cores", -2, "environment.cores is wrong");
  expect("model/stand_in", "yes", "model.stand_in is wrong (expected true or false");
  expect("model/flops", 1.5, "model.flops is wrong (expected a whole number");
  expect("samples/latency_ns", "many", "samples.latency_ns is wrong (expected an array");
  expect("samples/latency_ns/7", 1.5, "samples.latency_ns[7] is wrong (expected a whole number");
  expect("samples/latency_ns/7", -1, "samples.latency_ns[7] is wrong");
  expect("samples/latency_ns/7", Json(), "got null");
  expect("samples/stages_ns/decode", JsonArray{}, "expected 50 values, one per sample, got 0");
  expect("samples/covariates/major_faults", JsonArray{1}, "samples.covariates.major_faults");
  expect("samples/covariates", JsonArray{}, "samples.covariates is wrong (expected an object");
  expect("summary/latency_ns/percentiles/1/p", 100, "percentiles[1].p is wrong");
  expect("summary/latency_ns/percentiles/1/p", "p90", "percentiles[1].p is wrong");
  expect("summary/latency_ns/percentiles/1/confidence", 95, "a number above 0 and below 1");
  expect("summary/latency_ns/percentiles/1/ci_low", "none", "ci_low is wrong");
  expect("summary/latency_ns/mean", -1.5, "summary.latency_ns.mean is wrong");
  expect("summary/stages/0/stage", "lunch", "summary.stages[0].stage is wrong");
  expect("caveats", JsonObject{}, "caveats is wrong (expected an array");
}

TEST(Document, AStageThatIsNoneIsRefused) {
  Json json = to_json(test::example_document(3));
  at(json, "samples/stages_ns").set("lunch", JsonArray{1, 2, 3});
  expect_refused(json, "samples.stages_ns.lunch is no stage of this version");
}

TEST(Document, TheFirstProblemIsReported) {
  Json json = to_json(test::example_document(3));
  at(json, "created") = 1;
  at(json, "tool/version") = 2;
  expect_refused(json, "created");
}

TEST(Document, NothingOfASmallDocumentCanBeCutOff) {
  Document document = test::example_document(2);
  const std::string text = write_json(to_json(document));
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    ASSERT_FALSE(parse_json(text.substr(0, length))) << length;
  }
}

class File : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("vivace_result_" + std::to_string(getpid()) + "_" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(File, IsWrittenAndRead) {
  const auto path = folder_ / "result.json";
  const Document document = test::example_document();
  ASSERT_TRUE(write_result(path, document));
  ASSERT_TRUE(write_result(path, document)) << "an existing file is replaced";
  const auto again = read_result(path);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(write_json(to_json(*again)), write_json(to_json(document)));
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 1u) << "no temporary file stays";
}

TEST_F(File, LongColumnsAreTheSameTextAndRead) {
  // Long enough to be packed by the reader and written in several pieces.
  Document document = test::example_document(20'000);
  document.samples.unknown = {{"notes", JsonArray(3000, Json(7))}};
  const auto path = folder_ / "long.json";
  ASSERT_TRUE(write_result(path, document));
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(text, write_json(to_json(document)));
  const auto again = read_result(path);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->samples.latency_ns, document.samples.latency_ns);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again->samples.covariates[i].values, document.samples.covariates[i].values);
  }
  EXPECT_EQ(write_json(to_json(*again)), text);
}

TEST_F(File, WrongValuesOfLongColumnsAreNamed) {
  const auto expect = [&](const std::string& path, Json value, const std::string& message) {
    Json json = to_json(test::example_document(2000));
    at(json, path) = std::move(value);
    std::ofstream(folder_ / "wrong.json") << write_json(json);
    const auto document = read_result(folder_ / "wrong.json");
    ASSERT_FALSE(document) << message;
    EXPECT_THAT(document.error().message, HasSubstr(message));
  };
  expect("samples/latency_ns/7", 1.5, "samples.latency_ns[7] is wrong (expected a whole number");
  expect("samples/latency_ns/1999", -1, "samples.latency_ns[1999] is wrong");
  expect("samples/latency_ns/1900", "x", "samples.latency_ns[1900] is wrong");
  expect("samples/covariates/major_faults/3", Json(),
         "samples.covariates.major_faults[3] is wrong");
  expect("environment/isa", JsonArray(2000, Json(1)), "expected an array, got an array of numbers");
}

TEST(Document, AFullSinkEndsTheWriting) {
  int pieces = 0;
  const JsonSink sink = [&](std::string_view) -> Result<void> {
    return ++pieces == 2 ? Result<void>(fail(ErrorCode::kInputOutput, "full")) : Result<void>();
  };
  const auto written = write_result(sink, test::example_document(20'000));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "full");
  EXPECT_EQ(pieces, 2);
}

TEST_F(File, ErrorsNameTheFile) {
  const auto absent = read_result(folder_ / "absent.json");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kMissingInput);
  EXPECT_THAT(absent.error().message, HasSubstr("absent.json"));

  const auto cut = folder_ / "cut.json";
  std::ofstream(cut) << write_json(to_json(test::example_document(5))).substr(0, 700);
  const auto truncated = read_result(cut);
  ASSERT_FALSE(truncated);
  EXPECT_EQ(truncated.error().code, ErrorCode::kBadData);
  EXPECT_THAT(truncated.error().message, HasSubstr("cut.json"));
  EXPECT_THAT(truncated.error().message, HasSubstr("not valid JSON"));

  const auto other = folder_ / "other.json";
  std::ofstream(other) << "{\"schema\": \"other\"}";
  const auto foreign = read_result(other);
  ASSERT_FALSE(foreign);
  EXPECT_THAT(foreign.error().message, HasSubstr("other.json"));

  const auto unwritable = write_result(folder_ / "no" / "such" / "result.json", Document());
  ASSERT_FALSE(unwritable);
  EXPECT_EQ(unwritable.error().code, ErrorCode::kCannotCreate);
}

}  // namespace
}  // namespace vivace::result
