// The part of a terminal's table that shows a comparison: the verdict and what to do next, both
// sides, a row per quantity and what stays open. render_table (table.h) calls it.
#pragma once

#include "report/page.h"
#include "result/document.h"

namespace vivace::report {

/// `comparison` is the document's own.
void add_comparison(Page& page, const result::Document& document,
                    const result::Comparison& comparison);

}  // namespace vivace::report
