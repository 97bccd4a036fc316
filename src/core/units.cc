#include "core/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "core/text.h"

namespace vivace {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

/// Splits "1.5 ms" into 1.5 and "ms"; nothing when it does not start with a plain number.
std::optional<std::pair<double, std::string_view>> split_number(std::string_view text) {
  double value = 0;
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::general);
  if (problem != std::errc() || !std::isfinite(value)) return std::nullopt;
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return std::pair(value, rest);
}

std::optional<double> factor_of(std::string_view name, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  return std::nullopt;
}

Result<std::int64_t> parse_scaled(std::string_view text, std::span<const Unit> units,
                                  std::string_view expected) {
  const auto number = split_number(text);
  const auto factor = number ? factor_of(number->second, units) : std::nullopt;
  if (!factor || number->first < 0 || number->first * *factor >= 9.2e18) {
    return fail(ErrorCode::kUsage, {.what = "not understood: " + quote(text),
                                    .expected = std::string(expected),
                                    .got = quote(text),
                                    .advice = {}});
  }
  return static_cast<std::int64_t>(std::llround(number->first * *factor));
}

std::string with_unit(double value, std::string_view unit) {
  // Three significant digits, but never an exponent.
  const double magnitude = std::abs(value);
  const int decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::string with_prefix(double value, std::string_view suffix) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t i = 0;
  while (std::abs(value) >= 999.5 && i + 1 < kPrefixes.size()) {
    value /= 1000;
    ++i;
  }
  if (i == 0) return fmt::format("{:.0f} {}", value, suffix);
  return with_unit(value, fmt::format("{}{}", kPrefixes[i], suffix));
}

}  // namespace

Result<std::int64_t> parse_duration_ns(std::string_view text) {
  constexpr std::array<Unit, 7> kUnits = {{{"ns", 1},
                                           {"us", 1e3},
                                           {"\u00b5s", 1e3},
                                           {"ms", 1e6},
                                           {"s", 1e9},
                                           {"m", 60e9},
                                           {"h", 3600e9}}};
  return parse_scaled(text, kUnits, "a time with its unit, such as 30ms, 10s or 2m");
}

Result<std::int64_t> parse_bytes(std::string_view text) {
  constexpr double kKibi = 1024;
  constexpr std::array<Unit, 12> kUnits = {{{"", 1},
                                            {"B", 1},
                                            {"kB", 1e3},
                                            {"KB", 1e3},
                                            {"MB", 1e6},
                                            {"GB", 1e9},
                                            {"TB", 1e12},
                                            {"KiB", kKibi},
                                            {"kiB", kKibi},
                                            {"MiB", kKibi * kKibi},
                                            {"GiB", kKibi * kKibi * kKibi},
                                            {"TiB", kKibi * kKibi * kKibi * kKibi}}};
  return parse_scaled(text, kUnits, "a size such as 64MiB or 2GB");
}

Result<std::int64_t> parse_count(std::string_view text, std::int64_t minimum,
                                 std::int64_t maximum) {
  constexpr std::array<Unit, 6> kUnits = {
      {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"K", 1e3}}};
  const std::string expected = fmt::format("a whole number from {} to {}", minimum, maximum);
  const auto number = split_number(text);
  const auto factor = number ? factor_of(number->second, kUnits) : std::nullopt;
  const double value = factor ? number->first * *factor : 0;
  if (!factor || value != std::floor(value) || std::abs(value) > 9e15 ||
      value < static_cast<double>(minimum) || value > static_cast<double>(maximum)) {
    return fail(ErrorCode::kUsage, {.what = "out of range or not a whole number",
                                    .expected = expected,
                                    .got = quote(text),
                                    .advice = {}});
  }
  return static_cast<std::int64_t>(value);
}

Result<double> parse_share(std::string_view text) {
  const auto number = split_number(text);
  const bool percent = number && number->second == "%";
  const double value = number ? number->first / (percent ? 100 : 1) : -1;
  if (!number || !(percent || number->second.empty()) || value < 0 || value > 1) {
    return fail(ErrorCode::kUsage, {.what = "not a share",
                                    .expected = "a share from 0 to 1, such as 2% or 0.02",
                                    .got = quote(text),
                                    .advice = {}});
  }
  return value;
}

Result<Size2> parse_size(std::string_view text) {
  const auto pieces = split(text, 'x');
  const auto side = [](std::string_view piece) -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(piece.data(), piece.data() + piece.size(), value);
    if (problem != std::errc() || end != piece.data() + piece.size()) return std::nullopt;
    if (value < 1 || value > 65535) return std::nullopt;
    return value;
  };
  const auto height = side(pieces[0]);
  const auto width = pieces.size() == 2 ? side(pieces[1]) : height;
  if (pieces.size() > 2 || !height || !width) {
    return fail(ErrorCode::kUsage, {.what = "not a size",
                                    .expected = "HEIGHTxWIDTH in pixels, such as 224x320",
                                    .got = quote(text),
                                    .advice = {}});
  }
  return Size2{*height, *width};
}

std::string format_duration(double nanoseconds) {
  const double magnitude = std::abs(nanoseconds);
  if (magnitude < 999.5) return fmt::format("{:.0f} ns", nanoseconds);
  if (magnitude < 999.5e3) return with_unit(nanoseconds / 1e3, "\u00b5s");
  if (magnitude < 999.5e6) return with_unit(nanoseconds / 1e6, "ms");
  if (magnitude < 600e9) return with_unit(nanoseconds / 1e9, "s");
  return with_unit(nanoseconds / 60e9, "min");
}

std::string format_bytes(double bytes) { return with_prefix(bytes, "B"); }

std::string format_quantity(double value) {
  std::string text = with_prefix(value, "");
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace vivace
