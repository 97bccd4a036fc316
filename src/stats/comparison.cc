#include "stats/comparison.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/random.h"
#include "stats/distributions.h"

namespace vivace::stats {
namespace {

constexpr std::int64_t kExactPairsMax = 100;
constexpr std::int64_t kExactSamplesMax = 50;
/// A value this near to the margin counts as equal to it.
constexpr double kTieAbsolute = 1e-12;
// Autocorrelations are summed until one is below this (dependence.h).
constexpr double kCorrelationLeast = 0.02;
// A lag costs one pass, and a drifting series has very many.
constexpr std::size_t kLaggedMax = 20'000;
// A tail that equals its limit as a decimal must not be decided by rounding.
constexpr double kTieRelative = 1e-12;

/// All doubles in the order of their values, as integers.
std::int64_t ordinal_of(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits >= 0 ? bits : std::int64_t{INT64_MIN} - bits;
}
double value_of(std::int64_t ordinal) {
  return std::bit_cast<double>(ordinal >= 0 ? ordinal : std::int64_t{INT64_MIN} - ordinal);
}

/// The Walsh averages (d_i + d_j)/2, i <= j, of sorted values.
class WalshAverages {
 public:
  explicit WalshAverages(std::span<const double> values) : d_(values.begin(), values.end()) {
    std::sort(d_.begin(), d_.end());
  }
  std::int64_t size() const {
    const auto n = static_cast<std::int64_t>(d_.size());
    return n * (n + 1) / 2;
  }
  double least() const { return d_.front(); }
  double greatest() const { return d_.back(); }

  std::int64_t count_at_most(double x) const {
    return count([&](double average) { return average <= x; });
  }
  std::int64_t count_at_least(double x) const {
    return size() - count([&](double average) { return average < x; });
  }

 private:
  template <class Within>
  std::int64_t count(const Within& within) const {
    // The partners of a growing d_i that stay within fall.
    std::int64_t total = 0;
    auto end = static_cast<std::int64_t>(d_.size());
    for (std::int64_t i = 0; i < end; ++i) {
      while (
          end > i &&
          !within((d_[static_cast<std::size_t>(i)] + d_[static_cast<std::size_t>(end - 1)]) / 2)) {
        --end;
      }
      total += end - i;
    }
    return total;
  }
  std::vector<double> d_;
};

/// The differences b_j - a_i of two sorted samples.
class Differences {
 public:
  Differences(std::span<const double> a, std::span<const double> b)
      : a_(a.begin(), a.end()), b_(b.begin(), b.end()) {
    std::sort(a_.begin(), a_.end());
    std::sort(b_.begin(), b_.end());
  }
  std::int64_t size() const {
    return static_cast<std::int64_t>(a_.size()) * static_cast<std::int64_t>(b_.size());
  }
  double least() const { return b_.front() - a_.back(); }
  double greatest() const { return b_.back() - a_.front(); }

  std::int64_t count_at_most(double x) const {
    return count([&](double difference) { return difference <= x; });
  }
  std::int64_t count_at_least(double x) const {
    return size() - count([&](double difference) { return difference < x; });
  }

 private:
  template <class Within>
  std::int64_t count(const Within& within) const {
    std::int64_t total = 0;
    std::size_t end = 0;
    for (const double a : a_) {
      while (end < b_.size() && within(b_[end] - a)) ++end;
      total += static_cast<std::int64_t>(end);
    }
    return total;
  }
  std::vector<double> a_;
  std::vector<double> b_;
};

/// The value of 1-based rank `rank`: the least x with count_at_most(x) >= rank.
template <class Values>
double value_at(const Values& values, std::int64_t rank) {
  std::int64_t low = ordinal_of(values.least());
  std::int64_t high = ordinal_of(values.greatest());
  while (low < high) {
    const std::int64_t middle = std::midpoint(low, high);
    if (values.count_at_most(value_of(middle)) >= rank) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return value_of(low);
}

/// a b / c, rounded down or up.
std::int64_t scaled_down(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>(Int128{a} * b / c);
}
std::int64_t scaled_up(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>((Int128{a} * b + c - 1) / c);
}

/// `law` counts to `law_count` where `values` count to values.size(). The roundings are such that
/// the interval leaves the margin out exactly where p is small enough.
template <class Values>
Shift shift_of(const Values& values, const RankLaw& law, std::int64_t law_count,
               const Probability& confidence, double margin) {
  Shift shift;
  const std::int64_t count = values.size();
  shift.estimate = count % 2 == 1
                       ? value_at(values, count / 2 + 1)
                       : (value_at(values, count / 2) + value_at(values, count / 2 + 1)) / 2;
  shift.rank = scaled_up(law.critical_rank(confidence), count, law_count);
  if (shift.rank > 0) {
    shift.lower = value_at(values, shift.rank);
    shift.upper = value_at(values, count + 1 - shift.rank);
  }
  const double bound = std::log1p(margin) + kTieAbsolute;
  const auto tail = [&](std::int64_t at_or_beyond) {
    return law.at_most(scaled_down(at_or_beyond, law_count, count));
  };
  shift.p = std::min(
      1.0, 2 * std::min(tail(values.count_at_most(bound)), tail(values.count_at_least(-bound))));
  shift.change = change_of(shift.lower, shift.upper, margin);
  return shift;
}

/// Ranks less their mean; equal values share the mean of their ranks.
std::vector<double> centred_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  std::vector<double> ranks(values.size());
  const double mean = (static_cast<double>(values.size()) - 1) / 2;
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double shared = static_cast<double>(first + end - 1) / 2 - mean;
    for (; first < end; ++first) ranks[order[first]] = shared;
  }
  return ranks;
}

}  // namespace

RankLaw RankLaw::signed_rank(std::int64_t n) {
  VIVACE_CHECK(n >= 1);
  RankLaw law;
  const auto size = static_cast<double>(n);
  law.mean_ = size * (size + 1) / 4;
  law.deviation_ = std::sqrt(size * (size + 1) * (2 * size + 1) / 24);
  if (n > kExactPairsMax) return law;
  // Each rank belongs to a positive difference with probability one half.
  std::vector<double> p(static_cast<std::size_t>(n * (n + 1) / 2 + 1), 0);
  p[0] = 1;
  for (std::size_t rank = 1; rank <= static_cast<std::size_t>(n); ++rank) {
    for (std::size_t v = p.size(); v-- > 0;) p[v] = (p[v] + (v >= rank ? p[v - rank] : 0)) / 2;
  }
  std::partial_sum(p.begin(), p.end(), p.begin());
  law.cumulative_ = std::move(p);
  return law;
}

RankLaw RankLaw::rank_sum(std::int64_t n, std::int64_t m) {
  VIVACE_CHECK(n >= 1 && m >= 1);
  RankLaw law;
  const auto a = static_cast<double>(n);
  const auto b = static_cast<double>(m);
  law.mean_ = a * b / 2;
  law.deviation_ = std::sqrt(a * b * (a + b + 1) / 12);
  if (n > kExactSamplesMax || m > kExactSamplesMax) return law;
  // ways[k][u]: choices of k of the ranks seen so far with U = u; the k-th smallest chosen rank r
  // has r - k unchosen ones below it.
  const auto most = static_cast<std::size_t>(n * m);
  std::vector<std::vector<double>> ways(static_cast<std::size_t>(n) + 1,
                                        std::vector<double>(most + 1, 0));
  ways[0][0] = 1;
  for (std::size_t r = 1; r <= static_cast<std::size_t>(n + m); ++r) {
    for (std::size_t k = std::min(r, static_cast<std::size_t>(n)); k >= 1; --k) {
      const std::size_t below = r - k;
      for (std::size_t u = most + 1; u-- > below;) ways[k][u] += ways[k - 1][u - below];
    }
  }
  std::vector<double>& counts = ways.back();
  std::partial_sum(counts.begin(), counts.end(), counts.begin());
  const double all = counts.back();
  for (double& count : counts) count /= all;
  law.cumulative_ = std::move(counts);
  return law;
}

double RankLaw::at_most(std::int64_t v) const {
  if (v < 0) return 0;
  if (cumulative_.empty()) {
    return normal_probability((static_cast<double>(v) + 0.5 - mean_) / deviation_);
  }
  return cumulative_[std::min(static_cast<std::size_t>(v), cumulative_.size() - 1)];
}

std::int64_t RankLaw::critical_rank(const Probability& confidence) const {
  const double limit = confidence.complement().value() / 2;
  if (cumulative_.empty()) {
    const double z = normal_quantile(1 - limit);
    return std::max<std::int64_t>(
        0, static_cast<std::int64_t>(std::floor(mean_ + 0.5 - z * deviation_)));
  }
  std::int64_t rank = 0;
  while (at_most(rank) <= limit * (1 + kTieRelative)) ++rank;
  return rank;
}

std::string_view name_of(Change change) {
  switch (change) {
    case Change::kRegressed:
      return "regressed";
    case Change::kImproved:
      return "improved";
    case Change::kEquivalent:
      return "equivalent";
    case Change::kInconclusive:
      break;
  }
  return "inconclusive";
}

Change change_of(std::optional<double> lower, std::optional<double> upper, double margin) {
  const double bound = std::log1p(margin) + kTieAbsolute;
  if (lower && *lower > bound) return Change::kRegressed;
  if (upper && *upper < -bound) return Change::kImproved;
  if (lower && upper && -bound <= *lower && *upper <= bound) return Change::kEquivalent;
  return Change::kInconclusive;
}

Shift paired_shift(std::span<const double> log_ratios, const Probability& confidence,
                   double margin) {
  VIVACE_CHECK(!log_ratios.empty());
  const auto n = static_cast<std::int64_t>(log_ratios.size());
  // The stages of one comparison have the same size; a law is worked out once for all.
  thread_local std::optional<std::pair<std::int64_t, RankLaw>> last;
  if (!last || last->first != n) last.emplace(n, RankLaw::signed_rank(n));
  const WalshAverages averages(log_ratios);
  return shift_of(averages, last->second, averages.size(), confidence, margin);
}

Shift unpaired_shift(std::span<const double> log_a, std::span<const double> log_b,
                     const Probability& confidence, double margin) {
  return unpaired_shift(
      log_a, log_b, confidence, margin,
      {.a = static_cast<std::int64_t>(log_a.size()), .b = static_cast<std::int64_t>(log_b.size())});
}

Shift unpaired_shift(std::span<const double> log_a, std::span<const double> log_b,
                     const Probability& confidence, double margin, const SampleWorth& worth) {
  VIVACE_CHECK(1 <= worth.a && worth.a <= static_cast<std::int64_t>(log_a.size()));
  VIVACE_CHECK(1 <= worth.b && worth.b <= static_cast<std::int64_t>(log_b.size()));
  thread_local std::optional<std::tuple<std::int64_t, std::int64_t, RankLaw>> last;
  if (!last || std::get<0>(*last) != worth.a || std::get<1>(*last) != worth.b) {
    last.emplace(worth.a, worth.b, RankLaw::rank_sum(worth.a, worth.b));
  }
  return shift_of(Differences(log_a, log_b), std::get<2>(*last), worth.a * worth.b, confidence,
                  margin);
}

EffectiveSize rank_effective_size(std::span<const double> values) {
  VIVACE_CHECK(!values.empty());
  const std::vector<double> ranks = centred_ranks(values);
  const auto n = static_cast<std::int64_t>(ranks.size());
  const double squares = std::inner_product(ranks.begin(), ranks.end(), ranks.begin(), 0.0);
  if (squares == 0) return effective_size(n, 1);

  const auto width = (ranks.size() + kLaggedMax - 1) / kLaggedMax;
  std::vector<double> means(ranks.size() / width);
  for (std::size_t i = 0; i < means.size(); ++i) {
    const auto first = ranks.begin() + static_cast<std::ptrdiff_t>(i * width);
    means[i] = std::accumulate(first, first + static_cast<std::ptrdiff_t>(width), 0.0) /
               static_cast<double>(width);
  }
  const auto count = static_cast<std::int64_t>(means.size());
  const double means_squares = std::inner_product(means.begin(), means.end(), means.begin(), 0.0);
  IndicatorDependence dependence;
  for (std::int64_t lag = 1; lag < count; ++lag) {
    const double products =
        std::inner_product(means.begin() + lag, means.end(), means.begin(), 0.0);
    if (products < kCorrelationLeast * means_squares) break;
    dependence.tau += 2 * products / means_squares;
    dependence.lags = lag;
  }
  // The variance of a mean of the ranks, over what independent ranks would give.
  const double inflation = static_cast<double>(width) *
                           (means_squares / static_cast<double>(count)) /
                           (squares / static_cast<double>(n));
  return effective_size(n, std::max(1.0, inflation * raised_tau(dependence, count)));
}

std::int64_t minimum_pairs(const Probability& confidence) {
  std::int64_t n = 1;
  while (RankLaw::signed_rank(n).critical_rank(confidence) == 0) ++n;
  return n;
}

std::int64_t minimum_unpaired(const Probability& confidence) {
  std::int64_t n = 1;
  while (RankLaw::rank_sum(n, n).critical_rank(confidence) == 0) ++n;
  return n;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p[a] != p[b] ? p[a] < p[b] : a < b; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double raised = static_cast<double>(order.size() - i) * p[order[i]];
    largest = std::max(largest, std::min(1.0, raised));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

}  // namespace vivace::stats
