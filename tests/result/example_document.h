// A whole, plausible result with every field set, the same on every machine: integers only, from a
// small linear congruential generator.
#pragma once

#include <cstdint>
#include <optional>

#include "result/document.h"
#include "result/summarize.h"

namespace vivace::test {

/// What must be there; a test without it fails by the exception.
template <class T>
const T& present(const std::optional<T>& value) {
  if (!value) throw std::bad_optional_access();
  return *value;
}
template <class T>
T& present(std::optional<T>& value) {
  if (!value) throw std::bad_optional_access();
  return *value;
}

/// `count` samples of about 20 ms in four stages and a rest; every 40th waits for the disk.
inline result::Samples example_samples(int count) {
  result::Samples samples;
  samples.stages = {{Stage::kRead, {}},
                    {Stage::kDecode, {}},
                    {Stage::kPreprocess, {}},
                    {Stage::kContextEncode, {}},
                    {Stage::kUnattributed, {}}};
  samples.covariates = {{"major_faults", {}}, {"frequency_probe", {}}};
  std::uint64_t state = 1;
  const auto draw = [&state](std::int64_t range) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(range));
  };
  for (int i = 0; i < count; ++i) {
    const bool faulted = i % 40 == 39;
    const std::int64_t times[] = {
        120'000 + draw(20'000) + (faulted ? 9'000'000 + draw(4'000'000) : 0),
        1'900'000 + draw(300'000), 640'000 + draw(90'000),
        17'000'000 + draw(700'000) + draw(700'000) + draw(700'000), 12'000 + draw(4'000)};
    std::int64_t latency = 0;
    for (std::size_t s = 0; s < 5; ++s) {
      samples.stages[s].times_ns.push_back(times[s]);
      latency += times[s];
    }
    samples.latency_ns.push_back(latency);
    samples.covariates[0].values.push_back(faulted ? 3 : 0);
    samples.covariates[1].values.push_back(0.25 * static_cast<double>(draw(8)));
  }
  return samples;
}

inline result::Document example_document(int count = 500) {
  result::Document document;
  document.created = "2025-01-31T12:00:00Z";
  document.tool = {.version = "0.1.0", .build = "g++ 12.2 Release", .isa = "AVX2", .unknown = {}};
  document.environment = {.fingerprint = "0123456789abcdef",
                          .cpu = "Example CPU 9000 @ 2.60GHz",
                          .cores = 2,
                          .isa = {"avx2", "fma"},
                          .kernel = "6.1.0",
                          .governor = "performance",
                          .container = "none",
                          .memory_bytes = 8'000'000'000,
                          .device = {},
                          .unknown = {}};
  document.configuration = {{"backend", "cpu"}, {"precision", "f32"}, {"threads", 2},
                            {"batch", 1},       {"seed", 0},          {"model", "models/ijepa"}};
  document.model = result::Model{.name = "models/ijepa-vit-b16",
                                 .family = "ijepa",
                                 .parameters = 85'800'000,
                                 .flops = 35'100'000'000,
                                 .weights_bytes = 343'200'000,
                                 .weights_sha256 = "ab12",
                                 .stand_in = true,
                                 .unknown = {}};
  document.input = {.kind = "image", .name = "photos/cat.jpg", .sha256 = "cd34", .unknown = {}};
  document.timed_region = {
      .includes = {"read", "decode", "preprocess", "context_encode", "unattributed"},
      .excludes = {"model load", "writing the result"},
      .unknown = {}};
  document.clock = {.resolution_ns = 1,
                    .cost_ns = 24,
                    .covariates_cost_ns = 2100,
                    .surroundings_cost_ns = {},
                    .surroundings_every = {},
                    .unknown = {}};
  document.phases.cold_start = {
      .load_ns = 412'000'000, .first_inference_ns = 61'300'000, .unknown = {}};
  document.phases.warm_up = {.method = "fixed",
                             .discarded = 20,
                             .fixed = 20,
                             .steady = {},
                             .latency_ns = {},
                             .unknown = {}};
  document.phases.sampling = {.count = count, .stop_reason = "count reached", .unknown = {}};
  document.samples = example_samples(count);
  if (count > 0) {
    document.summary = result::summarize(document.samples);
    document.summary->throughput_per_s = 49.5;
  }
  document.caveats = {{.id = "model.stand_in",
                       .message = "the weights are a stand-in: speed is real, outputs mean nothing",
                       .advice = "name a trained checkpoint with --model",
                       .unknown = {}}};
  return document;
}

/// The same with every typed piece that not all kinds of documents have.
inline result::Document full_document() {
  result::Document document = example_document(60);
  document.clock.surroundings_cost_ns = 180'000;
  document.clock.surroundings_every = 16;
  document.phases.warm_up = {.method = "fixed, then MSER-5 on medians",
                             .discarded = 25,
                             .fixed = 20,
                             .steady = true,
                             .latency_ns = std::vector<std::int64_t>(25, 21'000'000),
                             .unknown = {}};
  document.summary->throughput_ci_low = 48.25;
  document.summary->throughput_ci_high = 50.75;
  document.summary->steadiness =
      result::Steadiness{.name = "drifting",
                         .change_points = {20, 40},
                         .segment_medians_ns = {19'000'000, 20'000'000, 21'000'000},
                         .trend_p = 0.004,
                         .trend_change = -0.03,
                         .outliers = 2,
                         .bimodal = true,
                         .root_n_dip = 0.75,
                         .lower_mode_ns = 19'000'000,
                         .upper_mode_ns = 21'000'000,
                         .upper_share = 0.25,
                         .unknown = {}};
  document.verdicts = {{.id = "slo",
                        .target = "p95<30ms",
                        .verdict = "inconclusive",
                        .message = "1 of 60 samples is above 30 ms",
                        .advice = "take 34 more samples",
                        .n = 60,
                        .over = 1,
                        .n_eff = 51.5,
                        .confidence = {99, 100},
                        .further_samples = 34,
                        .unknown = {}}};
  document.findings = {{.id = "tail.major_faults",
                        .message = "major faults explain 80% of the slow samples",
                        .evidence = {{"odds_ratio", 12.5}, {"exposed", JsonArray{4, 1}}},
                        .threshold = JsonObject{{"share", 0.1}},
                        .gain = 0.125,
                        .advice = "keep the file in memory",
                        .unknown = {}}};
  const result::ComparedSide side{.label = "a.json",
                                  .fingerprint = "0123456789abcdef",
                                  .n = 60,
                                  .latency = document.summary->latency,
                                  .samples = document.samples,
                                  .unknown = {}};
  document.comparison = result::Comparison{.paired = true,
                                           .margin = 0.02,
                                           .confidence = {95, 100},
                                           .a = side,
                                           .b = side,
                                           .quantities = {{.name = "latency",
                                                           .a_ns = 20'000'000,
                                                           .b_ns = 21'000'000,
                                                           .ratio = 1.05,
                                                           .ci_low = 1.01,
                                                           .ci_high = 1.09,
                                                           .p = 0.001,
                                                           .p_adjusted = 0.002,
                                                           .verdict = "inconclusive",
                                                           .note = "within the margin",
                                                           .samples_needed = 240,
                                                           .unknown = {}}},
                                           .left_out = {"read: only in A"},
                                           .verdict = "inconclusive",
                                           .unknown = {}};
  document.points = {{.setting = {{"batch", "4"}}, .result = example_document(3), .unknown = {}}};
  document.processes = result::Processes{.count = 2,
                                         .medians_ns = {20'000'000, 20'500'000},
                                         .within_ns2 = 1e9,
                                         .between_ns2 = 2.5e9,
                                         .over_processes = true,
                                         .unknown = {}};
  return document;
}

}  // namespace vivace::test
