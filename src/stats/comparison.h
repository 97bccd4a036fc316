// B against A. Latencies are compared by the logarithm of their ratio, so that "2% slower" means
// the same for a stage of a millisecond and a request of a second.
//
// Pairs: the estimate is Hodges and Lehmann's, the median of the n(n+1)/2 Walsh averages of the
// d_i = ln(b_i / a_i); its interval runs between two order statistics of them, whose ranks come
// from the law of Wilcoxon's signed-rank statistic (Hodges and Lehmann 1963; Hollander, Wolfe and
// Chicken, Nonparametric Statistical Methods, 3.2 and 3.3). Unpaired: the same over all differences
// ln b_j - ln a_i with the rank-sum law (ibid., 4.2 and 4.3). Zeros and ties are kept. The laws are
// exact to 100 pairs and to 50 against 50, normal beyond.
//
// Dependence. Pairs whose order was drawn at random need no correction: without an effect the sign
// of each d_i is that draw, whatever the machine did, so the signed-rank law holds exactly.
// Unpaired samples do: the statistic is a difference of mean ranks, so its variance grows by the
// autocorrelation time tau of each sample's ranks. The law is then taken at the sizes n/tau that
// the samples are worth, and its counts are scaled to n m, as the ranks of a percentile's interval
// are (dependence.h).
//
// No average is ever stored: they are counted in sorted order, and a rank is found by bisection on
// the value, so 10^5 pairs take milliseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stats/dependence.h"
#include "stats/probability.h"

namespace vivace::stats {

/// The law of a rank statistic without ties.
class RankLaw {
 public:
  /// Of Wilcoxon's V for n >= 1 pairs.
  static RankLaw signed_rank(std::int64_t n);
  /// Of Mann and Whitney's U for n and m >= 1 samples.
  static RankLaw rank_sum(std::int64_t n, std::int64_t m);

  /// P(V <= v).
  double at_most(std::int64_t v) const;
  /// The largest C with P(V <= C - 1) <= (1 - confidence)/2; 0 where there is none.
  std::int64_t critical_rank(const Probability& confidence) const;

 private:
  std::vector<double> cumulative_;  ///< exact laws; empty for the normal one
  double mean_ = 0;
  double deviation_ = 0;
};

enum class Change { kRegressed, kImproved, kEquivalent, kInconclusive };

/// "regressed", "improved", "equivalent", "inconclusive".
std::string_view name_of(Change change);

/// How much slower B is, as a logarithm of the ratio, with what the test says at a margin.
struct Shift {
  double estimate = 0;
  std::optional<double> lower;  ///< both or none
  std::optional<double> upper;
  std::int64_t rank = 0;  ///< C; 0 without an interval
  double p = 1;           ///< of a change beyond the margin
  Change change = Change::kInconclusive;
};

/// Of n >= 1 logarithms of ratios (checked). Changes within `margin` (0.02 for 2%) count as none; a
/// bound within 1e-12 of it counts as equal to it.
Shift paired_shift(std::span<const double> log_ratios, const Probability& confidence,
                   double margin = 0);

/// Of the logarithms of two samples of independent values, one at least in each (checked).
Shift unpaired_shift(std::span<const double> log_a, std::span<const double> log_b,
                     const Probability& confidence, double margin = 0);

/// How many independent values each sample is worth, from 1 to its size (checked).
struct SampleWorth {
  std::int64_t a = 1;
  std::int64_t b = 1;
};
Shift unpaired_shift(std::span<const double> log_a, std::span<const double> log_b,
                     const Probability& confidence, double margin, const SampleWorth& worth);

/// What n >= 1 values (checked), in the order in which they were taken, are worth for a mean of
/// their ranks. tau = 1 + 2 sum rho_j of the ranks (of ties: the mean rank), cut and raised as
/// dependence.h says; more than 20,000 values in means of neighbours, which keep tau.
EffectiveSize rank_effective_size(std::span<const double> values);

/// The least n that has an interval: of n pairs, or of n samples against n.
std::int64_t minimum_pairs(const Probability& confidence);
std::int64_t minimum_unpaired(const Probability& confidence);

/// The verdict of an interval of the log ratio against a margin.
Change change_of(std::optional<double> lower, std::optional<double> upper, double margin);

/// Holm's adjustment for several tests at once, in the order of the input (Holm 1979).
std::vector<double> holm(std::span<const double> p);

}  // namespace vivace::stats
