// Why the slow samples are slow: which of the covariates that were recorded beside them go with
// them, how much of the tail each explains, and whether they come at regular distances. Nothing is
// assumed about distributions: a sample is slow or not, exposed or not, and the rest is counting.
//
// The cut is meant to find samples that are far out, not the upper end of noise: 10 robust standard
// deviations above the median, or half way to a P99 of at least 1.5 P50, the lesser of the two. A
// covariate is claimed only against chance (Fisher's exact test, adjusted by Holm for every
// covariate that was tried) and only if it matters (a tenth of the tail).
// docs/measurement.md, "Tail diagnosis".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stats/contingency.h"

namespace vivace::analyze {

inline constexpr std::int64_t kTailMin = 5;    ///< slow samples that a claim needs
inline constexpr double kClaimP = 0.01;        ///< adjusted p below which one is claimed
inline constexpr double kClaimShare = 0.1;     ///< of the slow samples, explained at least
inline constexpr double kPeriodicShare = 0.8;  ///< of the gaps, within 1 of their lower median

/// One value per sample, larger is worse.
struct Covariate {
  std::string_view name;
  std::span<const double> values;
};

/// A covariate that some samples are exposed to and some are not.
struct TestedCovariate {
  std::string name;
  std::size_t index = 0;  ///< among the covariates given
  double threshold = 0;   ///< its median; exposed is above
  stats::Table2x2 table;
  double share = 0;  ///< of the slow samples, explained
  stats::OddsRatio odds;
  double p = 1;
  double p_holm = 1;  ///< adjusted over the covariates tested
  bool claimed = false;
};

struct Exposures {
  std::vector<TestedCovariate> tested;  ///< in the order given
  /// Indices into `tested`, the largest share first, then the largest odds ratio: the first cause
  /// is at the front.
  std::vector<std::size_t> claimed;
  /// What the claimed ones together leave; 1 where nothing is claimed.
  double unexplained_share = 1;
};

/// Tests every covariate against `slow`, one flag per sample. A covariate whose values are not all
/// finite, or that does not have one value per sample, is not tested.
Exposures test_exposures(const std::vector<bool>& slow, std::span<const Covariate> covariates);

/// The slow samples come at nearly the same distance each time.
struct Period {
  std::int64_t samples = 0;     ///< from one slow sample to the next, the lower median
  std::int64_t gaps_close = 0;  ///< gaps within 1 of it
};

/// Of the samples at `indices`, ascending: at least kTailMin of them, a lower median gap g of at
/// least 2, and kPeriodicShare of the gaps within 1 of it.
std::optional<Period> period_of(std::span<const std::int64_t> indices);

struct TailDiagnosis {
  double cut_ns = 0;
  std::vector<std::int64_t> samples;  ///< indices of the slow ones, ascending
  Exposures exposures;
  std::optional<Period> period;
};

/// Nothing where there is no tail, or no sample.
std::optional<TailDiagnosis> diagnose_tail(std::span<const std::int64_t> latency_ns,
                                           std::span<const Covariate> covariates);

}  // namespace vivace::analyze
