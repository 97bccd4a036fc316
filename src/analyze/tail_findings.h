// The tail of a result in words: causes, where the time is lost, regularity, and what is left
// unexplained. `explain` puts them in order with what else the samples show.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/tail.h"
#include "result/document.h"

namespace vivace::analyze {

struct TailFindings {
  std::vector<result::Finding> causes;  ///< "tail.COVARIATE", the first cause first
  bool mostly_explained = false;        ///< the causes together explain half of the slow samples
  std::optional<result::Finding> stage;
  std::optional<result::Finding> periodic;
  std::optional<result::Finding> unexplained;
};

/// The tail of a result's samples, tried with every covariate that could be its cause: a wait that
/// is too short for that is left out. `covariates` receives them. Nothing where there is no tail.
std::optional<TailDiagnosis> diagnose(const result::Samples& samples,
                                      std::vector<Covariate>& covariates);

/// Empty where there is no tail.
TailFindings find_tail(const result::Samples& samples);

/// What may be a cause: every covariate but the processor time, which a slow sample has used rather
/// than suffered.
std::vector<Covariate> possible_causes(const result::Samples& samples);

/// The claimed covariates of `exposures` in the order in which they are named: as the statistics
/// have it, but a more specific covariate that marks the same slow samples comes before the first.
/// `slow` holds their indices.
std::vector<std::size_t> ranked_causes(const Exposures& exposures,
                                       std::span<const Covariate> covariates,
                                       std::span<const std::int64_t> slow);

/// "89%"; never a rounded 0% or 100%.
std::string percent(double share);

}  // namespace vivace::analyze
