#include "stats/probability.h"

#include <optional>

#include "core/check.h"
#include "core/text.h"

namespace vivace::stats {
namespace {

// 10^16 keeps every numerator within 64 bits and every product with a count within 128.
constexpr int kDecimalsMax = 16;

struct Decimal {
  std::int64_t digits = 0;  // the number without its point
  int decimals = 0;         // how many of them follow the point
};

/// An unsigned decimal without exponent, "12", "12.5" or ".5"; nothing for any other text, or when
/// it has more digits than are held exactly.
std::optional<Decimal> parse_decimal(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point != std::string_view::npos) {
    while (text.ends_with('0')) text.remove_suffix(1);
  }
  Decimal number;
  bool any_digit = false;
  bool after_point = false;
  for (const char c : text) {
    if (c == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    any_digit = true;
    if (after_point) ++number.decimals;
    if (number.decimals > kDecimalsMax || number.digits >= 100'000'000'000'000'000) {
      return std::nullopt;
    }
    number.digits = number.digits * 10 + (c - '0');
  }
  if (!any_digit) return std::nullopt;
  return number;
}

/// The decimal divided by 10^shift as a probability; nothing outside (0, 1).
std::optional<Probability> probability_of(std::string_view text, int shift) {
  const auto number = parse_decimal(text);
  if (!number || number->decimals + shift > kDecimalsMax) return std::nullopt;
  std::int64_t denominator = 1;
  for (int i = 0; i < number->decimals + shift; ++i) denominator *= 10;
  if (number->digits <= 0 || number->digits >= denominator) return std::nullopt;
  return Probability(number->digits, denominator);
}

}  // namespace

Probability::Probability(std::int64_t numerator, std::int64_t denominator)
    : numerator_(numerator), denominator_(denominator) {
  VIVACE_CHECK(numerator > 0 && numerator < denominator);
  while (numerator_ % 10 == 0) {
    numerator_ /= 10;
    denominator_ /= 10;
  }
  std::int64_t power = denominator_;
  while (power % 10 == 0) power /= 10;
  VIVACE_CHECK(power == 1 && denominator_ <= 10'000'000'000'000'000);
}

std::string Probability::percent_text() const {
  // numerator / denominator * 100: whole percents, then the digits that remain.
  const std::int64_t scale = denominator_ >= 100 ? denominator_ / 100 : 1;
  const std::int64_t percent_scaled = denominator_ >= 100 ? numerator_ : numerator_ * 10;
  std::string text = std::to_string(percent_scaled / scale);
  const std::int64_t rest = percent_scaled % scale;
  if (rest != 0) {
    const std::string digits = std::to_string(rest + scale);  // "1" and the padded digits
    text += '.' + digits.substr(1);
  }
  return text;
}

Result<Probability> parse_percentile(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('p') || digits.starts_with('P')) digits.remove_prefix(1);
  if (const auto p = probability_of(digits, 2)) return *p;
  return fail(ErrorCode::kUsage,
              {.what = "not a percentile",
               .expected = "a decimal above 0 and below 100, such as p99 or 99.9",
               .got = quote(text),
               .advice = {}});
}

Result<Probability> parse_probability(std::string_view text) {
  if (const auto p = probability_of(text, 0)) return *p;
  return fail(ErrorCode::kUsage, {.what = "not a probability",
                                  .expected = "a decimal above 0 and below 1, such as 0.95",
                                  .got = quote(text),
                                  .advice = {}});
}

std::int64_t rank_of(std::int64_t n, const Probability& p) {
  VIVACE_CHECK(n >= 1);
  const Int128 product = Int128{n} * p.numerator();
  return static_cast<std::int64_t>((product + p.denominator() - 1) / p.denominator());
}

}  // namespace vivace::stats
