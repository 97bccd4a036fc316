// The settings of a sweep side by side: latency per request, throughput and their intervals.
#pragma once

#include <string>
#include <vector>

#include "report/grid.h"
#include "result/document.h"

namespace vivace::report {

/// A row per setting: P50, the highest percentile but one that was asked for, time per item,
/// throughput; each with its interval where there is one.
Grid sweep_grid(const result::Document& document, bool unicode);

/// What speaks against the points' figures: each caveat once, with the settings it holds for where
/// it does not hold for all.
std::vector<result::Caveat> sweep_caveats(const result::Document& document);
/// The points' verdicts, each with its setting.
std::vector<result::Verdict> sweep_verdicts(const result::Document& document);

/// A line per setting with all figures as plain numbers, in nanoseconds and per second.
std::string sweep_csv(const result::Document& document);

}  // namespace vivace::report
