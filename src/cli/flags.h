// The one table of flags and verbs: parsing, help, suggestions and the man page all read it, so
// that they cannot disagree.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/units.h"

namespace vivace::cli {

enum class FlagKind {
  kSwitch,  ///< no value
  kText,
  kCount,     ///< a whole number in [minimum, maximum]
  kDuration,  ///< "30ms"
  kSize,      ///< "224x320"
  kChoice,    ///< one of `choices`
  kChoices,   ///< several of `choices`, comma-separated
  kPercentiles,
  kShare,  ///< "2%"
};

struct Flag {
  std::string name;  ///< without the dashes
  FlagKind kind = FlagKind::kText;
  std::string value_name = {};    ///< "DIR"; shown in help
  std::string help = {};          ///< one sentence
  std::string default_text = {};  ///< shown in help, recorded in results; "" for none
  char short_name = 0;
  std::vector<std::string> choices = {};
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  bool repeatable = false;  ///< may be given several times
};

class Arguments;
class Console;

struct Verb {
  std::string name;
  std::string summary;                  ///< half a line, for the list of verbs
  std::string description;              ///< a paragraph
  std::string positional;               ///< "INPUT...", or "" for none
  std::vector<std::string> words = {};  ///< what a positional may be, where it is no input
  std::vector<std::string> flags;
  std::vector<std::pair<std::string, std::string>> defaults;  ///< that differ from the table's
  /// Choices of a flag where they are fewer than the table's.
  std::vector<std::pair<std::string, std::vector<std::string>>> choices = {};
  std::string example;
  std::string exit_codes;  ///< beyond the common ones
  std::function<Result<int>(const Arguments&, Console&)> run;
};

/// A flag of the table, which has it (checked).
const Flag& flag_named(std::string_view name);
/// The flag as a verb takes it: with the verb's own default and choices.
Flag flag_of(const Verb& verb, std::string_view name);
std::span<const Flag> all_flags();

/// A command line that has been checked against its verb: every value is of its kind and range.
class Arguments {
 public:
  bool given(std::string_view flag) const { return values_.contains(flag); }
  /// The value given, or the default; nothing where there is neither.
  std::optional<std::string> text(std::string_view flag) const;
  /// The same for a flag that has a default or was found to be given (checked).
  std::string value(std::string_view flag) const;
  bool enabled(std::string_view flag) const { return given(flag); }
  std::int64_t count(std::string_view flag) const;
  std::int64_t duration_ns(std::string_view flag) const;
  std::optional<Size2> size(std::string_view flag) const;
  /// The pieces of a comma-separated value.
  std::vector<std::string> list(std::string_view flag) const;
  /// Every value of a repeatable flag.
  std::vector<std::string> all(std::string_view flag) const;
  const std::vector<std::string>& positionals() const { return positionals_; }
  const Verb& verb() const { return *verb_; }
  double share(std::string_view flag) const;

  /// The same line with one flag set to another value. Errors as parse_arguments.
  Result<Arguments> with(std::string_view flag, const std::string& value) const;
  /// The same line with what `words` say in addition; their flags win, and their inputs, where they
  /// have any, replace these. Errors as parse_arguments.
  Result<Arguments> overridden_by(std::span<const std::string> words) const;

 private:
  friend Result<Arguments> parse_arguments(const Verb& verb, std::span<const std::string> words);
  const Verb* verb_ = nullptr;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> positionals_;
};

/// Words after the verb. Errors, all kUsage: a flag that is unknown (names the nearest), repeated,
/// without its value, or with a value that is malformed or out of range.
Result<Arguments> parse_arguments(const Verb& verb, std::span<const std::string> words);

/// The flag's help as every page shows it: what it does, its choices, its default.
std::string describe(const Flag& flag);
/// True where the value is a path, which a shell completes with files.
bool takes_file(const Flag& flag);

/// What `vivace VERB --help` prints.
std::string help_text(const Verb& verb);
/// What `vivace --help` prints.
std::string help_text(std::span<const Verb> verbs);

}  // namespace vivace::cli
