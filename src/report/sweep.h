// The settings of a sweep side by side: latency per request, throughput and their intervals.
#pragma once

#include <string>
#include <vector>

#include "report/grid.h"
#include "result/document.h"

namespace vivace::report {

/// What all points share, for the head: the first point's without its samples and swept flags.
result::Document sweep_head(const result::Document& document);

/// A row per setting: P50 and P95 (or the first and last percentile that there are) and items per
/// second, each with its interval where there is one; time per item and n_eff, "none" where there
/// is no such figure.
Grid sweep_grid(const result::Document& document, bool unicode);

/// What speaks against the points' figures: each caveat once, with the settings it holds for where
/// it does not hold for all.
std::vector<result::Caveat> sweep_caveats(const result::Document& document);
/// The points' verdicts, each with its setting.
std::vector<result::Verdict> sweep_verdicts(const result::Document& document);

/// A line per setting with all figures as plain numbers, in nanoseconds and per second; an empty
/// field where there is none.
std::string sweep_csv(const result::Document& document);

}  // namespace vivace::report
