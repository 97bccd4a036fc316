// The probability laws that the statistics rest on; the one place of this folder that includes
// Boost.Math. Nothing throws; arguments are checked by the callers.
#pragma once

#include <cstdint>

#include "stats/probability.h"

namespace vivace::stats {

/// P(B >= k) for B ~ Bin(n, p): I_p(k, n - k + 1); 1 for k <= 0 and 0 for k > n.
double binomial_upper_tail(std::int64_t n, const Probability& p, std::int64_t k);

/// P(B <= k) for B ~ Bin(n, p), computed as the small tail, never as 1 minus the other.
double binomial_lower_tail(std::int64_t n, const Probability& p, std::int64_t k);

/// log B(a, b) of the beta function, a, b > 0.
double log_beta(double a, double b);

/// P(Z <= z) of the standard normal law.
double normal_probability(double z);

/// The value below which Student's t of `degrees` >= 1 degrees of freedom falls with probability
/// `p` in (0, 1).
double student_t_quantile(double degrees, double p);

/// P(X >= hits) where X of `drawn` items are among the `marked` of `total` (hypergeometric law):
/// Fisher's exact one-sided p. Relative error below 1e-10 however small it is.
double hypergeometric_upper_tail(std::int64_t total, std::int64_t marked, std::int64_t drawn,
                                 std::int64_t hits);

}  // namespace vivace::stats
