// `vivace selftest`: what this machine can and cannot resolve.
#include <algorithm>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/selftest.h"
#include "cli/setup.h"
#include "cli/verbs.h"
#include "report/page.h"
#include "report/text_layout.h"

namespace vivace::cli {
namespace {

std::string rendered(const result::Document& document, const SelftestReport& report,
                     const Console& console) {
  report::Page page({.width = console.columns(), .colour = console.colour()});
  page.raw(page.painted(
      report::Paint::kTitle,
      fmt::format("vivace {} \u00b7 selftest \u00b7 {}", document.tool.version, document.created)));
  page.rule();
  page.fact("machine",
            fmt::format("{}, {} cores", document.environment.cpu, document.environment.cores), 0,
            11);
  page.section("CHECKS", "");
  for (const result::Verdict& check : report.checks) {
    const bool passed = check.verdict == "pass";
    page.fact(passed ? "ok" : "FAILED", check.target + ": " + check.message, 2, 8,
              passed ? report::Paint::kLabel : report::Paint::kWarning);
    if (!check.advice.empty()) page.fact("", "try: " + check.advice, 2, 8);
  }
  page.blank();
  page.paragraph(!report.instrument_sound ? "The instrument does not work here: please report it."
                 : report.machine_sound
                     ? "The instrument works here, and this machine resolves changes of 2%."
                     : "The instrument works here; this machine, as it is now, does not resolve "
                       "what it should. Figures taken now carry the noise that is named above.",
                 0);
  return page.take();
}

Result<int> run(const Arguments& arguments, Console& console) {
  VIVACE_CHECK_OK(check_outputs(arguments));
  result::Document document;
  document.kind = "selftest";
  fill_environment(document);
  document.configuration = effective_flags(arguments);
  VIVACE_TRY(const SelftestReport report,
             run_selftest(static_cast<std::uint64_t>(arguments.count("seed")), console));
  document.verdicts = report.checks;
  const auto json = arguments.text("json");
  if (json && *json != "-") VIVACE_CHECK_OK(result::write_result(*json, document));
  const bool as_json = (json && *json == "-") || arguments.value("format") == "json";
  VIVACE_CHECK_OK(console.print(as_json ? write_json(result::to_json(document))
                                        : rendered(document, report, console)));
  if (!report.instrument_sound) return 1;
  return report.machine_sound ? 0 : 3;
}

}  // namespace

Verb selftest_verb() {
  return {
      .name = "selftest",
      .summary = "what this machine can and cannot resolve",
      .description =
          "Runs the instrument on systems of known behaviour, for half a minute or less: the "
          "clock, times that are known, the same work against itself, work that grew, and "
          "simulated systems whose percentiles, drift, tails and stalls are known. Prints the "
          "smallest change that can be seen here.",
      .positional = "",
      .flags = {"seed", "json", "format", "quiet", "verbose", "no-progress", "help"},
      .defaults = {},
      .choices = {{"format", {"table", "json"}}},
      .example = "vivace selftest",
      .exit_codes = "  1 the instrument itself fails a check   3 this machine is too noisy now\n",
      .run = run};
}

}  // namespace vivace::cli
