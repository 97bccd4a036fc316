// How much n dependent samples are worth for a percentile. Neighbouring latencies resemble each
// other (a warm cache, a busy neighbour), and an interval that takes them for independent is too
// narrow. What matters for a percentile is the dependence of the *indicator* "at or below it",
// not that of the values.
//
// rho_j are the indicator's divide-by-n autocorrelations, M the number of them before the first
// below 0.02, tau = 1 + 2 (rho_1 + ... + rho_M), raised by one standard error, that is times
// 1 + sqrt(2(2M+1)/n), where M > 0. A rank so high that fewer than 50 values exceed it cannot show
// its dependence, so tau is also taken at the rank that 50 exceed, and the larger counts. The
// interval's ranks are those of m = floor(n/tau) independent samples, scaled back to n outwards.
//
// Everything up to tau is computed in integers, so the cut at 0.02 never hangs on rounding.
//
// A long series that drifts would take some n/3 lags of n/64 steps each, half a minute for a
// million. So beyond 65,536 samples only the first 512 lags are taken one by one; after them the
// ones are counted in at most 8,192 blocks of w samples, and the correlation of the counts at lag j
// stands for the w lags around w j. It is their mean, weighted by a triangle, so the sum hardly
// changes, while the cut at 0.02 sees less noise (the multiple-tau correlator: Schaetzel 1990,
// Quantum Optics 2).
#pragma once

#include <cstdint>
#include <span>

#include "stats/quantile.h"

namespace vivace::stats {

/// The dependence of one indicator series, before it is raised.
struct IndicatorDependence {
  double tau = 1;         ///< 1 + 2 times the sum of the autocorrelations that count
  std::int64_t lags = 0;  ///< M, how many count
};

/// Of 1{x_i <= threshold}; a constant indicator has tau 1. Cost: n/64 steps per lag, bounded
/// for long series as said above: a million samples take at most about 50 ms.
IndicatorDependence indicator_dependence(std::span<const std::int64_t> samples,
                                         std::int64_t threshold);

/// tau times 1 + sqrt(2(2M+1)/n) where M > 0.
double raised_tau(const IndicatorDependence& dependence, std::int64_t n);

/// min(rank, max(ceil(n/2), n - 50)): the rank whose dependence can be seen.
std::int64_t body_rank(std::int64_t n, std::int64_t rank);

/// What a sample is worth at one percentile.
struct EffectiveSize {
  double tau = 1;
  double n_eff = 0;
  std::int64_t m = 1;  ///< max(1, floor(n_eff))
};

EffectiveSize effective_size(std::int64_t n, double tau);

/// Of percentile `p`. `samples` in the order in which they were taken, `sorted` the same ascending.
EffectiveSize effective_size(std::span<const std::int64_t> samples,
                             std::span<const std::int64_t> sorted, const Probability& p);

/// The interval's ranks at m, scaled to n: floor(l n/m) and ceil(u n/m). A bound that is missing
/// at m is missing.
RankInterval rescaled_ranks(std::int64_t n, std::int64_t m, const Probability& p,
                            const Probability& confidence);

}  // namespace vivace::stats
