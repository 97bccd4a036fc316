// Completion scripts for three shells, written from the table of flags: verbs, then the flags of
// the verb, then the values of the flag; files where a path is wanted.
#include <algorithm>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/verbs.h"
#include "core/check.h"
#include "core/text.h"

namespace vivace::cli {
namespace {

/// What a shell offers after a flag: words, or files ("" and true).
struct Values {
  std::vector<std::string> words;
  bool files = false;
};

Values values_of(const Flag& flag) { return {flag.choices, takes_file(flag)}; }

std::string flag_words(const Verb& verb) {
  std::vector<std::string> words;
  for (const std::string& name : verb.flags) {
    const Flag flag = flag_of(verb, name);
    words.push_back("--" + flag.name);
    if (flag.short_name != 0) words.push_back(fmt::format("-{}", flag.short_name));
  }
  return join(words, " ");
}

std::string verb_names(std::span<const Verb> verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.name);
  return join(names, " ");
}

/// A pattern of a shell's `case`: "--out|-o".
std::string flag_pattern(const Flag& flag) {
  return flag.short_name == 0 ? "--" + flag.name
                              : fmt::format("--{}|-{}", flag.name, flag.short_name);
}

std::string bash_script(std::span<const Verb> verbs) {
  std::string text = fmt::format(
      R"(# bash completion for vivace; to use it: source <(vivace completion bash)
_vivace() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} flags= words=
  # Bash makes "=" a word of its own.
  if [[ $current == "=" ]]; then
    current=
  elif [[ $before == "=" ]]; then
    before=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "{} help --help --version" -- "$current"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
)",
      verb_names(verbs));
  for (const Verb& verb : verbs) {
    text += fmt::format("    {})\n      case $before in\n", verb.name);
    for (const std::string& name : verb.flags) {
      const Flag flag = flag_of(verb, name);
      if (flag.kind == FlagKind::kSwitch) continue;
      const Values values = values_of(flag);
      text += fmt::format("        {})\n", flag_pattern(flag));
      if (values.files) {
        text += "          COMPREPLY=($(compgen -f -- \"$current\"))\n";
      } else if (!values.words.empty()) {
        text += fmt::format("          COMPREPLY=($(compgen -W \"{}\" -- \"$current\"))\n",
                            join(values.words, " "));
      }
      text += "          return ;;\n";
    }
    text += fmt::format("      esac\n      flags=\"{}\" words=\"{}\" ;;\n", flag_words(verb),
                        join(verb.words, " "));
  }
  text += fmt::format("    help)\n      words=\"{}\" ;;\n  esac\n", verb_names(verbs));
  text += R"(  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _vivace vivace
)";
  return text;
}

/// In single quotes of zsh or fish; brackets and colons mean something to zsh's _arguments.
std::string quoted(std::string_view text, std::string_view escaped) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (escaped.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out + "'";
}

std::string zsh_flag(const Flag& flag) {
  const std::string repeat = flag.repeatable ? "*" : "";
  std::string action;
  if (flag.kind != FlagKind::kSwitch) {
    const Values values = values_of(flag);
    action = fmt::format(":{}:", lower(flag.value_name));
    if (values.files) action += "_files";
    if (!values.words.empty()) action += fmt::format("({})", join(values.words, " "));
  }
  const std::string help = quoted(flag.help, "[]:\\");
  const std::string inner = help.substr(1, help.size() - 2);
  const std::string mark = flag.kind == FlagKind::kSwitch ? "" : "=";
  std::string text =
      fmt::format("        '{}--{}{}[{}]{}' \\\n", repeat, flag.name, mark, inner, action);
  if (flag.short_name != 0) {
    text += fmt::format("        '{}-{}{}[{}]{}' \\\n", repeat, flag.short_name,
                        flag.kind == FlagKind::kSwitch ? "" : "+", inner, action);
  }
  return text;
}

std::string zsh_script(std::span<const Verb> verbs) {
  std::string text =
      "#compdef vivace\n# zsh completion for vivace; to use it: vivace completion zsh > a folder "
      "of $fpath/_vivace\n_vivace() {\n  if ((CURRENT == 2)); then\n    local -a verbs=(\n";
  for (const Verb& verb : verbs) {
    text += fmt::format("      {}\n", quoted(verb.name + ":" + verb.summary, ""));
  }
  text +=
      "    )\n    _describe verb verbs\n    return\n  fi\n"
      "  local verb=$words[2]\n  shift words\n  ((CURRENT--))\n  case $verb in\n";
  for (const Verb& verb : verbs) {
    text += fmt::format("    {})\n      _arguments \\\n", verb.name);
    for (const std::string& name : verb.flags) text += zsh_flag(flag_of(verb, name));
    text += verb.words.empty() ? "        '*:input:_files' ;;\n"
                               : fmt::format("        '1:shell:({})' ;;\n", join(verb.words, " "));
  }
  text += "  esac\n}\ncompdef _vivace vivace\n";
  return text;
}

std::string fish_script(std::span<const Verb> verbs) {
  std::string text = "# fish completion for vivace; to use it: vivace completion fish | source\n";
  for (const Verb& verb : verbs) {
    text += fmt::format("complete -c vivace -n __fish_use_subcommand -f -a {} -d {}\n", verb.name,
                        quoted(verb.summary, "\\"));
  }
  for (const Verb& verb : verbs) {
    const std::string start =
        fmt::format("complete -c vivace -n '__fish_seen_subcommand_from {}'", verb.name);
    if (!verb.words.empty()) text += fmt::format("{} -f -a '{}'\n", start, join(verb.words, " "));
    for (const std::string& name : verb.flags) {
      const Flag flag = flag_of(verb, name);
      const Values values = values_of(flag);
      text += fmt::format("{} -l {}", start, flag.name);
      if (flag.short_name != 0) text += fmt::format(" -s {}", flag.short_name);
      if (flag.kind != FlagKind::kSwitch) text += values.files ? " -r -F" : " -x";
      if (!values.words.empty()) text += fmt::format(" -a '{}'", join(values.words, " "));
      text += fmt::format(" -d {}\n", quoted(flag.help, "\\"));
    }
  }
  return text;
}

Result<int> run(const Arguments& arguments, Console& console) {
  if (arguments.positionals().size() != 1) {
    return fail(ErrorCode::kUsage, {.what = "`vivace completion` needs one shell",
                                    .expected = join(completion_shells(), ", "),
                                    .got = fmt::format("{} words", arguments.positionals().size()),
                                    .advice = "see `vivace completion --help`"});
  }
  VIVACE_CHECK_OK(console.print(completion_script(all_verbs(), arguments.positionals()[0])));
  return 0;
}

}  // namespace

std::span<const std::string> completion_shells() {
  static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  return shells;
}

std::string completion_script(std::span<const Verb> verbs, std::string_view shell) {
  if (shell == "bash") return bash_script(verbs);
  if (shell == "zsh") return zsh_script(verbs);
  VIVACE_CHECK(shell == "fish");
  return fish_script(verbs);
}

Verb completion_verb() {
  const auto shells = completion_shells();
  return {.name = "completion",
          .summary = "a completion script for bash, zsh or fish",
          .description = "Prints a script that completes verbs, flags and their values.",
          .positional = "bash|zsh|fish",
          .words = {shells.begin(), shells.end()},
          .flags = {"help"},
          .defaults = {},
          .example = "source <(vivace completion bash)",
          .exit_codes = "",
          .run = run};
}

}  // namespace vivace::cli
