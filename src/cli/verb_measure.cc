// The main job: a system under the protocol of docs/measurement.md, once, over the settings of a
// sweep, or in several processes.
#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "analyze/explain.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/measuring.h"
#include "cli/output.h"
#include "cli/processes.h"
#include "cli/subject.h"
#include "cli/sweep.h"
#include "cli/verbs.h"
#include "core/text.h"

namespace vivace::cli {
namespace {

/// The exit status that a measured document asks for: the worst of its verdicts.
int status_of(const result::Document& document, bool strict) {
  const auto has = [&](std::string_view id) {
    return std::any_of(document.caveats.begin(), document.caveats.end(),
                       [&](const result::Caveat& caveat) { return caveat.id == id; });
  };
  if (has("async_system")) return 3;
  if (strict && has("warm_up.no_steady_state")) return 3;
  int status = 0;
  for (const result::Verdict& verdict : document.verdicts) {
    if (verdict.verdict == "fail") return 1;
    if (verdict.verdict == "inconclusive") status = 2;
  }
  return status;
}

Result<int> run(const Arguments& arguments, Console& console) {
  VIVACE_CHECK_OK(check_outputs(arguments));
  VIVACE_TRY(const MeasureOrder order, measure_order(arguments));
  VIVACE_TRY(const std::vector<SweepSetting> settings, sweep_settings(arguments));
  if (arguments.count("processes") > 1) {
    VIVACE_TRY(const result::Document document, measure_processes(arguments, order, console));
    VIVACE_CHECK_OK(deliver(document, arguments, console));
    return console.interrupted() ? exit_status(ErrorCode::kInterrupted)
                                 : status_of(document, arguments.enabled("strict"));
  }

  SubjectOpener opener(console);
  std::vector<Subject> subjects;
  for (const SweepSetting& setting : settings) {
    auto subject = opener.open(setting.arguments);
    if (!subject && !setting.label.empty()) {
      return tl::unexpected(with_context(std::move(subject).error(), setting.label));
    }
    if (!subject) return tl::unexpected(std::move(subject).error());
    subjects.push_back(std::move(*subject));
  }
  VIVACE_TRY(std::vector<result::Document> results, measure_subjects(subjects, order, console));

  int status = 0;
  for (const result::Document& result : results) {
    status = std::max(status, status_of(result, arguments.enabled("strict")));
  }
  if (settings.size() == 1 && settings[0].label.empty()) {
    VIVACE_CHECK_OK(deliver(results[0], arguments, console));
  } else {
    result::Document sweep;
    sweep.kind = "sweep";
    fill_environment(sweep);
    sweep.configuration = effective_flags(arguments);
    for (std::size_t i = 0; i < results.size(); ++i) {
      sweep.points.push_back({.setting = settings[i].setting, .result = std::move(results[i])});
    }
    VIVACE_CHECK_OK(deliver(sweep, arguments, console));
  }
  return console.interrupted() ? exit_status(ErrorCode::kInterrupted) : status;
}

}  // namespace

Verb measure_verb() {
  std::vector<std::string> flags(subject_flags().begin(), subject_flags().end());
  for (const char* name :
       {"warmup", "samples", "duration", "until", "slo", "confidence", "percentiles", "sweep",
        "processes", "strict", "json", "format", "quiet", "verbose", "no-progress", "help"}) {
    flags.emplace_back(name);
  }
  return {.name = "measure",
          .summary = "latency of a model or another system, with its certainty",
          .description =
              "Runs one request after another and reports percentiles with their intervals, each "
              "stage of the request, the cold start, what makes the slow samples slow, and what "
              "speaks against the figures. The system is a model here over the inputs in turn "
              "(--model), or anything that --system names. The result names what is inside the "
              "timed region.",
          .positional = "INPUT...",
          .flags = std::move(flags),
          .defaults = {},
          .choices = {{"format", {"table", "json", "csv", "md"}}},
          .example = "vivace measure --model ijepa-vits16 photo.jpg --threads 2 --json result.json",
          .exit_codes =
              "  1 service level missed   2 not decided: more samples are needed\n"
              "  3 no valid latency: calls return before their work is done, or, with\n"
              "    --strict, no steady state\n"
              "  After an interrupt what was measured so far is printed and written.\n",
          .run = run};
}

}  // namespace vivace::cli
