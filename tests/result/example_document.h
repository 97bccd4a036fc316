// A whole, plausible result with every field set, the same on every machine: integers only, from a
// small linear congruential generator.
#pragma once

#include <cstdint>

#include "result/document.h"
#include "result/summarize.h"

namespace vivace::test {

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
  document.clock = {.resolution_ns = 1, .cost_ns = 24, .covariates_cost_ns = 2100, .unknown = {}};
  document.phases.cold_start = {
      .load_ns = 412'000'000, .first_inference_ns = 61'300'000, .unknown = {}};
  document.phases.warm_up = {.method = "fixed", .discarded = 20, .unknown = {}};
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

}  // namespace vivace::test
