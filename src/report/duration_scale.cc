#include "report/duration_scale.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace vivace::report {
namespace {

/// For three significant digits, as core/units.h counts them.
int decimals_for(double value) { return value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2; }

}  // namespace

DurationScale::DurationScale(double reference_ns, bool unicode) {
  if (reference_ns < 999.5) {
    unit_ = "ns";
  } else if (reference_ns < 999.5e3) {
    unit_ = unicode ? "\u00b5s" : "us";
    factor_ = 1e3;
  } else if (reference_ns < 999.5e6) {
    unit_ = "ms";
    factor_ = 1e6;
  } else if (reference_ns < 600e9) {
    unit_ = "s";
    factor_ = 1e9;
  } else {
    unit_ = "min";
    factor_ = 60e9;
  }
  if (factor_ == 1) return;  // whole nanoseconds
  decimals_ = decimals_for(reference_ns / factor_);
  decimals_max_ = decimals_ + 2;
}

void DurationScale::separate(std::int64_t value_ns, std::int64_t bound_ns) {
  if (value_ns == bound_ns) return;
  const auto value = static_cast<double>(value_ns);
  const auto bound = static_cast<double>(bound_ns);
  while (decimals_ < decimals_max_ && number(value) == number(bound)) ++decimals_;
}

std::string DurationScale::number(double ns) const {
  return fmt::format("{:.{}f}", ns / factor_, decimals_);
}

std::string DurationScale::text(double ns) const { return fmt::format("{} {}", number(ns), unit_); }

std::string DurationScale::fine_text(double ns) const {
  const double value = ns / factor_;
  if (factor_ == 1 || value == 0) return text(ns);
  // 0.331 and 0.0331 have three digits with 3 and 4 decimals; finer is noise.
  const int decimals = value >= 1 ? decimals_for(value) : value >= 0.1 ? 3 : 4;
  return fmt::format("{:.{}f} {}", value, std::max(decimals, decimals_), unit_);
}

}  // namespace vivace::report
