// The manual page, written from the table of flags and verbs.
#include <fmt/format.h>

#include "cli/console.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "core/text.h"

namespace vivace::cli {
namespace {

/// Text as roff prints it: backslashes and hyphens as they are, no line that looks like a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string flag_entry(const Flag& flag) {
  std::string text = ".TP\n";
  if (flag.short_name != 0) text += fmt::format("\\fB\\-{}\\fR, ", flag.short_name);
  text += fmt::format("\\fB\\-\\-{}\\fR", roff(flag.name));
  if (!flag.value_name.empty()) text += fmt::format(" \\fI{}\\fR", roff(flag.value_name));
  return text + "\n" + roff(describe(flag)) + "\n";
}

std::string verb_section(const Verb& verb) {
  std::string text = fmt::format(".SS vivace {} [flags] {}\n{}: {}.\n.PP\n{}\n", roff(verb.name),
                                 roff(verb.positional), roff(verb.name), roff(verb.summary),
                                 roff(verb.description));
  for (const std::string& name : verb.flags) text += flag_entry(flag_of(verb, name));
  return text + fmt::format(".PP\nExample:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", roff(verb.example));
}

struct ExitCode {
  int status;
  std::string_view meaning;
};

constexpr ExitCode kExitCodes[] = {
    {0, "done"},
    {64, "wrong use of the command line"},
    {65, "bad data: a checkpoint, picture or tensor file, which the message names"},
    {66, "an input is missing or cannot be read"},
    {69, "unavailable: a backend, precision or output that this build or model has not"},
    {70, "internal error, a bug"},
    {73, "an output cannot be created"},
    {74, "reading or writing failed half-way"},
    {75, "out of memory or another passing shortage"},
    {130, "interrupted; measure prints and writes what it has"},
};

Result<int> run(const Arguments& arguments, Console& console) {
  (void)arguments;
  VIVACE_CHECK_OK(console.print(man_page(all_verbs(), version_number())));
  return 0;
}

}  // namespace

std::string man_page(std::span<const Verb> verbs, std::string_view version) {
  std::string text = fmt::format(
      ".TH VIVACE 1 \"\" \"vivace {}\" \"User Commands\"\n.SH NAME\n"
      "vivace \\- measures, explains and cuts the inference latency of JEPA models\n"
      ".SH SYNOPSIS\n\\fBvivace\\fR \\fIVERB\\fR [flags] [inputs]\n.SH VERBS\n",
      version);
  for (const Verb& verb : verbs) text += verb_section(verb);
  text += ".SH EXIT STATUS\n";
  for (const ExitCode& code : kExitCodes) {
    text += fmt::format(".TP\n{}\n{}\n", code.status, roff(code.meaning));
  }
  text += ".SH ENVIRONMENT\n.TP\nNO_COLOR\nWhen set and not empty, nothing is coloured.\n";
  return text;
}

Verb man_verb() {
  return {.name = "man",
          .summary = "the manual page, in roff",
          .description = "Prints the manual page vivace(1), with every verb and flag.",
          .positional = "",
          .flags = {"help"},
          .defaults = {},
          .example = "vivace man | man -l -",
          .exit_codes = "",
          .run = run};
}

}  // namespace vivace::cli
