// The only file that includes CLI11: it splits a command line into flags and values. What a flag
// is, which values it takes and what is said about a wrong one comes from our table.
#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/flags.h"
#include "core/text.h"
#include "stats/probability.h"

namespace vivace::cli {
namespace {

tl::unexpected<Error> wrong(std::string what, std::string expected, std::string got,
                            std::string advice) {
  return fail(ErrorCode::kUsage, {.what = std::move(what),
                                  .expected = std::move(expected),
                                  .got = std::move(got),
                                  .advice = std::move(advice)});
}

tl::unexpected<Error> unknown_flag(const Verb& verb, std::string_view word) {
  std::string_view name = word.substr(0, word.find('='));
  while (name.starts_with('-')) name.remove_prefix(1);
  const std::string help = fmt::format("see `vivace {} --help`", verb.name);
  for (const Flag& flag : all_flags()) {
    if (flag.name == name) {
      return wrong(fmt::format("`vivace {}` takes no flag --{}", verb.name, name), {}, {}, help);
    }
  }
  std::vector<std::string> known(verb.flags.begin(), verb.flags.end());
  const std::string near = nearest_name(name, known);
  return wrong(fmt::format("unknown flag {}", quote(word.substr(0, word.find('=')))), {}, {},
               near.empty() ? help : fmt::format("did you mean --{}?", near));
}

Result<void> check_choice(const Flag& flag, const std::string& value) {
  if (std::find(flag.choices.begin(), flag.choices.end(), value) != flag.choices.end()) return {};
  const std::string near = nearest_name(value, flag.choices);
  return wrong(fmt::format("--{} has no value {}", flag.name, quote(value)),
               join(flag.choices, ", "), quote(value),
               near.empty() ? std::string() : fmt::format("did you mean {}?", near));
}

/// The value is of the flag's kind and in its range.
Result<void> check_value(const Flag& flag, const std::string& value) {
  const auto in_flag = [&](auto result) -> Result<void> {
    if (result) return {};
    return tl::unexpected(with_context(std::move(result).error(), "--" + flag.name));
  };
  if (value.empty())
    return wrong(fmt::format("--{} needs a value", flag.name), flag.value_name, "nothing", {});
  switch (flag.kind) {
    case FlagKind::kSwitch:
    case FlagKind::kText:
      return {};
    case FlagKind::kCount:
      return in_flag(parse_count(value, flag.minimum, flag.maximum));
    case FlagKind::kDuration:
      if (const auto time = parse_duration_ns(value); time && *time == 0) {
        return wrong(fmt::format("--{} is no time", flag.name), "a time above 0", quote(value), {});
      }
      return in_flag(parse_duration_ns(value));
    case FlagKind::kSize:
      return in_flag(parse_size(value));
    case FlagKind::kShare:
      return in_flag(parse_share(value));
    case FlagKind::kChoice:
      return check_choice(flag, value);
    case FlagKind::kChoices:
    case FlagKind::kPercentiles:
      break;
  }
  std::vector<std::string_view> seen;
  for (const std::string_view piece : split(value, ',')) {
    if (std::find(seen.begin(), seen.end(), piece) != seen.end()) {
      return wrong(fmt::format("--{} names {} twice", flag.name, quote(piece)), {}, {}, {});
    }
    seen.push_back(piece);
    if (flag.kind == FlagKind::kChoices) {
      VIVACE_CHECK_OK(check_choice(flag, std::string(piece)));
    } else {
      VIVACE_CHECK_OK(in_flag(stats::parse_percentile(piece)));
    }
  }
  return {};
}

/// What CLI11 collected for one flag.
struct Collected {
  Flag flag;
  std::vector<std::string> values;
  CLI::Option* option = nullptr;
};

tl::unexpected<Error> without_value(const Flag& flag, std::string got) {
  return wrong(fmt::format("--{} needs a value", flag.name), flag.value_name, std::move(got), {});
}

/// True for a word that is one of the verb's flags: no value, then.
bool is_flag_word(std::span<const Collected> flags, std::string_view word) {
  if (word.starts_with("--") && word.size() > 2) return true;
  return word.size() == 2 && word[0] == '-' &&
         std::any_of(flags.begin(), flags.end(), [&](const Collected& slot) {
           return slot.flag.short_name != 0 && slot.flag.short_name == word[1];
         });
}

/// A switch with a value, which CLI11 would take for a truth value.
Result<void> check_switches(std::span<const Collected> flags, std::span<const std::string> words) {
  for (const Collected& slot : flags) {
    if (slot.flag.kind != FlagKind::kSwitch) continue;
    const std::string start = fmt::format("--{}=", slot.flag.name);
    for (const std::string& word : words) {
      if (word.starts_with(start)) {
        return wrong(fmt::format("--{} takes no value", slot.flag.name), "the flag alone",
                     quote(word), {});
      }
    }
  }
  return {};
}

/// The flag whose value CLI11 missed: one that the line ends with.
tl::unexpected<Error> unreadable_line(const Verb& verb, std::span<const Collected> flags,
                                      std::span<const std::string> words,
                                      const CLI::ParseError& problem) {
  for (const Collected& slot : flags) {
    const std::string long_form = "--" + slot.flag.name;
    const bool ends_with_short = !words.empty() && slot.flag.short_name != 0 &&
                                 words.back().starts_with('-') && !words.back().starts_with("--") &&
                                 words.back().ends_with(slot.flag.short_name);
    if (slot.flag.kind != FlagKind::kSwitch && !words.empty() &&
        (words.back() == long_form || words.back() == long_form + "=" || ends_with_short)) {
      return without_value(slot.flag, "the end of the line");
    }
  }
  return wrong(fmt::format("the command line cannot be read: {}", problem.what()), {}, {},
               fmt::format("see `vivace {} --help`", verb.name));
}

/// One flag with every value it was given. An option that was not given has none.
Result<void> check_collected(const Collected& slot, std::span<const Collected> flags) {
  const std::size_t count = slot.option->count();
  if (count > 1 && !slot.flag.repeatable) {
    return wrong(fmt::format("--{} is given {} times", slot.flag.name, count), "once", {}, {});
  }
  for (const std::string& value : slot.values) {
    // CLI11 hands the next flag over as the value of one that lacks its own. The flags of a side
    // of a comparison are a value that looks like one.
    const bool is_side = slot.flag.value_name == "SPEC" && value.find_first_of(" =") != value.npos;
    if (!is_side && is_flag_word(flags, value))
      return without_value(slot.flag, "the flag " + quote(value));
    VIVACE_CHECK_OK(check_value(slot.flag, value));
  }
  return {};
}

Result<void> check_positional(const Verb& verb, const std::string& word) {
  const std::string help = fmt::format("see `vivace {} --help`", verb.name);
  if (verb.positional.empty()) {
    return wrong(fmt::format("`vivace {}` takes no input", verb.name), "flags only", quote(word),
                 help);
  }
  if (verb.words.empty() ||
      std::find(verb.words.begin(), verb.words.end(), word) != verb.words.end()) {
    return {};
  }
  const std::string near = nearest_name(word, verb.words);
  return wrong(fmt::format("`vivace {}`", verb.name), join(verb.words, ", "), quote(word),
               near.empty() ? help : fmt::format("did you mean {}?", near));
}

Result<void> check_conflicts(const Arguments& arguments) {
  const auto both = [&](std::string_view a, std::string_view b) {
    return arguments.given(a) && arguments.given(b);
  };
  if (both("quiet", "verbose")) {
    return wrong("--quiet and --verbose are both given", "one of them", {}, {});
  }
  if (both("json", "format") && arguments.value("json") == "-" &&
      arguments.value("format") != "json") {
    return wrong(fmt::format("--json - and --format {} both go to standard output",
                             arguments.value("format")),
                 "one of them", {}, "give --json a file name");
  }
  return {};
}

}  // namespace

Result<Arguments> Arguments::with(std::string_view flag, const std::string& value) const {
  const auto& names = verb_->flags;
  if (std::find(names.begin(), names.end(), flag) == names.end()) {
    return unknown_flag(*verb_, flag);
  }
  const Flag facts = flag_of(*verb_, flag);
  if (facts.kind == FlagKind::kSwitch) {
    return wrong(fmt::format("--{} takes no value", facts.name), "a flag with values", quote(value),
                 {});
  }
  VIVACE_CHECK_OK(check_value(facts, value));
  Arguments changed = *this;
  changed.values_[facts.name] = {value};
  VIVACE_CHECK_OK(check_conflicts(changed));
  return changed;
}

Result<Arguments> Arguments::overridden_by(std::span<const std::string> words) const {
  VIVACE_TRY(Arguments over, parse_arguments(*verb_, words));
  Arguments merged = *this;
  for (auto& [flag, values] : over.values_) merged.values_[flag] = std::move(values);
  if (!over.positionals_.empty()) merged.positionals_ = std::move(over.positionals_);
  VIVACE_CHECK_OK(check_conflicts(merged));
  return merged;
}

Result<Arguments> parse_arguments(const Verb& verb, std::span<const std::string> words) {
  CLI::App app;
  app.set_help_flag("");
  app.allow_extras();
  std::vector<Collected> collected(verb.flags.size());
  for (std::size_t i = 0; i < verb.flags.size(); ++i) {
    Collected& slot = collected[i];
    slot.flag = flag_of(verb, verb.flags[i]);
    std::string names = "--" + slot.flag.name;
    if (slot.flag.short_name != 0) names += fmt::format(",-{}", slot.flag.short_name);
    if (slot.flag.kind == FlagKind::kSwitch) {
      slot.option = app.add_flag(names);
    } else {
      // Without extra arguments "[a]" stays one value; otherwise CLI11 takes it for a list.
      slot.option =
          app.add_option(names, slot.values)->expected(1)->take_all()->allow_extra_args(false);
    }
  }
  // What follows "--" is input whatever it looks like; CLI11 would not tell it from a flag.
  const auto end = std::find(words.begin(), words.end(), "--");
  const auto before = words.first(static_cast<std::size_t>(end - words.begin()));
  VIVACE_CHECK_OK(check_switches(collected, before));
  // CLI11 takes the words in reverse.
  std::vector<std::string> reversed(before.rbegin(), before.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& problem) {
    return unreadable_line(verb, collected, before, problem);
  }

  Arguments arguments;
  arguments.verb_ = &verb;
  for (const std::string& word : app.remaining()) {
    if (word.size() > 1 && word.starts_with('-')) return unknown_flag(verb, word);
    arguments.positionals_.push_back(word);
  }
  for (Collected& slot : collected) {
    if (slot.option->count() == 0) continue;
    VIVACE_CHECK_OK(check_collected(slot, collected));
    arguments.values_[slot.flag.name] = std::move(slot.values);
  }
  if (end != words.end()) {
    arguments.positionals_.insert(arguments.positionals_.end(), end + 1, words.end());
  }
  for (const std::string& word : arguments.positionals_) {
    VIVACE_CHECK_OK(check_positional(verb, word));
  }
  VIVACE_CHECK_OK(check_conflicts(arguments));
  return arguments;
}

}  // namespace vivace::cli
