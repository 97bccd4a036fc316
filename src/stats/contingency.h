// One covariate against the tail: a table of two by two counts, and what it says. A sample is
// exposed where its covariate is above the covariate's median; the tail are the slow samples, the
// body all others. docs/measurement.md, "Tail diagnosis".
#pragma once

#include <cstdint>

namespace vivace::stats {

struct Table2x2 {
  std::int64_t exposed_tail = 0;
  std::int64_t exposed_body = 0;
  std::int64_t unexposed_tail = 0;
  std::int64_t unexposed_body = 0;
  bool operator==(const Table2x2&) const = default;
};

struct OddsRatio {
  double estimate = 1;
  double lower = 0;  ///< of the two-sided 95% interval
  double upper = 0;
};

/// With half a count added to each cell, so that an empty cell gives a number and shrinks it
/// (Haldane 1956, Anscombe 1956); the interval is Woolf's on the logarithm.
OddsRatio odds_ratio(const Table2x2& table);

/// The part of the tail that would not be there had the exposed samples been slow as rarely as the
/// unexposed ones; in [0, 1], and 0 where nothing is unexposed or nothing is in the tail.
double share_explained(const Table2x2& table);

/// Fisher's exact test, one-sided: the probability of at least as many exposed samples in the tail
/// if exposure had nothing to do with it.
double fisher_p(const Table2x2& table);

}  // namespace vivace::stats
