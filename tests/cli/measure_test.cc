// `vivace measure`: every figure of its document recomputed from the raw samples by code of the
// test's own, what is recorded about the run, the forms of output, and runs that are cut short.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "cli/vivace_program.h"
#include "core/json.h"
#include "media/encode.h"

namespace vivace::test {
namespace {

using Times = std::vector<std::int64_t>;

const Json& at(const Json& json, std::initializer_list<const char*> keys) {
  const Json* here = &json;
  for (const char* key : keys) {
    const Json* next = here->find(key);
    if (next == nullptr) throw std::runtime_error(std::string("no member ") + key);
    here = next;
  }
  return *here;
}

Times times_of(const Json& array) {
  Times times;
  for (const Json& value : array.as_array()) times.push_back(value.as_integer());
  return times;
}

Words texts_of(const Json& array) {
  Words texts;
  for (const Json& value : array.as_array()) texts.push_back(value.as_string());
  return texts;
}

Words caveats_of(const Json& document) {
  Words ids;
  for (const Json& caveat : at(document, {"caveats"}).as_array()) {
    ids.push_back(at(caveat, {"id"}).as_string());
    EXPECT_NE(at(caveat, {"message"}).as_string(), "");
    EXPECT_NE(at(caveat, {"advice"}).as_string(), "");
  }
  return ids;
}

/// P(Bin(n, p) <= k) for every k, by adding up the terms.
std::vector<double> binomial_cdf(std::int64_t n, double p) {
  std::vector<double> sums;
  double sum = 0;
  for (std::int64_t i = 0; i <= n; ++i) {
    const auto x = static_cast<double>(i);
    const auto m = static_cast<double>(n);
    sum += std::exp(std::lgamma(m + 1) - std::lgamma(x + 1) - std::lgamma(m - x + 1) +
                    x * std::log(p) + (m - x) * std::log1p(-p));
    sums.push_back(sum);
  }
  return sums;
}

struct Ranks {
  std::int64_t low = 0;   // 0 for none
  std::int64_t high = 0;  // 0 for none
};

/// The ranks of the 95% interval at n_eff, brought back to n (docs/measurement.md).
Ranks ranks_of(double p, std::int64_t n, double n_eff) {
  const std::int64_t m = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(n_eff)));
  const std::vector<double> below = binomial_cdf(m, p);
  std::int64_t low = 0;  // the largest with P(B <= low - 1) <= 2.5%
  while (low < m && below[static_cast<std::size_t>(low)] <= 0.025) ++low;
  std::int64_t high = 1;  // the least with P(B <= high - 1) >= 97.5%
  while (high <= m && below[static_cast<std::size_t>(high - 1)] < 0.975) ++high;
  Ranks ranks;
  if (low >= 1) ranks.low = low * n / m;
  if (high <= m) ranks.high = (high * n + m - 1) / m;
  return ranks;
}

void expect_bound(const Json& value, const Json& rank, std::int64_t want_rank,
                  const Times& sorted) {
  if (want_rank == 0) {
    EXPECT_TRUE(value.is_null());
    EXPECT_TRUE(rank.is_null());
    return;
  }
  ASSERT_TRUE(rank.is_integer());
  EXPECT_EQ(rank.as_integer(), want_rank);
  EXPECT_EQ(value.as_integer(), sorted[static_cast<std::size_t>(want_rank - 1)]);
}

/// `per_mille` are the percentiles asked for, in thousandths.
void expect_percentiles(const Json& got, Times times, const Times& per_mille) {
  std::sort(times.begin(), times.end());
  const auto n = static_cast<std::int64_t>(times.size());
  ASSERT_EQ(got.as_array().size(), per_mille.size());
  for (std::size_t i = 0; i < per_mille.size(); ++i) {
    const Json& one = got.as_array()[i];
    EXPECT_DOUBLE_EQ(at(one, {"p"}).as_number(), static_cast<double>(per_mille[i]) / 10);
    const std::int64_t rank = (n * per_mille[i] + 999) / 1000;
    EXPECT_EQ(at(one, {"value"}).as_integer(), times[static_cast<std::size_t>(rank - 1)]);
    EXPECT_DOUBLE_EQ(at(one, {"confidence"}).as_number(), 0.95);
    const Ranks ranks =
        ranks_of(static_cast<double>(per_mille[i]) / 1000, n, at(one, {"n_eff"}).as_number());
    expect_bound(at(one, {"ci_low"}), at(one, {"rank_low"}), ranks.low, times);
    expect_bound(at(one, {"ci_high"}), at(one, {"rank_high"}), ranks.high, times);
  }
}

double mean_of(const Times& times) {
  return static_cast<double>(std::accumulate(times.begin(), times.end(), std::int64_t{0})) /
         static_cast<double>(times.size());
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void expect_summary(const Json& document, const Times& per_mille, std::int64_t batch) {
  const Times latency = times_of(at(document, {"samples", "latency_ns"}));
  const Json& summary = at(document, {"summary", "latency_ns"});
  const double mean = mean_of(latency);
  double squares = 0;
  std::vector<double> values(latency.begin(), latency.end());
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double median = median_of(values);
  std::vector<double> gaps;
  for (const double value : values) gaps.push_back(std::abs(value - median));
  EXPECT_EQ(at(summary, {"n"}).as_integer(), static_cast<std::int64_t>(latency.size()));
  EXPECT_NEAR(at(summary, {"mean"}).as_number(), mean, 1);
  EXPECT_NEAR(at(summary, {"standard_deviation"}).as_number(),
              std::sqrt(squares / (static_cast<double>(values.size()) - 1)), 1);
  EXPECT_NEAR(at(summary, {"mad"}).as_number(), median_of(gaps), 1);
  EXPECT_EQ(at(summary, {"min"}).as_integer(), *std::min_element(latency.begin(), latency.end()));
  EXPECT_EQ(at(summary, {"max"}).as_integer(), *std::max_element(latency.begin(), latency.end()));
  expect_percentiles(at(summary, {"percentiles"}), latency, per_mille);
  EXPECT_NEAR(at(document, {"summary", "throughput_per_s"}).as_number(),
              static_cast<double>(batch) * 1e9 / mean, 1e-6 * 1e9 / mean);
}

/// Each sample's stages add up to its latency; each stage's summary is that of its times.
void expect_stages(const Json& document, const Times& per_mille) {
  const Times latency = times_of(at(document, {"samples", "latency_ns"}));
  Times sums(latency.size(), 0);
  std::map<std::string, Times> stages;
  for (const auto& [name, values] : at(document, {"samples", "stages_ns"}).as_object()) {
    stages[name] = times_of(values);
    ASSERT_EQ(stages[name].size(), latency.size()) << name;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      EXPECT_GE(stages[name][i], 0) << name;
      sums[i] += stages[name][i];
    }
  }
  EXPECT_EQ(sums, latency);
  EXPECT_TRUE(stages.contains("unattributed"));
  double previous = 2;
  for (const Json& stage : at(document, {"summary", "stages"}).as_array()) {
    const std::string name = at(stage, {"stage"}).as_string();
    ASSERT_TRUE(stages.contains(name));
    EXPECT_NEAR(at(stage, {"mean_ns"}).as_number(), mean_of(stages[name]), 1) << name;
    const double share = at(stage, {"share"}).as_number();
    EXPECT_NEAR(share, mean_of(stages[name]) / mean_of(latency), 1e-6) << name;
    EXPECT_LE(share, previous) << "largest first";
    previous = share;
    expect_percentiles(at(stage, {"percentiles"}), stages[name], per_mille);
    stages.erase(name);
  }
  EXPECT_TRUE(stages.empty());
  for (const auto& [name, values] : at(document, {"samples", "covariates"}).as_object()) {
    EXPECT_EQ(values.as_array().size(), latency.size()) << name;
  }
}

class Measure : public ProgramTest {
 protected:
  Measure() {
    write_bytes(folder() / "photo.jpg", media::test::encode_jpeg(media::test::picture(60, 80)));
  }
  Words start() const { return {"measure", "--model", model(), path("photo.jpg"), "-j1"}; }

  /// Runs and reads what --json wrote; it must succeed.
  Json document_of(const Words& flags) {
    const ProgramResult result = vivace(start() + flags + Words{"--json", path("r.json")});
    EXPECT_EQ(result.status, 0) << result.err;
    return read_json(path("r.json"));
  }
};

TEST_F(Measure, EveryFigureFollowsFromTheSamples) {
  const Json document = document_of({"--samples", "150", "--percentiles", "p50,p99.9,p90,p12.5",
                                     "--batch", "2", "synthetic:40x40"});
  const Times per_mille = {500, 999, 900, 125};
  const Times latency = times_of(at(document, {"samples", "latency_ns"}));
  EXPECT_EQ(latency.size(), 150u);
  for (const std::int64_t one : latency) EXPECT_GT(one, 0);
  expect_summary(document, per_mille, 2);
  expect_stages(document, per_mille);
}

TEST_F(Measure, RecordsWhatWasRunAndWhere) {
  const Json document = document_of({"--samples", "100"});
  EXPECT_EQ(at(document, {"schema"}).as_string(), "vivace.result");
  EXPECT_EQ(at(document, {"version"}).as_integer(), 1);
  EXPECT_EQ(at(document, {"kind"}).as_string(), "measure");
  EXPECT_TRUE(at(document, {"created"}).as_string().ends_with("Z"));
  for (const char* key : {"version", "build", "isa"}) {
    EXPECT_NE(at(document, {"tool", key}).as_string(), "") << key;
  }
  for (const char* key : {"fingerprint", "cpu", "kernel", "governor", "container"}) {
    EXPECT_NE(at(document, {"environment", key}).as_string(), "") << key;
  }
  EXPECT_GE(at(document, {"environment", "cores"}).as_integer(), 1);
  EXPECT_GT(at(document, {"environment", "memory_bytes"}).as_integer(), 1 << 20);
  EXPECT_FALSE(at(document, {"environment", "isa"}).as_array().empty());
  EXPECT_EQ(at(document, {"model", "family"}).as_string(), "ijepa");
  EXPECT_EQ(at(document, {"model", "parameters"}).as_integer(), kTinyParameters);
  EXPECT_EQ(at(document, {"model", "weights_bytes"}).as_integer(), 4 * kTinyParameters);
  EXPECT_GT(at(document, {"model", "flops"}).as_integer(), kTinyParameters);
  EXPECT_EQ(at(document, {"model", "weights_sha256"}).as_string().size(), 64u);
  EXPECT_FALSE(at(document, {"model", "stand_in"}).as_bool());
  EXPECT_EQ(at(document, {"input", "kind"}).as_string(), "image");
  EXPECT_EQ(at(document, {"input", "sha256"}).as_string().size(), 64u);
  EXPECT_GT(at(document, {"clock", "resolution_ns"}).as_number(), 0);
  EXPECT_GT(at(document, {"clock", "cost_ns"}).as_number(), 0);
  EXPECT_GT(at(document, {"phases", "cold_start", "load_ns"}).as_integer(), 0);
  EXPECT_GT(at(document, {"phases", "cold_start", "first_inference_ns"}).as_integer(), 0);
  EXPECT_EQ(at(document, {"phases", "warm_up", "fixed"}).as_integer(), 20);
  EXPECT_GE(at(document, {"phases", "warm_up", "discarded"}).as_integer(), 20);
  EXPECT_EQ(at(document, {"phases", "sampling", "count"}).as_integer(), 100);
  EXPECT_EQ(at(document, {"phases", "sampling", "stop_reason"}).as_string(), "samples");
  EXPECT_TRUE(at(document, {"verdicts"}).is_array());
  EXPECT_TRUE(at(document, {"findings"}).is_array());
  EXPECT_THAT(caveats_of(document), testing::Not(testing::Contains("sampling.few")));
}

TEST_F(Measure, RecordsEveryFlagWithItsDefault) {
  const Json document = document_of({"--samples", "12", "--warmup=11", "--seed", "7"});
  const Json& flags = at(document, {"configuration"});
  EXPECT_EQ(at(flags, {"samples"}).as_integer(), 12);
  EXPECT_EQ(at(flags, {"warmup"}).as_integer(), 11);
  EXPECT_EQ(at(flags, {"seed"}).as_integer(), 7);
  EXPECT_EQ(at(flags, {"threads"}).as_integer(), 1);
  EXPECT_EQ(at(flags, {"batch"}).as_integer(), 1);
  EXPECT_EQ(at(flags, {"max-pixels"}).as_integer(), 178956970);
  EXPECT_EQ(at(flags, {"model"}).as_string(), model());
  EXPECT_EQ(at(flags, {"json"}).as_string(), path("r.json"));
  EXPECT_EQ(at(flags, {"duration"}).as_string(), "60s");
  EXPECT_EQ(at(flags, {"resolution"}).as_string(), "32x32");
  EXPECT_EQ(at(flags, {"percentiles"}).as_string(), "p50,p90,p95,p99");
  EXPECT_EQ(at(flags, {"format"}).as_string(), "table");
  EXPECT_EQ(at(flags, {"backend"}).as_string(), "cpu");
  EXPECT_EQ(at(flags, {"device"}).as_string(), "cpu");
  EXPECT_EQ(at(flags, {"precision"}).as_string(), "f32");
  EXPECT_FALSE(at(flags, {"quiet"}).as_bool());
  EXPECT_EQ(texts_of(at(flags, {"inputs"})), Words{path("photo.jpg")});
  // Every flag that help names is there.
  const std::string help = vivace({"measure", "--help"}).out;
  for (std::size_t i = help.find("--"); i != std::string::npos; i = help.find("--", i + 2)) {
    const std::size_t end = help.find_first_of(" \n,", i);
    const std::string name = help.substr(i + 2, end - i - 2);
    if (name == "help" || help[i - 1] != ' ') continue;
    EXPECT_NE(flags.find(name), nullptr) << name;
  }
}

TEST_F(Measure, SaysWhatIsTimed) {
  struct Region {
    Words flags;
    Words includes;
    Words excludes;
  };
  const Words all = {"read", "decode", "preprocess", "context_encode", "postprocess"};
  for (const Region& region : {Region{{}, all, {}},
                               Region{{"--include", "context_encode"},
                                      {"context_encode"},
                                      {"read", "decode", "preprocess", "postprocess"}},
                               Region{{"--include", "preprocess,decode"},
                                      {"decode", "preprocess"},
                                      {"read", "context_encode", "postprocess"}},
                               Region{{"--exclude=read,decode"},
                                      {"preprocess", "context_encode", "postprocess"},
                                      {"read", "decode"}},
                               Region{{"--exclude", "postprocess"},
                                      {"read", "decode", "preprocess", "context_encode"},
                                      {"postprocess"}}}) {
    const Json document = document_of(region.flags + Words{"--samples", "10"});
    EXPECT_EQ(texts_of(at(document, {"timed_region", "includes"})), region.includes);
    EXPECT_EQ(texts_of(at(document, {"timed_region", "excludes"})), region.excludes);
    expect_stages(document, {500, 900, 950, 990});
    for (const std::string& stage : region.excludes) {
      EXPECT_EQ(at(document, {"samples", "stages_ns"}).find(stage), nullptr) << stage;
    }
    for (const std::string& stage : region.includes) {
      EXPECT_NE(at(document, {"samples", "stages_ns"}).find(stage), nullptr) << stage;
    }
  }
}

TEST_F(Measure, TableHasEveryBlock) {
  const ProgramResult result = vivace(start() + Words{"--samples", "60"});
  ASSERT_EQ(result.status, 0) << result.err;
  for (const char* text : {"vivace " VIVACE_PROJECT_VERSION,
                           "model ",
                           "input ",
                           "machine ",
                           "timed ",
                           "not timed ",
                           "clock ",
                           "LATENCY",
                           "P50",
                           "P90",
                           "P95",
                           "P99",
                           "intervals",
                           "n_eff",
                           "STAGES",
                           "decode",
                           "context_encode",
                           "unattributed",
                           "COLD START",
                           "first inference",
                           "warm-up",
                           "throughput",
                           "CAVEATS",
                           "sampling.few",
                           "raise --samples"}) {
    EXPECT_THAT(result.out, testing::HasSubstr(text));
  }
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
}

TEST_F(Measure, OtherFormsHoldTheSameRun) {
  const Words few = {"--samples", "10", "--json", path("r.json")};
  const ProgramResult csv = vivace(start() + few + Words{"--format", "csv"});
  ASSERT_EQ(csv.status, 0) << csv.err;
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 11);
  EXPECT_THAT(csv.out, testing::StartsWith("index,latency_ns,"));
  const Times latency = times_of(at(read_json(path("r.json")), {"samples", "latency_ns"}));
  EXPECT_THAT(csv.out, testing::HasSubstr("\n9," + std::to_string(latency[9]) + ","));

  const ProgramResult markdown = vivace(start() + few + Words{"--format=md"});
  EXPECT_THAT(markdown.out, testing::HasSubstr("### Latency"));
  EXPECT_THAT(markdown.out, testing::HasSubstr("| P99 |"));

  const ProgramResult json = vivace(start() + few + Words{"--format", "json"});
  EXPECT_EQ(json.out, text_of(path("r.json")));
}

TEST_F(Measure, JsonOnStandardOutputStandsAlone) {
  for (const Words& flags :
       {Words{"--json", "-"}, Words{"--json=-", "--format", "json"}, Words{"--format", "json"}}) {
    const ProgramResult result = vivace(start() + flags + Words{"--samples", "10"});
    ASSERT_EQ(result.status, 0) << result.err;
    const auto document = parse_json(result.out);
    ASSERT_TRUE(document) << document.error().message;
    EXPECT_EQ(at(*document, {"phases", "sampling", "count"}).as_integer(), 10);
  }
}

TEST_F(Measure, FewSamplesAndATimeLimitAreMarked) {
  EXPECT_THAT(caveats_of(document_of({"--samples", "99"})), testing::Contains("sampling.few"));
  const Json timed = document_of({"--samples", "10M", "--duration", "300ms"});
  EXPECT_EQ(at(timed, {"phases", "sampling", "stop_reason"}).as_string(), "duration");
  EXPECT_THAT(caveats_of(timed), testing::Contains("sampling.duration"));
  const Json synthetic = document_of({"--samples", "10", "synthetic:40x40"});
  EXPECT_THAT(caveats_of(synthetic), testing::Contains("input.synthetic"));
  EXPECT_EQ(at(synthetic, {"input", "kind"}).as_string(), "synthetic");
}

TEST_F(Measure, AnInterruptKeepsWhatWasMeasured) {
  ProgramOptions options;
  options.interrupt_after = "measuring:";
  options.interrupt_delay_ms = 1500;
  const ProgramResult result = vivace(start() + Words{"--samples", "10M", "--duration", "10m",
                                                      "--verbose", "--json", path("r.json")},
                                      options);
  EXPECT_EQ(result.status, 130) << result.err;
  EXPECT_THAT(result.out, testing::HasSubstr("sampling.interrupted"));
  const Json document = read_json(path("r.json"));
  EXPECT_EQ(at(document, {"phases", "sampling", "stop_reason"}).as_string(), "interrupted");
  EXPECT_THAT(caveats_of(document), testing::Contains("sampling.interrupted"));
  const Times latency = times_of(at(document, {"samples", "latency_ns"}));
  ASSERT_GE(latency.size(), 2u);
  expect_summary(document, {500, 900, 950, 990}, 1);
}

TEST_F(Measure, AnInterruptBeforeTheFirstSampleIsToldToo) {
  ProgramOptions options;
  options.interrupt_after = "loaded ";
  options.interrupt_delay_ms = 0;
  const ProgramResult result =
      vivace(start() + Words{"--warmup", "1M", "--verbose", "--json", path("r.json")}, options);
  EXPECT_EQ(result.status, 130) << result.err;
  EXPECT_THAT(result.out, testing::HasSubstr("sampling.interrupted"));
  const Json document = read_json(path("r.json"));
  EXPECT_TRUE(at(document, {"samples", "latency_ns"}).as_array().empty());
  EXPECT_TRUE(at(document, {"summary"}).is_null());
}

TEST_F(Measure, WithBothOutputsClosedTheExitCodeStillTells) {
  const auto closed = [&](const std::string& rest) {
    return run_program("/bin/sh", {"-c", "exec \"$0\" " + rest + " >&- 2>&-", program()}, {})
        .status;
  };
  EXPECT_EQ(closed("info"), 74);
  EXPECT_EQ(closed("nonsense"), 64);
}

TEST_F(Measure, AClosedPipeIsAnErrorButKeepsTheFile) {
  using Output = ProgramOptions::Output;
  for (const Output output : {Output::kBrokenPipe, Output::kClosed, Output::kFull}) {
    ProgramOptions options;
    options.output = output;
    fs::remove(path("r.json"));
    expect_error(vivace(start() + Words{"--samples", "10", "--json", path("r.json")}, options), 74,
                 {"cannot write to standard output"});
    EXPECT_EQ(at(read_json(path("r.json")), {"phases", "sampling", "count"}).as_integer(), 10);
  }
}

TEST_F(Measure, QuietSaysNothingAndVerboseSaysTheSteps) {
  write_bytes(folder() / "png.jpg", media::test::encode_png(media::test::picture(20, 20)));
  const Words flags = {"--samples", "10", path("png.jpg")};
  EXPECT_EQ(vivace(start() + flags + Words{"--quiet"}).err, "");
  EXPECT_THAT(vivace(start() + flags).err, testing::HasSubstr("vivace: warning: "));
  const std::string steps = vivace(start() + flags + Words{"-v", "--json", path("r.json")}).err;
  for (const char* step : {"inputs: 2 images", "loaded ", "measuring: 20 requests", "wrote "}) {
    EXPECT_THAT(steps, testing::HasSubstr(step));
  }
}

TEST_F(Measure, AnOldResultOutlivesAFailedRun) {
  write_bytes(folder() / "r.json", "before");
  write_bytes(folder() / "bad.jpg", "no picture");
  expect_error(vivace(start() + Words{path("bad.jpg"), "--json", path("r.json")}), 65, {"bad.jpg"});
  EXPECT_EQ(text_of(path("r.json")), "before");
  EXPECT_EQ(names_in(folder()), (Words{"bad.jpg", "photo.jpg", "r.json"}));
}

}  // namespace
}  // namespace vivace::test
