// A plausible comparison with every kind of verdict, the same on every machine.
#pragma once

#include <string>
#include <utility>

#include "result/example_document.h"

namespace vivace::test {

inline result::ComparedQuantity example_quantity(const std::string& name, std::int64_t a_ns,
                                                 double low, double ratio, double high,
                                                 const std::string& verdict) {
  result::ComparedQuantity one;
  one.name = name;
  one.a_ns = a_ns;
  one.b_ns = static_cast<std::int64_t>(static_cast<double>(a_ns) * ratio);
  one.ratio = ratio;
  one.ci_low = low;
  one.ci_high = high;
  one.p = verdict == "equivalent" ? 1 : 0.0004;
  one.p_adjusted = one.p;
  one.verdict = verdict;
  return one;
}

/// A document around a comparison.
inline result::Document comparison_document(result::Comparison comparison) {
  const result::Document measured = example_document(40);
  result::Document document;
  document.kind = "compare";
  document.created = measured.created;
  document.tool = measured.tool;
  document.environment = measured.environment;
  document.timed_region = measured.timed_region;
  document.caveats = {{.id = "sampling.few",
                       .message = "of A: 40 samples give no upper bound for P99",
                       .advice = "--samples 368 or more",
                       .unknown = {}}};
  document.comparison = std::move(comparison);
  return document;
}

/// B has a slower decoder: regressed, in pairs.
inline result::Comparison example_comparison() {
  const result::Document measured = example_document(40);
  result::Comparison comparison;
  comparison.paired = true;
  comparison.margin = 0.02;
  comparison.a.label = "--threads 2";
  comparison.b.label = "--threads 2 --resampler aten";
  for (result::ComparedSide* side : {&comparison.a, &comparison.b}) {
    side->n = 40;
    side->latency = measured.summary.value_or(result::Summary()).latency;
    side->samples = measured.samples;
  }
  result::ComparedQuantity p99 = example_quantity("p99", 32'900'000, 1, 1.01, 1, "inconclusive");
  p99.ci_low.reset();
  p99.ci_high.reset();
  p99.p = 1;
  p99.samples_needed = 437;
  p99.note = "too few for both bounds; 437 pairs give them";
  comparison.quantities = {
      example_quantity("latency", 20'900'000, 1.039, 1.052, 1.064, "regressed"),
      example_quantity("p95", 21'600'000, 1.021, 1.061, 1.11, "regressed"),
      p99,
      example_quantity("stage.decode", 2'050'000, 1.47, 1.51, 1.55, "regressed"),
      example_quantity("stage.preprocess", 686'000, 0.93, 0.943, 0.958, "improved"),
      example_quantity("stage.context_encode", 17'990'000, 0.9979, 0.9996, 1.0014, "equivalent")};
  comparison.left_out = {"read: below 0.1% of the latency", "unattributed: only in A"};
  comparison.verdict = "regressed";
  return comparison;
}

/// Two files that leave the question open.
inline result::Comparison open_comparison() {
  result::Comparison comparison = example_comparison();
  comparison.paired = false;
  comparison.a.label = "results/before.json";
  comparison.b.label = "results/after.json";
  comparison.left_out.clear();
  result::ComparedQuantity latency =
      example_quantity("latency", 20'900'000, 0.991, 1.014, 1.038, "inconclusive");
  latency.samples_needed = 870;
  latency.note =
      "the interval reaches across the margin; if the estimate is right, about 870 samples of each "
      "would settle it";
  comparison.quantities = {latency};
  comparison.verdict = "inconclusive";
  return comparison;
}

}  // namespace vivace::test
