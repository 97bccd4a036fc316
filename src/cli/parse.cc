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
      return in_flag(parse_duration_ns(value));
    case FlagKind::kSize:
      return in_flag(parse_size(value));
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

}  // namespace

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
      slot.option = app.add_option(names, slot.values)->expected(1)->take_all();
    }
  }
  // CLI11 takes the words in reverse.
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& problem) {
    return wrong(problem.what(), {}, {}, fmt::format("see `vivace {} --help`", verb.name));
  }

  Arguments arguments;
  arguments.verb_ = &verb;
  for (Collected& slot : collected) {
    const std::size_t count = slot.option->count();
    if (count == 0) continue;
    if (count > 1 && !slot.flag.repeatable) {
      return wrong(fmt::format("--{} is given {} times", slot.flag.name, count), "once", {}, {});
    }
    for (const std::string& value : slot.values) {
      // CLI11 hands the next flag over as the value of one that lacks its own.
      if (value.starts_with("--") && value.size() > 2) {
        return wrong(fmt::format("--{} needs a value", slot.flag.name), slot.flag.value_name,
                     "the flag " + quote(value), {});
      }
      VIVACE_CHECK_OK(check_value(slot.flag, value));
    }
    arguments.values_[slot.flag.name] = std::move(slot.values);
  }
  for (const std::string& word : app.remaining()) {
    if (word.size() > 1 && word.starts_with('-')) return unknown_flag(verb, word);
    if (verb.positional.empty()) {
      return wrong(fmt::format("`vivace {}` takes no input", verb.name), "flags only", quote(word),
                   fmt::format("see `vivace {} --help`", verb.name));
    }
    arguments.positionals_.push_back(word);
  }
  return arguments;
}

}  // namespace vivace::cli
