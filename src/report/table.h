// A result for the terminal. Of a measurement: what was measured and on what, the percentiles with
// their intervals, where the time goes, what surrounded the samples, and every reason for doubt. It
// reads in 80 columns; a mean never stands without percentiles, a missing bound is named with the
// number of samples that would give it. Of a comparison: the verdict, then each quantity with its
// change.
#pragma once

#include <string>

#include "report/page.h"
#include "result/document.h"

namespace vivace::report {

/// Ends with a newline. Cost: small; samples are not read, only the summary.
std::string render_table(const result::Document& document, const TableStyle& style);

}  // namespace vivace::report
