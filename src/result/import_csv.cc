// A column of a table or of a plain text: one sample per line, its unit named by the column's name
// or by the user, never guessed. Separated by commas, semicolons, tabs or blanks; fields may be in
// double quotes; lines that start with # are comments.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/text.h"
#include "result/import_formats.h"

namespace vivace::result {
namespace {

struct Line {
  std::size_t number;  ///< from 1, as an editor counts
  std::string_view text;
};
using Fields = std::vector<std::string>;

constexpr char kBlanks = ' ';  ///< any run of blanks separates

std::string_view trimmed(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t\r") - start + 1);
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (const auto rest = trimmed(line); !rest.empty() && rest.front() != '#') {
      lines.push_back({number, rest});
    }
  }
  return lines;
}

/// The first of these that stands outside of quotes. Told by a line of values: the name of a single
/// column may hold blanks.
char separator_of(std::string_view line) {
  for (const char separator : {';', '\t', ',', kBlanks}) {
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (!quoted && (c == separator || (separator == kBlanks && c == '\t'))) return separator;
    }
  }
  return '\n';
}

Result<Fields> fields_of(const Line& line, char separator) {
  Fields fields(1);
  bool quoted = false;
  const std::string_view text = line.text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool separates = c == separator || (separator == kBlanks && c == '\t');
    if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!separates || quoted) {
      fields.back() += c;
    } else if (separator != kBlanks || !fields.back().empty()) {
      fields.emplace_back();
    }
  }
  if (quoted) {
    return fail(ErrorCode::kBadData, fmt::format("line {}: a quote is not closed", line.number));
  }
  for (std::string& field : fields) field = trimmed(field);
  return fields;
}

/// Any number that a program prints, "nan" among them: what is no duration is refused by name.
std::optional<double> number_in(std::string_view field) {
  if (field.starts_with('+')) field.remove_prefix(1);
  double value = 0;
  const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (problem != std::errc() || end != field.data() + field.size()) return std::nullopt;
  return value;
}

/// "latency_ms", "Latency (us)", "timeNs"; not "items/s" or "images_per_s".
std::optional<std::string> unit_in_name(std::string_view name) {
  std::vector<std::string> words(1);
  bool rate = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const auto byte = static_cast<unsigned char>(c);
    const bool upper = c >= 'A' && c <= 'Z';
    const bool letter = upper || (c >= 'a' && c <= 'z') || byte >= 0x80;
    const bool after_small = i > 0 && name[i - 1] >= 'a' && name[i - 1] <= 'z';
    if (c == '/') rate = true;
    if ((!letter || (upper && after_small)) && !words.back().empty()) words.emplace_back();
    if (letter) words.back() += c;
  }
  std::optional<std::string> unit;
  for (const std::string& word : words) {
    if (lower(word) == "per") rate = true;
    if (unit_ns(word)) unit = lower(word);
  }
  return rate ? std::nullopt : unit;
}

/// Tables that hold figures about samples and not the samples, by the first names of their headers.
Result<void> refuse_summary(const Fields& header) {
  const auto begins = [&](std::initializer_list<std::string_view> names) {
    return header.size() >= names.size() && std::equal(names.begin(), names.end(), header.begin());
  };
  const auto has = [&](std::string_view name) {
    return std::find(header.begin(), header.end(), name) != header.end();
  };
  std::string_view tool;
  std::string_view advice;
  if (has("Inferences/Second")) {
    tool = "perf_analyzer";
    advice = "run it with --profile-export-file FILE.json and import that file";
  } else if (begins({"Metric", "avg"})) {
    tool = "AIPerf or GenAI-Perf";
    advice =
        "import AIPerf's profile_export.jsonl (--export-level records), or GenAI-Perf's "
        "profile_export.json";
  } else if (begins({"command", "mean", "stddev"})) {
    tool = "hyperfine";
    advice = "run it with --export-json FILE.json and import that file";
  } else if (has("iqr_outliers") || (begins({"name", "min", "max"}) && has("iqr"))) {
    tool = "pytest-benchmark";
    advice = "run pytest with --benchmark-json FILE.json and import that file";
  }
  if (tool.empty()) return {};
  return fail(ErrorCode::kBadData, {.what = fmt::format("the file holds a summary of {}", tool),
                                    .expected = "raw samples",
                                    .got = "averages and percentiles only",
                                    .advice = std::string(advice)});
}

Result<std::size_t> choose_column(const Fields& header, std::size_t width,
                                  const std::string& wanted) {
  if (!header.empty()) {
    if (!wanted.empty()) return choose(header, wanted, "column");
    std::vector<std::size_t> timed;
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (unit_in_name(header[i])) timed.push_back(i);
    }
    if (timed.size() == 1) return timed[0];
    return choose(header, wanted, "column");
  }
  // Without names there are numbers.
  std::vector<std::string> numbers;
  numbers.reserve(width);
  for (std::size_t i = 0; i < width; ++i) numbers.push_back(std::to_string(i + 1));
  return choose(numbers, wanted, "column");
}

Result<double> unit_of(const std::string& name, const std::string& wanted) {
  const std::optional<std::string> named = unit_in_name(name);
  const std::string column = name.empty() ? "the column" : "the column " + quote(name);
  if (wanted.empty() && !named) {
    return fail(ErrorCode::kUsage, {.what = "the unit of " + column + " is not known",
                                    .expected = "ns, us, ms or s",
                                    .got = "none in its name",
                                    .advice = "give the unit"});
  }
  const auto given = unit_ns(wanted.empty() ? named.value_or("") : wanted);
  if (!given) {
    return fail(ErrorCode::kUsage, {.what = "no known unit",
                                    .expected = "ns, us, ms or s",
                                    .got = quote(wanted),
                                    .advice = {}});
  }
  if (named && unit_ns(*named) != given) {
    return fail(ErrorCode::kUsage, {.what = "the unit of " + column + " is in doubt",
                                    .expected = *named + ", as its name says",
                                    .got = wanted,
                                    .advice = "leave the unit out, or rename the column"});
  }
  return *given;
}

}  // namespace

Result<Imported> import_csv(std::string_view text, const ImportOptions& options) {
  const std::vector<Line> lines = lines_of(text);
  if (lines.empty()) return fail(ErrorCode::kBadData, "the file holds no line of values");
  const char separator = separator_of(lines[lines.size() > 1 ? 1 : 0].text);
  VIVACE_TRY(Fields header, fields_of(lines[0], separator));
  const std::size_t width = header.size();
  const bool named = std::none_of(header.begin(), header.end(),
                                  [](const std::string& field) { return number_in(field); });
  if (!named) header.clear();
  VIVACE_CHECK_OK(refuse_summary(header));
  VIVACE_TRY(const std::size_t column, choose_column(header, width, options.column));
  const std::string name = named ? header[column] : std::string();
  VIVACE_TRY(const double unit, unit_of(name, options.unit));

  Imported imported;
  for (std::size_t i = named ? 1 : 0; i < lines.size(); ++i) {
    VIVACE_TRY(const Fields fields, fields_of(lines[i], separator));
    const std::string place = fmt::format("line {}, column {}", lines[i].number, column + 1);
    const auto value = column < fields.size() ? number_in(fields[column]) : std::nullopt;
    if (!value) {
      return fail(ErrorCode::kBadData,
                  {.what = place + " is no number",
                   .expected = "a number",
                   .got = column < fields.size() ? quote(fields[column], 40) : "no such column",
                   .advice = "correct or remove the line"});
    }
    VIVACE_TRY(const std::int64_t time, duration_ns(*value, unit, place));
    imported.samples.latency_ns.push_back(time);
  }
  imported.configuration = {{"column", named ? Json(name) : Json(column + 1)}};
  return imported;
}

}  // namespace vivace::result
