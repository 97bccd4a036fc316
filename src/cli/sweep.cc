#include "cli/sweep.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/subject.h"
#include "core/text.h"
#include "core/units.h"

namespace vivace::cli {
namespace {

constexpr std::size_t kSettingsMax = 64;
constexpr std::int64_t kValueMax = 1'000'000'000;

struct Sweep {
  std::string flag;
  std::vector<std::string> values;
};

tl::unexpected<Error> wrong_sweep(std::string_view text, std::string expected, std::string advice) {
  return fail(ErrorCode::kUsage, {.what = "--sweep cannot be read",
                                  .expected = std::move(expected),
                                  .got = quote(text),
                                  .advice = std::move(advice)});
}

/// "8:64:8" as its values; nothing for a list of another kind.
Result<std::vector<std::string>> range_of(std::string_view text, std::string_view list) {
  std::vector<std::string> values;
  const auto pieces = split(list, ':');
  if (pieces.size() != 3) return values;
  std::int64_t bounds[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const auto number = parse_count(pieces[i], 0, kValueMax);
    if (!number) return values;  // a URI has colons too
    bounds[i] = *number;
  }
  if (bounds[2] == 0 || bounds[1] < bounds[0]) {
    return wrong_sweep(text, "FIRST:LAST:STEP with a step above 0 and LAST at least FIRST", {});
  }
  for (std::int64_t value = bounds[0]; value <= bounds[1]; value += bounds[2]) {
    values.push_back(std::to_string(value));
    if (values.size() > kSettingsMax) break;  // refused below, by its number
  }
  return values;
}

Result<Sweep> parse_sweep(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return wrong_sweep(text, "FLAG=VALUE,VALUE...", "example: --sweep batch=1,2,4,8");
  }
  Sweep sweep;
  sweep.flag = text.substr(0, equals);
  while (sweep.flag.starts_with('-')) sweep.flag.erase(0, 1);
  const std::string_view list = text.substr(equals + 1);
  const auto flags = subject_flags();
  if (std::find(flags.begin(), flags.end(), sweep.flag) == flags.end()) {
    const std::string near = nearest_name(sweep.flag, flags);
    return wrong_sweep(text, "one of " + join(flags, ", "),
                       near.empty() ? std::string() : fmt::format("did you mean {}?", near));
  }
  VIVACE_TRY(sweep.values, range_of(text, list));
  if (sweep.values.empty()) {
    const char separator = list.find(';') != std::string_view::npos ? ';' : ',';
    for (const std::string_view piece : split(list, separator)) sweep.values.emplace_back(piece);
  }
  for (std::size_t i = 0; i < sweep.values.size(); ++i) {
    const auto end = sweep.values.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(sweep.values.begin(), end, sweep.values[i]) == end) continue;
    return wrong_sweep(text, "different values", quote(sweep.values[i]) + " is there twice");
  }
  return sweep;
}

}  // namespace

Result<std::vector<SweepSetting>> sweep_settings(const Arguments& arguments) {
  std::vector<SweepSetting> settings = {{.label = {}, .setting = {}, .arguments = arguments}};
  std::vector<std::string> seen;
  for (const std::string& text : arguments.all("sweep")) {
    VIVACE_TRY(const Sweep sweep, parse_sweep(text));
    if (std::find(seen.begin(), seen.end(), sweep.flag) != seen.end()) {
      return wrong_sweep(text, "each flag once",
                         fmt::format("--sweep {} is given twice", sweep.flag));
    }
    if (arguments.given(sweep.flag)) {
      return fail(ErrorCode::kUsage,
                  {.what = fmt::format("--{0} and --sweep {0} are both given", sweep.flag),
                   .expected = "one of them",
                   .got = {},
                   .advice = {}});
    }
    seen.push_back(sweep.flag);
    std::vector<SweepSetting> product;
    for (const SweepSetting& before : settings) {
      for (const std::string& value : sweep.values) {
        SweepSetting next = before;
        if (!next.label.empty()) next.label += ' ';
        next.label += sweep.flag + "=" + value;
        next.setting.emplace_back(sweep.flag, value);
        VIVACE_TRY(next.arguments, before.arguments.with(sweep.flag, value));
        product.push_back(std::move(next));
      }
    }
    if (product.size() > kSettingsMax) {
      return wrong_sweep(text, fmt::format("at most {} settings in all", kSettingsMax),
                         "sweep fewer values at once");
    }
    settings = std::move(product);
  }
  return settings;
}

}  // namespace vivace::cli
