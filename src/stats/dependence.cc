#include "stats/dependence.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "core/check.h"

namespace vivace::stats {
namespace {

constexpr std::int64_t kExceedancesMin = 50;
// rho_j below 0.02 = 1/50 ends the sum.
constexpr std::int64_t kCutReciprocal = 50;

/// A 0/1 series, 64 to a word, with one word of zeros behind it.
class Bits {
 public:
  explicit Bits(std::size_t count) : words_(count / 64 + 2, 0) {}
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  bool operator[](std::size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }

  /// The number of i with both bit i and bit i + lag set.
  std::int64_t coincidences(std::size_t lag) const {
    const std::size_t skip = lag / 64;
    const auto shift = static_cast<unsigned>(lag % 64);
    std::int64_t count = 0;
    for (std::size_t i = 0; i + skip + 1 < words_.size(); ++i) {
      std::uint64_t later = words_[i + skip] >> shift;
      if (shift != 0) later |= words_[i + skip + 1] << (64 - shift);
      count += std::popcount(words_[i] & later);
    }
    return count;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace

IndicatorDependence indicator_dependence(std::span<const std::int64_t> samples,
                                         std::int64_t threshold) {
  const auto n = static_cast<std::int64_t>(samples.size());
  Bits below(samples.size());
  std::int64_t ones = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i] > threshold) continue;
    below.set(i);
    ++ones;
  }
  if (ones == 0 || ones == n) return {};

  // With s ones, c_j coincidences at lag j and h_j, t_j ones among the first and last n - j, n^2
  // times the sum of products of deviations is n^2 c_j - n s (h_j + t_j) + (n - j) s^2, and n^2
  // times the sum of squares is n s (n - s).
  const Int128 squares = Int128{n} * ones * (n - ones);
  Int128 products_sum = 0;
  std::int64_t head = ones;
  std::int64_t tail = ones;
  std::int64_t lags = 0;
  for (std::int64_t j = 1; j < n; ++j) {
    head -= below[static_cast<std::size_t>(n - j)] ? 1 : 0;
    tail -= below[static_cast<std::size_t>(j - 1)] ? 1 : 0;
    const std::int64_t both = below.coincidences(static_cast<std::size_t>(j));
    const Int128 products =
        Int128{n} * n * both - Int128{n} * ones * (head + tail) + Int128{n - j} * ones * ones;
    if (products * kCutReciprocal < squares) break;
    products_sum += products;
    lags = j;
  }
  const double rho_sum = static_cast<double>(products_sum) / static_cast<double>(squares);
  return {.tau = 1 + 2 * rho_sum, .lags = lags};
}

double raised_tau(const IndicatorDependence& dependence, std::int64_t n) {
  if (dependence.lags == 0) return 1;
  const double windows = 2 * (2 * static_cast<double>(dependence.lags) + 1);
  return dependence.tau * (1 + std::sqrt(windows / static_cast<double>(n)));
}

std::int64_t body_rank(std::int64_t n, std::int64_t rank) {
  return std::min(rank, std::max((n + 1) / 2, n - kExceedancesMin));
}

EffectiveSize effective_size(std::int64_t n, double tau) {
  EffectiveSize size{.tau = tau, .n_eff = static_cast<double>(n) / tau, .m = 1};
  size.m = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(size.n_eff)));
  return size;
}

EffectiveSize effective_size(std::span<const std::int64_t> samples,
                             std::span<const std::int64_t> sorted, const Probability& p) {
  VIVACE_CHECK(!sorted.empty() && samples.size() == sorted.size());
  const auto n = static_cast<std::int64_t>(sorted.size());
  const std::int64_t rank = rank_of(n, p);
  const std::int64_t at_rank = order_statistic(sorted, rank);
  const std::int64_t at_body = order_statistic(sorted, body_rank(n, rank));
  double tau = raised_tau(indicator_dependence(samples, at_rank), n);
  if (at_body != at_rank) {
    tau = std::max(tau, raised_tau(indicator_dependence(samples, at_body), n));
  }
  return effective_size(n, tau);
}

RankInterval rescaled_ranks(std::int64_t n, std::int64_t m, const Probability& p,
                            const Probability& confidence) {
  VIVACE_CHECK(m >= 1 && m <= n);
  RankInterval ranks = interval_ranks(m, p, confidence);
  if (ranks.lower) ranks.lower = static_cast<std::int64_t>(Int128{*ranks.lower} * n / m);
  if (ranks.upper) {
    ranks.upper = static_cast<std::int64_t>((Int128{*ranks.upper} * n + m - 1) / m);
  }
  return ranks;
}

}  // namespace vivace::stats
