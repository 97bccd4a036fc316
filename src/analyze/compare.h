// B against A, from two results (unpaired) or from one run in which they alternated (paired).
//
// Latency and stages: the Hodges-Lehmann shift of the logarithms (stats/comparison.h). Unpaired
// samples count for what their ranks are worth, so a machine that drifts inside a file widens the
// interval; what differs between the files it cannot know, pairs can. Times of 0 count as 1 ns. A
// stage is left out, by name, where one side lacks it, where it is below 0.1% of the latency on
// both sides, or where half of its times are 0.
//
// Percentiles: B/A lies within lower_B/upper_A and upper_B/lower_A when both distribution-free
// intervals hold, which they do together with the confidence asked for when each has half of the
// doubt (Bonferroni). p is the least doubt at which the claim still stands.
//
// Latency, percentiles and stages are three groups; within each Holm's adjustment turns a claim
// whose adjusted p is beyond the doubt allowed into "inconclusive".
#pragma once

#include <vector>

#include "core/error.h"
#include "result/document.h"
#include "stats/probability.h"

namespace vivace::analyze {

struct CompareOptions {
  double margin = 0.02;  ///< changes within it count as none
  stats::Probability confidence{95, 100};
  std::vector<stats::Probability> percentiles;  ///< compared beside the latency as a whole
  bool paired = false;                          ///< sample i of both belongs together
};

/// Latency, then each percentile, then each stage that both have. The whole is regressed if the
/// latency or a percentile is; else it is what the latency is. Labels stay empty. Error: kBadData
/// where a side has no samples, or where pairs are not as many on both sides.
Result<result::Comparison> compare(const result::Document& a, const result::Document& b,
                                   const CompareOptions& options);

}  // namespace vivace::analyze
