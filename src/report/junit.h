// A comparison, or the verdicts of a measurement, as JUnit XML, which every CI system shows: one
// test case per latency and percentile (stages only explain). Regressed and failed are failures;
// inconclusive is skipped, with what would settle it.
#pragma once

#include <string>

#include "result/document.h"

namespace vivace::report {

/// Ends with a newline. Well-formed whatever names and messages hold.
std::string render_junit(const result::Document& document);

}  // namespace vivace::report
