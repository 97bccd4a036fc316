// The verdict on a service level that may be read at any time. Read again and again until it says
// pass, the verdict of stats/service_level.h passes a system at the limit in a quarter of all runs
// instead of one in twenty. Here the exceedances are tested against q = 1 - p by a bet:
//
//   M_n = B(a + t, b + n - t) / (B(a, b) q^t (1 - q)^(n - t))
//
// is what a bettor who spreads a Beta(a, b) prior over the rate has made of one unit. At the rate q
// it is a martingale, so it ever reaches 1/(1 - c) with a probability of at most 1 - c (Ville 1939;
// the mixture after Robbins 1970, Annals of Mathematical Statistics 41). It says pass when M_n does
// so with t/n below q, fail when above.
//
// a = 1/2 and b = a (1 - q)/q put the prior's mean at q and leave it wide. Read every 50 samples at
// 95%, half of the systems with half of the allowed exceedances pass by 300 samples at P90 and
// 2,500 at P99, 90% by 600 and 6,000: twice to three times what the best n fixed beforehand takes
// (half by 90 and 929, 90% by 253 and 2,697). Without any exceedance it takes 40 and 410 (29 and
// 299). Other a from 1/4 to 4 trade the one for the other within some 15%.
#pragma once

#include <cstdint>

#include "stats/probability.h"
#include "stats/service_level.h"

namespace vivace::stats {

class SequentialLevelTest {
 public:
  SequentialLevelTest(const Probability& p, const Probability& confidence);

  /// After n samples of which t exceed the limit, 0 <= t <= n (checked).
  LevelVerdict read(std::int64_t n, std::int64_t t) const;

  /// log M_n.
  double log_wealth(std::int64_t n, std::int64_t t) const;

 private:
  double q_;
  double a_;
  double b_;
  double log_beta_start_;
  double log_wealth_needed_;
};

}  // namespace vivace::stats
