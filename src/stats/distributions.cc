#include "stats/distributions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>

namespace vivace::stats {
namespace {

// Nothing may be thrown from here, and no argument below can be out of range.
using NoThrow = boost::math::policies::policy<
    boost::math::policies::domain_error<boost::math::policies::ignore_error>,
    boost::math::policies::pole_error<boost::math::policies::ignore_error>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::underflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::denorm_error<boost::math::policies::ignore_error>,
    boost::math::policies::rounding_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>>;

/// log of n choose k. In long double: the logarithms are large and their difference is not.
long double log_choose(std::int64_t n, std::int64_t k) {
  const auto log_factorial = [](std::int64_t value) {
    return boost::math::lgamma(static_cast<long double>(value) + 1, NoThrow());
  };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

}  // namespace

double binomial_upper_tail(std::int64_t n, const Probability& p, std::int64_t k) {
  if (k <= 0) return 1;
  if (k > n) return 0;
  return boost::math::ibeta(static_cast<double>(k), static_cast<double>(n - k + 1), p.value(),
                            NoThrow());
}

double binomial_lower_tail(std::int64_t n, const Probability& p, std::int64_t k) {
  // n - B follows Bin(n, 1 - p).
  return binomial_upper_tail(n, p.complement(), n - k);
}

double log_beta(double a, double b) {
  return boost::math::lgamma(a, NoThrow()) + boost::math::lgamma(b, NoThrow()) -
         boost::math::lgamma(a + b, NoThrow());
}

double normal_probability(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

double student_t_quantile(double degrees, double p) {
  return boost::math::quantile(boost::math::students_t_distribution<double, NoThrow>(degrees), p);
}

double hypergeometric_upper_tail(std::int64_t total, std::int64_t marked, std::int64_t drawn,
                                 std::int64_t hits) {
  const std::int64_t least = std::max<std::int64_t>(0, drawn + marked - total);
  const std::int64_t most = std::min(marked, drawn);
  if (hits <= least) return 1;
  if (hits > most) return 0;
  // Far below the mean the first term may be too small for any float, and the tail is nearly 1.
  const double mean =
      static_cast<double>(marked) * static_cast<double>(drawn) / static_cast<double>(total);
  if (static_cast<double>(hits) <= mean) {
    return 1 - hypergeometric_upper_tail(total, total - marked, drawn, drawn - hits + 1);
  }
  // The first term by logarithms, the others by their ratios.
  long double term = std::exp(log_choose(marked, hits) + log_choose(total - marked, drawn - hits) -
                              log_choose(total, drawn));
  long double sum = 0;
  for (std::int64_t x = hits; x <= most; ++x) {
    sum += term;
    if (term < sum * 1e-21L) break;
    term *= static_cast<long double>(marked - x) * static_cast<long double>(drawn - x) /
            (static_cast<long double>(x + 1) *
             static_cast<long double>(total - marked - drawn + x + 1));
  }
  return static_cast<double>(std::min(sum, 1.0L));
}

}  // namespace vivace::stats
