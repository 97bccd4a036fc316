#include "cli/flags.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/check.h"
#include "core/text.h"
#include "load/measure.h"

namespace vivace::cli {
namespace {

constexpr std::size_t kHelpWidth = 80;
constexpr std::size_t kHelpColumn = 26;

std::vector<Flag> make_flags() {
  const std::vector<std::string> stages = {"read", "decode", "preprocess", "context_encode",
                                           "postprocess"};
  return {
      {.name = "model",
       .value_name = "DIR",
       .help = "The checkpoint: a Hugging Face folder with config.json and model.safetensors."},
      {.name = "input",
       .value_name = "INPUT",
       .help = "The same as a positional input: an image, a folder, a quoted glob, @list.txt, - "
               "for standard input, synthetic[:HxW], FILE.npy or FILE.safetensors:NAME.",
       .repeatable = true},
      {.name = "system",
       .value_name = "URI",
       .help = "What is measured where it is no model here: exec:COMMAND, worker:COMMAND, "
               "synthetic:mean=10ms,noise=3%."},
      {.name = "subtract-startup",
       .kind = FlagKind::kSwitch,
       .help = "Of exec: measure the start of an empty shell beside it, and take it off."},
      {.name = "preset",
       .value_name = "NAME",
       .help = "Whose sizes to take: ijepa-vits16, ijepa-vitb16, ijepa-vitl16, ijepa-vith14, "
               "ijepa-vith16-448 or ijepa-vitg16."},
      {.name = "backend",
       .kind = FlagKind::kChoice,
       .value_name = "NAME",
       .help = "What computes: our own kernels, or torch, which this build has not.",
       .default_text = "cpu",
       .choices = {"cpu", "torch"}},
      {.name = "device",
       .value_name = "NAME",
       .help = "Where it computes: cpu.",
       .default_text = "cpu"},
      {.name = "precision",
       .kind = FlagKind::kChoice,
       .value_name = "TYPE",
       .help = "Arithmetic of the model; this build has f32.",
       .default_text = "f32",
       .choices = {"f32", "bf16", "f16", "int8"}},
      {.name = "threads",
       .kind = FlagKind::kCount,
       .value_name = "N",
       .help = "Threads that compute, the calling one included.",
       .default_text = "every CPU that this process may use",
       .short_name = 'j',
       .minimum = 1,
       .maximum = 1024},
      {.name = "batch",
       .kind = FlagKind::kCount,
       .value_name = "N",
       .help = "Inputs per request.",
       .default_text = "1",
       .minimum = 1,
       .maximum = 4096},
      {.name = "resolution",
       .kind = FlagKind::kSize,
       .value_name = "HxW",
       .help = "Pixels of the model's input; another size than the checkpoint's interpolates its "
               "position table.",
       .default_text = "the checkpoint's own"},
      {.name = "seed",
       .kind = FlagKind::kCount,
       .value_name = "N",
       .help = "Seed of stand-in weights and synthetic pictures.",
       .default_text = "0",
       .minimum = 0,
       .maximum = 9'000'000'000'000'000},
      {.name = "warmup",
       .kind = FlagKind::kCount,
       .value_name = "N",
       .help = "Requests before the samples, discarded; at least 10.",
       .default_text = "20",
       .minimum = load::kWarmUpMin,
       .maximum = 1'000'000},
      {.name = "samples",
       .kind = FlagKind::kCount,
       .value_name = "N",
       .help = "Requests that are sampled, at most; fewer than 100 are marked.",
       .default_text = "500",
       .minimum = 1,
       .maximum = 10'000'000},
      {.name = "duration",
       .kind = FlagKind::kDuration,
       .value_name = "TIME",
       .help = "Time for the samples, at most: 30s, 5m.",
       .default_text = "60s"},
      {.name = "until",
       .value_name = "GOAL",
       .help = "Sample until ci=2%@p99 (the interval of P99 is within 2% of it) or verdict (--slo "
               "is decided), within the time that --duration allows."},
      {.name = "slo",
       .value_name = "LEVEL",
       .help = "The service level asked for, as p95<30ms; its verdict is the exit code."},
      {.name = "confidence",
       .kind = FlagKind::kShare,
       .value_name = "SHARE",
       .help = "Of intervals and verdicts.",
       .default_text = "95%"},
      {.name = "sweep",
       .value_name = "FLAG=LIST",
       .help = "Measure each of several values of a flag, interleaved: batch=1,2,4,8 or "
               "threads=1:8:1; a second --sweep gives all pairs.",
       .repeatable = true},
      {.name = "processes",
       .kind = FlagKind::kCount,
       .value_name = "K",
       .help = "Measure in so many processes started afresh, one after another, and tell how much "
               "they differ.",
       .default_text = "1",
       .minimum = 1,
       .maximum = 1000},
      {.name = "strict",
       .kind = FlagKind::kSwitch,
       .help = "Exit with 3 where no steady state was seen."},
      {.name = "a", .value_name = "SPEC", .help = "The one side: see above."},
      {.name = "b", .value_name = "SPEC", .help = "The other side: see above."},
      {.name = "margin",
       .kind = FlagKind::kShare,
       .value_name = "SHARE",
       .help = "A change within it counts as none.",
       .default_text = "2%"},
      {.name = "allow-unlike",
       .kind = FlagKind::kSwitch,
       .help = "Compare results of different machines or builds all the same."},
      {.name = "from",
       .kind = FlagKind::kChoice,
       .value_name = "FORMAT",
       .help = "Who wrote the file; recognised by its content where this is not given.",
       .choices = {"hyperfine", "pytest-benchmark", "trtexec", "perf_analyzer", "aiperf", "csv"}},
      {.name = "select",
       .value_name = "NAME",
       .help = "Which of several runs in the file: its name, or its number from 1."},
      {.name = "column",
       .value_name = "NAME",
       .help = "Of a table: the column's name, or its number from 1."},
      {.name = "unit",
       .kind = FlagKind::kChoice,
       .value_name = "UNIT",
       .help = "Of a column whose name does not tell it.",
       .choices = {"ns", "us", "ms", "s"}},
      {.name = "percentiles",
       .kind = FlagKind::kPercentiles,
       .value_name = "LIST",
       .help = "Percentiles to report: p50,p95,p99.9.",
       .default_text = "p50,p90,p95,p99"},
      {.name = "include",
       .kind = FlagKind::kChoices,
       .value_name = "STAGES",
       .help = "Stages inside the timed region, neighbours of read, decode, preprocess, "
               "context_encode, postprocess; the rest runs outside of it.",
       .default_text = "all",
       .choices = stages},
      {.name = "exclude",
       .kind = FlagKind::kChoices,
       .value_name = "STAGES",
       .help = "Stages outside the timed region, from the front or the end.",
       .default_text = "none",
       .choices = stages},
      {.name = "emit",
       .kind = FlagKind::kChoices,
       .value_name = "LIST",
       .help = "What to write: tokens, pooled, logits, layers, pixels; several, comma-separated.",
       .default_text = "pooled",
       .choices = {"tokens", "pooled", "cls", "logits", "layers", "pixels"}},
      {.name = "max-pixels",
       .kind = FlagKind::kCount,
       .value_name = "N",
       .help = "Refuse images with more pixels.",
       .default_text = "178956970",
       .minimum = 1,
       .maximum = 4'000'000'000},
      {.name = "tensors",
       .value_name = "FILE",
       .help = "List the tensors of this checkpoint file instead."},
      {.name = "json",
       .value_name = "FILE",
       .help = "Write the whole result as JSON; - is standard output, in place of the table."},
      {.name = "format",
       .kind = FlagKind::kChoice,
       .value_name = "FORM",
       .help = "What is printed on standard output.",
       .default_text = "table",
       .choices = {"table", "json", "csv", "md", "junit"}},
      {.name = "out",
       .value_name = "PATH",
       .help =
           "Where the result goes: a folder for init; a .npy or .safetensors file for embed, or "
           "- for .npy on standard output.",
       .short_name = 'o'},
      {.name = "quiet",
       .kind = FlagKind::kSwitch,
       .help = "Neither progress nor warnings.",
       .short_name = 'q'},
      {.name = "verbose",
       .kind = FlagKind::kSwitch,
       .help = "Say on standard error what is being done.",
       .short_name = 'v'},
      {.name = "no-progress", .kind = FlagKind::kSwitch, .help = "No progress bar."},
      {.name = "help",
       .kind = FlagKind::kSwitch,
       .help = "Print this and exit.",
       .short_name = 'h'},
  };
}

/// `text` in lines of at most kHelpWidth, the ones after the first indented by `indent`.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t start) {
  std::string out;
  std::size_t column = start;
  bool first = true;
  for (const std::string_view word : split(text, ' ')) {
    if (!first && column + 1 + word.size() > kHelpWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    first = false;
  }
  return out;
}

std::string flag_help(const Flag& flag) {
  std::string left = "  ";
  if (flag.short_name != 0) left += fmt::format("-{}, ", flag.short_name);
  left += "--" + flag.name;
  if (!flag.value_name.empty()) left += " " + flag.value_name;
  const std::string text = describe(flag);
  if (left.size() + 2 > kHelpColumn) {
    left += "\n" + std::string(kHelpColumn, ' ');
  } else {
    left.resize(kHelpColumn, ' ');
  }
  return left + wrapped(text, kHelpColumn, kHelpColumn) + "\n";
}

constexpr std::string_view kCommonExits =
    "  0 done   64 wrong use   65 bad data   66 input missing   69 unavailable\n"
    "  73, 74 output cannot be written   130 interrupted\n";

}  // namespace

std::span<const Flag> all_flags() {
  static const std::vector<Flag> flags = make_flags();
  return flags;
}

const Flag& flag_named(std::string_view name) {
  const auto flags = all_flags();
  const auto flag = std::find_if(flags.begin(), flags.end(),
                                 [&](const Flag& candidate) { return candidate.name == name; });
  VIVACE_CHECK(flag != flags.end());
  return *flag;
}

std::string describe(const Flag& flag) {
  std::string text = flag.help;
  if (flag.kind == FlagKind::kChoice) text += fmt::format(" One of {}.", join(flag.choices, ", "));
  if (!flag.default_text.empty()) text += fmt::format(" [default: {}]", flag.default_text);
  return text;
}

bool takes_file(const Flag& flag) {
  return flag.value_name == "FILE" || flag.value_name == "PATH" || flag.value_name == "DIR" ||
         flag.value_name == "INPUT";
}

Flag flag_of(const Verb& verb, std::string_view name) {
  Flag flag = flag_named(name);
  for (const auto& [flag_name, choices] : verb.choices) {
    if (flag_name == name) flag.choices = choices;
  }
  for (const auto& [flag_name, value] : verb.defaults) {
    if (flag_name == name) flag.default_text = value;
  }
  return flag;
}

std::optional<std::string> Arguments::text(std::string_view flag) const {
  const auto found = values_.find(flag);
  if (found != values_.end()) return found->second.back();
  std::string fallback = flag_of(*verb_, flag).default_text;
  if (fallback.empty()) return std::nullopt;
  return fallback;
}

std::string Arguments::value(std::string_view flag) const {
  std::optional<std::string> found = text(flag);
  VIVACE_CHECK(found.has_value());
  return std::move(found).value_or("");
}

std::int64_t Arguments::count(std::string_view flag) const {
  const Flag& facts = flag_named(flag);
  // Parsed once already: it cannot fail.
  return parse_count(value(flag), facts.minimum, facts.maximum).value();
}

std::int64_t Arguments::duration_ns(std::string_view flag) const {
  return parse_duration_ns(value(flag)).value();
}

double Arguments::share(std::string_view flag) const { return parse_share(value(flag)).value(); }

std::optional<Size2> Arguments::size(std::string_view flag) const {
  if (!given(flag)) return std::nullopt;
  return parse_size(value(flag)).value();
}

std::vector<std::string> Arguments::list(std::string_view flag) const {
  std::vector<std::string> pieces;
  const auto value = text(flag);
  if (!value) return pieces;
  for (const std::string_view piece : split(*value, ',')) pieces.emplace_back(piece);
  return pieces;
}

std::vector<std::string> Arguments::all(std::string_view flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

std::string help_text(const Verb& verb) {
  std::string text =
      fmt::format("vivace {}: {}\n\nUsage: vivace {} [flags]{}{}\n\n{}\n\nFlags:\n", verb.name,
                  verb.summary, verb.name, verb.positional.empty() ? "" : " ", verb.positional,
                  wrapped(verb.description, 0, 0));
  for (const std::string& name : verb.flags) text += flag_help(flag_of(verb, name));
  text += fmt::format("\nExample:\n  {}\n\nExit codes:\n{}{}", verb.example, kCommonExits,
                      verb.exit_codes);
  return text;
}

std::string help_text(std::span<const Verb> verbs) {
  std::string text =
      "vivace: measures, explains and cuts the inference latency of JEPA models\n\n"
      "Usage: vivace VERB [flags] [inputs]\n\nVerbs:\n";
  for (const Verb& verb : verbs) text += fmt::format("  {:<12}{}\n", verb.name, verb.summary);
  text +=
      "\n`vivace VERB --help` tells a verb's flags, with an example and its exit codes.\n"
      "`vivace --version` tells version, compiler, instruction sets and backends.\n";
  return text;
}

}  // namespace vivace::cli
