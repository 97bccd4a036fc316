// Other tools' results as result documents, so that what they measured can be explained, judged and
// compared here. Only raw samples are taken: a summary cannot be given intervals. What a file does
// not say (the machine, the clock, what was warmed up) stays absent and is named in a caveat.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "result/document.h"

namespace vivace::result {

struct ImportOptions {
  std::string format;  ///< one of import_formats(), or "": recognised by its content
  /// Which of several runs in a file: a command, a benchmark, an experiment, by its name or number
  /// from 1. Not needed where there is one.
  std::string select;
  std::string
      column;        ///< of a table: its name, or its number from 1; not needed where there is one
  std::string unit;  ///< of that column: "ns", "us", "ms", "s"; not needed where its name says it
  std::string source;  ///< what to call the file
};

/// "hyperfine", "pytest-benchmark", "trtexec", "perf_analyzer", "aiperf", "csv".
std::span<const std::string_view> import_formats();

/// A document of kind "measure" with the samples and their summary; `configuration` says where they
/// come from. `created` is empty where the file does not say when it was measured.
/// Errors: kUsage for an option that is missing or fits nothing in the file (with what would);
/// kBadData for another format, a file of summaries only, a value that is no duration (with its
/// place), no sample.
Result<Document> import_result(std::string_view bytes, const ImportOptions& options);

}  // namespace vivace::result
