// B against A, from two results (unpaired) or from one run in which they alternated (paired).
#pragma once

#include <span>

#include "core/error.h"
#include "result/document.h"
#include "stats/probability.h"

namespace vivace::analyze {

struct CompareOptions {
  double margin = 0.02;  ///< changes within it count as none
  stats::Probability confidence{95, 100};
  std::vector<stats::Probability> percentiles;  ///< compared beside the pairs
  bool paired = false;                          ///< sample i of both belongs together (checked)
};

/// Latency, then each percentile, then each stage that both have. Error: kBadData where one side
/// has no samples.
Result<result::Comparison> compare(const result::Document& a, const result::Document& b,
                                   const CompareOptions& options);

}  // namespace vivace::analyze
