// Other tools' figures as result files, so that compare and explain work on them.
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "core/text.h"
#include "platform/file.h"
#include "result/import.h"

namespace vivace::cli {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{1} << 30;

Result<int> run(const Arguments& arguments, Console& console) {
  VIVACE_CHECK_OK(check_outputs(arguments));
  const auto& files = arguments.positionals();
  if (files.size() != 1) {
    return fail(ErrorCode::kUsage,
                {.what = "import takes one file",
                 .expected = "FILE",
                 .got = fmt::format("{} files", files.size()),
                 .advice = "example: vivace import hyperfine.json --json a.json"});
  }
  result::ImportOptions options;
  options.format = arguments.text("from").value_or("");
  options.select = arguments.text("select").value_or("");
  options.column = arguments.text("column").value_or("");
  options.unit = arguments.text("unit").value_or("");
  options.source = files[0];
  VIVACE_TRY(const std::string bytes, platform::read_text(files[0], kFileBytesMax));
  auto document = result::import_result(bytes, options);
  if (!document) {
    Error error = std::move(document).error();
    if (!error.message.starts_with(files[0])) error = with_context(std::move(error), files[0]);
    if (error.code == ErrorCode::kUsage) error.message += " (--select, --column, --unit)";
    return tl::unexpected(std::move(error));
  }
  document->tool.version = version_number();
  document->tool.build.clear();
  VIVACE_CHECK_OK(deliver(*document, arguments, console));
  return 0;
}

}  // namespace

Verb import_verb() {
  return {
      .name = "import",
      .summary = "other tools' raw figures as a result file",
      .description =
          "Reads the raw samples that hyperfine, pytest-benchmark, trtexec, perf_analyzer, "
          "GenAI-Perf or AIPerf exported, or a column of a CSV or text file, and writes a "
          "result file that compare and explain read. What the file does not say is absent "
          "from the result, and named.",
      .positional = "FILE",
      .flags = {"from", "select", "column", "unit", "json", "format", "quiet", "verbose", "help"},
      .defaults = {},
      .choices = {{"format", {"table", "json", "csv", "md"}}},
      .example = "vivace import hyperfine.json --json before.json",
      .exit_codes = "",
      .run = run};
}

}  // namespace vivace::cli
