// One unit and number of decimals for durations that are to be compared by eye: a value and its
// interval, the percentiles of one block. core/units.h picks a unit for each duration alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vivace::report {

class DurationScale {
 public:
  /// The unit that core/units.h gives `reference_ns`, with decimals for three significant digits.
  explicit DurationScale(double reference_ns, bool unicode = true);

  /// Adds decimals, two at most, until `bound_ns` no longer prints as `value_ns` does (they
  /// differ). An interval that looks like a point would claim too much.
  void separate(std::int64_t value_ns, std::int64_t bound_ns);

  /// "12.4".
  std::string number(double ns) const;
  /// "12.4 ms".
  std::string text(double ns) const;
  /// Three significant digits in this unit, where the scale's decimals would leave fewer: a spread
  /// beside its mean. "0.331 ms".
  std::string fine_text(double ns) const;
  /// False for a duration so large that it should have a unit of its own.
  bool suits(double ns) const { return ns < 99'999.5 * factor_; }
  /// False also for one so small that fine_text would show little of it.
  bool suits_finely(double ns) const { return suits(ns) && (ns == 0 || ns >= 0.01 * factor_); }

 private:
  std::string_view unit_;
  double factor_ = 1;
  int decimals_ = 0;
  int decimals_max_ = 0;
};

}  // namespace vivace::report
