// What a result shows: the cause of its tail, unsteadiness, modes.
#include <fmt/format.h>

#include "analyze/explain.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/text.h"
#include "report/explanation.h"

namespace vivace::cli {
namespace {

Result<int> run(const Arguments& arguments, Console& console) {
  VIVACE_CHECK_OK(check_outputs(arguments));
  const auto& files = arguments.positionals();
  if (files.size() != 1) {
    return fail(ErrorCode::kUsage, {.what = "explain takes one result file",
                                    .expected = "RESULT.json",
                                    .got = fmt::format("{} files", files.size()),
                                    .advice = "write one with `vivace measure --json`"});
  }
  VIVACE_TRY(result::Document document, result::read_result(files[0]));
  if (document.comparison || !document.points.empty()) {
    return fail(ErrorCode::kBadData, {.what = files[0] + " is no single measurement",
                                      .expected = "a result of `vivace measure` or `import`",
                                      .got = "one of kind " + quote(document.kind),
                                      .advice = {}});
  }
  document.findings = analyze::explain(document);
  const auto json = arguments.text("json");
  if (json) VIVACE_CHECK_OK(result::write_result(*json, document));
  const std::string format = arguments.value("format");
  if (format == "json") {
    VIVACE_CHECK_OK(console.print(write_json(result::to_json(document))));
  } else if (format == "md") {
    VIVACE_CHECK_OK(console.print(report::render_explanation_markdown(document)));
  } else {
    const report::TableStyle style{.width = console.columns(), .colour = console.colour()};
    VIVACE_CHECK_OK(console.print(report::render_explanation_table(document, style)));
  }
  return 0;
}

}  // namespace

Verb explain_verb() {
  return {.name = "explain",
          .summary = "names the cause of a result's tail, with evidence",
          .description =
              "Reads a result file and ranks what its samples show: which recorded covariate "
              "explains the slow ones, which stage they lose their time in, whether the series "
              "drifts or has modes. Says so where nothing recorded explains them.",
          .positional = "RESULT.json",
          .flags = {"json", "format", "quiet", "verbose", "help"},
          .defaults = {},
          .choices = {{"format", {"table", "json", "md"}}},
          .example = "vivace explain result.json",
          .exit_codes = "",
          .run = run};
}

}  // namespace vivace::cli
