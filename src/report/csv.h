// The samples of a document as CSV (RFC 4180, lines end with a newline), one row per sample in the
// order in which they were taken:
//   index         from 0
//   latency_ns    whole nanoseconds
//   STAGE_ns      one column per recorded stage, in the order of the file: decode_ns, ...
//   COVARIATE     one column per recorded covariate, under its own name: major_faults, ...
// Of a sweep: one row per setting, with its percentiles, time per item and throughput (sweep.h).
// The first line holds the names. A document without samples gives that line alone.
#pragma once

#include <string>
#include <string_view>

#include "result/document.h"

namespace vivace::report {

/// In quotes where a separator, a quote or a line's end is part of the text.
std::string csv_field(std::string_view text);

std::string render_csv(const result::Document& document);

}  // namespace vivace::report
