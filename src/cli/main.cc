// Entry: finds the verb, hands over, and turns an Error into a message and an exit status.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/flags.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "core/text.h"

namespace vivace::cli {
namespace {

bool wants_help(std::span<const std::string> words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::any_of(words.begin(), end,
                     [](const std::string& word) { return word == "--help" || word == "-h"; });
}

tl::unexpected<Error> unknown_verb(const std::string& word, std::span<const Verb> verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.name);
  const std::string near = nearest_name(word, names);
  return fail(ErrorCode::kUsage,
              {.what = "no such verb",
               .expected = join(names, ", "),
               .got = quote(word),
               .advice = near.empty() ? std::string("see `vivace --help`")
                                      : fmt::format("did you mean `vivace {}`?", near)});
}

Result<int> run(std::span<const std::string> words, Console& console) {
  const std::span<const Verb> verbs = all_verbs();
  const auto say = [&](const std::string& text) -> Result<int> {
    VIVACE_CHECK_OK(console.print(text));
    return 0;
  };
  if (words.empty()) {
    return fail(ErrorCode::kUsage, {.what = "no verb is given",
                                    .expected = "info, init, measure, embed ...",
                                    .got = {},
                                    .advice = "see `vivace --help`"});
  }
  if (words[0] == "--version") {
    if (words.size() == 1) return say(version_text());
    return fail(ErrorCode::kUsage, {.what = "--version stands alone",
                                    .expected = {},
                                    .got = quote(words[1]),
                                    .advice = "see `vivace --help`"});
  }
  const bool help = words[0] == "--help" || words[0] == "-h" || words[0] == "help";
  if (help && words.size() == 1) return say(help_text(verbs));
  // `vivace help VERB` is `vivace VERB --help`.
  const std::string& name = words[help ? 1 : 0];
  const auto verb = std::find_if(verbs.begin(), verbs.end(),
                                 [&](const Verb& candidate) { return candidate.name == name; });
  if (verb == verbs.end()) return unknown_verb(name, verbs);
  const auto rest = words.subspan(1);
  if (help || wants_help(rest)) return say(help_text(*verb));
  VIVACE_TRY(const Arguments arguments, parse_arguments(*verb, rest));
  console.configure(arguments);
  return verb->run(arguments, console);
}

int report(const Error& error) {
  write_error(fmt::format("vivace: error: {}\n", error.message));
  return exit_status(error.code);
}

}  // namespace
}  // namespace vivace::cli

int main(int argc, char** argv) {
  using vivace::ErrorCode;
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  vivace::cli::Console console;
  try {
    const vivace::Result<int> status = vivace::cli::run(words, console);
    console.end_progress();
    return status ? *status : vivace::cli::report(status.error());
  } catch (const std::bad_alloc&) {
    return vivace::cli::report(
        {ErrorCode::kTemporary, "out of memory; use a smaller model, batch or resolution"});
  } catch (const std::exception& problem) {
    return vivace::cli::report(
        {ErrorCode::kInternal,
         fmt::format("internal error: {}; please report it with the command that led here",
                     problem.what())});
  }
}
