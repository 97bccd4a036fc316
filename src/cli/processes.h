// --processes K: the same measurement in K processes that are started afresh, and what they say
// together. Layout, placement and caches differ from start to start, so repeats within one process
// understate the spread.
#pragma once

#include "cli/console.h"
#include "cli/flags.h"
#include "cli/measuring.h"
#include "core/error.h"
#include "result/document.h"

namespace vivace::cli {

/// One document with the samples of all processes, one after another, and `processes` filled. An
/// interrupt ends it with the processes that were complete. Errors: kUsage with --sweep or standard
/// input, and a child's, with its message.
Result<result::Document> measure_processes(const Arguments& arguments, const MeasureOrder& order,
                                           Console& console);

}  // namespace vivace::cli
