// B against A: two result files, or two systems that take turns.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analyze/compare.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/measuring.h"
#include "cli/output.h"
#include "cli/subject.h"
#include "cli/verbs.h"
#include "core/text.h"

namespace vivace::cli {
namespace {

/// How `measure` would be told of one side: a URI, flags, or a shell command.
Result<std::vector<std::string>> side_words(const std::string& spec) {
  for (const std::string_view scheme : {"synthetic:", "exec:", "worker:", "http:", "https:"}) {
    if (spec.starts_with(scheme)) return std::vector<std::string>{"--system=" + spec};
  }
  if (spec.starts_with('-')) return split_words(spec);
  return std::vector<std::string>{"--system=exec:" + spec};
}

/// The command line of `measure` that this one's flags for both sides amount to.
Result<Arguments> shared_arguments(const Arguments& arguments) {
  static const Verb measure = measure_verb();  // Arguments refer to their verb
  std::vector<std::string> words;
  for (const std::string& name : measure.flags) {
    const auto& own = arguments.verb().flags;
    if (std::find(own.begin(), own.end(), name) == own.end() || !arguments.given(name)) continue;
    if (name == "json" || name == "format") continue;
    if (flag_of(measure, name).kind == FlagKind::kSwitch) {
      words.push_back("--" + name);
      continue;
    }
    for (const std::string& value : arguments.all(name)) {
      words.push_back(fmt::format("--{}={}", name, value));
    }
  }
  words.emplace_back("--");
  words.insert(words.end(), arguments.positionals().begin(), arguments.positionals().end());
  return parse_arguments(measure, words);
}

Result<Subject> open_side(const Arguments& arguments, std::string_view flag,
                          SubjectOpener& opener) {
  const std::string spec = arguments.value(flag);
  const auto in_flag = [&](Error error) {
    return tl::unexpected(with_context(std::move(error), fmt::format("--{}", flag)));
  };
  VIVACE_TRY(const Arguments shared, shared_arguments(arguments));
  auto words = side_words(spec);
  if (!words) return in_flag(std::move(words).error());
  auto side = shared.overridden_by(*words);
  if (!side) return in_flag(std::move(side).error());
  auto subject = opener.open(*side);
  if (!subject) return in_flag(std::move(subject).error());
  return subject;
}

result::Caveat caveat(std::string id, std::string message, std::string advice) {
  return {.id = std::move(id),
          .message = std::move(message),
          .advice = std::move(advice),
          .unknown = {}};
}

/// What two results must share to be compared: the machine, and how the tool was built.
Result<void> check_alike(const result::Document& a, const result::Document& b, bool allow_unlike,
                         std::vector<result::Caveat>& caveats) {
  const auto unlike = [&](const std::string& what, const std::string& of_a,
                          const std::string& of_b) -> Result<void> {
    if (!allow_unlike) {
      return fail(ErrorCode::kInvalidMeasurement,
                  {.what = "the results come from unlike " + what,
                   .expected = "the same on both sides",
                   .got = fmt::format("{} and {}", quote(of_a, 60), quote(of_b, 60)),
                   .advice = "measure both side by side with --a and --b, or pass --allow-unlike"});
    }
    caveats.push_back(caveat("compare.unlike",
                             fmt::format("the results come from unlike {}: {} and {}", what,
                                         quote(of_a, 60), quote(of_b, 60)),
                             "the difference may be the machine's"));
    return {};
  };
  const auto& machine_a = a.environment;
  const auto& machine_b = b.environment;
  if (machine_a.fingerprint.empty() || machine_b.fingerprint.empty()) {
    caveats.push_back(caveat("compare.unknown_environment",
                             "a result does not say on which machine it was measured",
                             "compare only what you know was measured on the same one"));
    if (machine_a.fingerprint.empty() && machine_b.fingerprint.empty()) return {};
    return unlike("machines", machine_a.fingerprint.empty() ? "unknown" : machine_a.cpu,
                  machine_b.fingerprint.empty() ? "unknown" : machine_b.cpu);
  }
  if (machine_a.fingerprint != machine_b.fingerprint) {
    const auto name = [](const result::Environment& one) {
      return fmt::format("{}, {} cores, {}", one.cpu, one.cores, one.fingerprint);
    };
    VIVACE_CHECK_OK(unlike("machines", name(machine_a), name(machine_b)));
  }
  if (a.tool.build != b.tool.build) {
    VIVACE_CHECK_OK(unlike("builds of vivace", a.tool.build, b.tool.build));
  }
  if (a.input.sha256 != b.input.sha256) {
    caveats.push_back(caveat("compare.inputs_differ", "the two measured different inputs",
                             "give both the same inputs, unless that is what you compare"));
  }
  return {};
}

Result<void> check_measured(const result::Document& document, const std::string& name) {
  if (document.comparison || !document.points.empty()) {
    return fail(ErrorCode::kBadData, {.what = name + " is no single measurement",
                                      .expected = "a result of `vivace measure` or `import`",
                                      .got = "one of kind " + quote(document.kind),
                                      .advice = {}});
  }
  if (!document.summary) {
    return fail(
        ErrorCode::kInvalidMeasurement,
        {.what = name + " has no latency",
         .expected = "a result with a summary",
         .got = document.samples.latency_ns.empty() ? "no samples" : "samples that are no latency",
         .advice = "measure it again"});
  }
  return {};
}

void carry_caveats(const result::Document& from, std::string_view side,
                   std::vector<result::Caveat>& caveats) {
  for (const result::Caveat& one : from.caveats) {
    const auto known = std::find_if(caveats.begin(), caveats.end(),
                                    [&](const auto& other) { return other.id == one.id; });
    if (known != caveats.end()) {
      if (known->message == fmt::format("of A: {}", one.message)) known->message = one.message;
      continue;
    }
    caveats.push_back(one);
    caveats.back().message = fmt::format("of {}: {}", side, one.message);
  }
}

int status_of(const result::Comparison& comparison) {
  if (comparison.verdict == "regressed") return 1;
  if (comparison.verdict == "inconclusive") return 2;
  return 0;
}

Result<int> finish(const result::Document& a, const result::Document& b, bool paired,
                   std::pair<std::string, std::string> labels, const Arguments& arguments,
                   Console& console) {
  VIVACE_CHECK_OK(check_measured(a, labels.first));
  VIVACE_CHECK_OK(check_measured(b, labels.second));
  result::Document document;
  document.kind = "compare";
  fill_environment(document);
  document.configuration = effective_flags(arguments);
  if (!a.model && !b.model) drop_model_flags(document.configuration);
  VIVACE_CHECK_OK(check_alike(a, b, arguments.enabled("allow-unlike"), document.caveats));
  if (!paired) {
    document.caveats.push_back(
        caveat("compare.unpaired",
               "the two were measured one after the other: what changed in between counts as a "
               "difference",
               "measure them side by side: vivace compare --a ... --b ..."));
  }
  analyze::CompareOptions options;
  options.margin = arguments.share("margin");
  options.paired = paired;
  VIVACE_TRY(options.confidence, confidence_of(arguments));
  VIVACE_TRY(const MeasureOrder order, measure_order(arguments));
  options.percentiles = order.percentiles;
  VIVACE_TRY(document.comparison, analyze::compare(a, b, options));
  document.comparison->a.label = std::move(labels.first);
  document.comparison->b.label = std::move(labels.second);
  document.timed_region = a.timed_region;
  carry_caveats(a, "A", document.caveats);
  carry_caveats(b, "B", document.caveats);
  VIVACE_CHECK_OK(deliver(document, arguments, console));
  return status_of(*document.comparison);
}

Result<int> compare_files(const Arguments& arguments, Console& console) {
  const auto& files = arguments.positionals();
  if (files.size() != 2) {
    return fail(ErrorCode::kUsage, {.what = "compare takes two result files, or --a and --b",
                                    .expected = "A.json B.json",
                                    .got = fmt::format("{} files", files.size()),
                                    .advice = "example: vivace compare before.json after.json"});
  }
  VIVACE_TRY(const result::Document a, result::read_result(files[0]));
  VIVACE_TRY(const result::Document b, result::read_result(files[1]));
  return finish(a, b, false, {files[0], files[1]}, arguments, console);
}

Result<int> compare_systems(const Arguments& arguments, Console& console) {
  if (!arguments.given("a") || !arguments.given("b")) {
    return fail(ErrorCode::kUsage,
                {.what = fmt::format("--{} is given without --{}", arguments.given("a") ? "a" : "b",
                                     arguments.given("a") ? "b" : "a"),
                 .expected = "both sides",
                 .got = {},
                 .advice = "a side is flags of measure, a system's URI or a shell command"});
  }
  VIVACE_TRY(const MeasureOrder order, measure_order(arguments));
  SubjectOpener opener(console);
  std::vector<Subject> sides;
  for (const char* flag : {"a", "b"}) {
    VIVACE_TRY(Subject side, open_side(arguments, flag, opener));
    sides.push_back(std::move(side));
  }
  VIVACE_TRY(const std::vector<result::Document> results, measure_subjects(sides, order, console));
  const std::pair labels(arguments.value("a"), arguments.value("b"));
  VIVACE_TRY(const int status, finish(results[0], results[1], true, labels, arguments, console));
  return console.interrupted() ? exit_status(ErrorCode::kInterrupted) : status;
}

Result<int> run(const Arguments& arguments, Console& console) {
  VIVACE_CHECK_OK(check_outputs(arguments));
  if (arguments.given("a") || arguments.given("b")) return compare_systems(arguments, console);
  return compare_files(arguments, console);
}

}  // namespace

Verb compare_verb() {
  std::vector<std::string> flags = {"a",          "b",           "margin",
                                    "confidence", "percentiles", "allow-unlike"};
  flags.insert(flags.end(), subject_flags().begin(), subject_flags().end());
  for (const char* name : {"warmup", "samples", "duration", "json", "format", "quiet", "verbose",
                           "no-progress", "help"}) {
    flags.emplace_back(name);
  }
  return {.name = "compare",
          .summary = "B against A: regressed, improved, equivalent or inconclusive",
          .description =
              "Compares two result files, or two systems that take turns in pairs of random order "
              "(--a and --b), which is how to tell a change from a drifting machine. A side is "
              "flags of measure (\"--threads 1\"), a system's URI (worker:COMMAND) or a shell "
              "command; flags beside them hold for both. The change is a Hodges-Lehmann estimate "
              "with its Wilcoxon interval, B over A.",
          .positional = "[A.json B.json | INPUT...]",
          .flags = std::move(flags),
          .defaults = {{"samples", "100"}, {"percentiles", "p95,p99"}},
          .choices = {},
          .example = "vivace compare --model m photo.jpg --a \"--threads 1\" --b \"--threads 2\"",
          .exit_codes =
              "  0 improved or equivalent   1 regressed   2 inconclusive\n"
              "  3 not comparable: unlike machines or builds, or no latency\n",
          .run = run};
}

}  // namespace vivace::cli
