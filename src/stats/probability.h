// A probability as the decimal that was written. The rank of a percentile is ceil(n p), and a
// product of doubles gets it wrong (100 * 0.07 is a little more than 7, so the 8th value would be
// taken for the 7th); here p is an integer over a power of ten and the rank is exact.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace vivace::stats {

/// A 128-bit integer, for products of counts; g++ and clang both have it.
__extension__ typedef __int128 Int128;

/// A decimal strictly between 0 and 1, in lowest terms of ten: 0.990 equals 0.99.
class Probability {
 public:
  /// The median's; there is no empty probability.
  Probability() = default;
  /// `numerator / denominator`, the latter a power of ten up to 10^16, 0 < numerator < denominator
  /// (checked; texts of a user go through the parsers below).
  Probability(std::int64_t numerator, std::int64_t denominator);

  std::int64_t numerator() const { return numerator_; }
  std::int64_t denominator() const { return denominator_; }

  /// The nearest double.
  double value() const {
    return static_cast<double>(numerator_) / static_cast<double>(denominator_);
  }
  /// 1 - p, exactly.
  Probability complement() const { return {denominator_ - numerator_, denominator_}; }
  /// In percent, as short as it can be written: "99.9".
  std::string percent_text() const;
  /// "P99.9".
  std::string label() const { return "P" + percent_text(); }

  bool operator==(const Probability&) const = default;

 private:
  std::int64_t numerator_ = 5;
  std::int64_t denominator_ = 10;
};

/// A percentile: "p99", "P99.9", "99", "99.9", "0.07" (percent). Error: kUsage.
Result<Probability> parse_percentile(std::string_view text);

/// A probability: "0.07", ".5", "0.999". Error: kUsage.
Result<Probability> parse_probability(std::string_view text);

/// ceil(n p), the 1-based rank of the percentile p among n >= 1 values.
std::int64_t rank_of(std::int64_t n, const Probability& p);

}  // namespace vivace::stats
