#include "stats/contingency.h"

#include <algorithm>
#include <cmath>

#include "stats/distributions.h"

namespace vivace::stats {
namespace {

// The 0.975 quantile of the normal law, to every digit that a double holds.
constexpr double kNormal975 = 1.959963984540054;

double with_half(std::int64_t count) { return static_cast<double>(count) + 0.5; }

}  // namespace

OddsRatio odds_ratio(const Table2x2& table) {
  const double a = with_half(table.exposed_tail);
  const double b = with_half(table.exposed_body);
  const double c = with_half(table.unexposed_tail);
  const double d = with_half(table.unexposed_body);
  const double estimate = a * d / (b * c);
  const double spread = std::exp(kNormal975 * std::sqrt(1 / a + 1 / b + 1 / c + 1 / d));
  return {.estimate = estimate, .lower = estimate / spread, .upper = estimate * spread};
}

double share_explained(const Table2x2& table) {
  const auto tail = static_cast<double>(table.exposed_tail + table.unexposed_tail);
  const auto exposed = static_cast<double>(table.exposed_tail + table.exposed_body);
  const auto unexposed = static_cast<double>(table.unexposed_tail + table.unexposed_body);
  if (tail == 0 || unexposed == 0) return 0;
  const double expected = exposed * static_cast<double>(table.unexposed_tail) / unexposed;
  return std::max(0.0, static_cast<double>(table.exposed_tail) - expected) / tail;
}

double fisher_p(const Table2x2& table) {
  const std::int64_t exposed = table.exposed_tail + table.exposed_body;
  const std::int64_t tail = table.exposed_tail + table.unexposed_tail;
  const std::int64_t total = exposed + table.unexposed_tail + table.unexposed_body;
  return hypergeometric_upper_tail(total, exposed, tail, table.exposed_tail);
}

}  // namespace vivace::stats
