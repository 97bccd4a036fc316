#include "stats/dependence.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "core/check.h"

namespace vivace::stats {
namespace {

constexpr std::int64_t kExceedancesMin = 50;
// rho_j below 0.02 = 1/50 ends the sum.
constexpr std::int64_t kCutReciprocal = 50;
// Up to so many samples every lag is taken by itself.
constexpr std::int64_t kExactMax = std::int64_t{1} << 16;
// Beyond, so many lags are, and at most so many blocks stand for the others.
constexpr std::int64_t kSingleLags = 512;
constexpr std::int64_t kBlocksMax = std::int64_t{1} << 13;

/// A 0/1 series, 64 to a word, with one word of zeros behind it.
class Bits {
 public:
  explicit Bits(std::size_t count) : words_(count / 64 + 2, 0) {}
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }

  /// Bit i.
  std::int64_t at(std::int64_t i) const {
    const auto place = static_cast<std::size_t>(i);
    return static_cast<std::int64_t>(words_[place / 64] >> (place % 64) & 1);
  }

  /// The number of i with both bit i and bit i + lag set.
  std::int64_t products(std::int64_t lag) const {
    const std::size_t skip = static_cast<std::size_t>(lag) / 64;
    const auto shift = static_cast<unsigned>(lag % 64);
    std::int64_t count = 0;
    for (std::size_t i = 0; i + skip + 1 < words_.size(); ++i) {
      std::uint64_t later = words_[i + skip] >> shift;
      if (shift != 0) later |= words_[i + skip + 1] << (64 - shift);
      count += std::popcount(words_[i] & later);
    }
    return count;
  }

  /// The ones in each whole block of `words` words.
  std::vector<std::int32_t> block_counts(std::size_t count, std::size_t words) const {
    std::vector<std::int32_t> counts(count / (64 * words), 0);
    for (std::size_t i = 0; i < counts.size() * words; ++i) {
      counts[i / words] += std::popcount(words_[i]);
    }
    return counts;
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// The ones of a series in blocks of equal width.
class Blocks {
 public:
  explicit Blocks(std::vector<std::int32_t> counts) : counts_(std::move(counts)) {}

  std::int64_t at(std::int64_t i) const { return counts_[static_cast<std::size_t>(i)]; }
  std::int64_t size() const { return static_cast<std::int64_t>(counts_.size()); }

  std::int64_t products(std::int64_t lag) const {
    const std::size_t end = counts_.size() - static_cast<std::size_t>(lag);
    const std::int32_t* later = counts_.data() + lag;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < end; ++i) sum += std::int64_t{counts_[i]} * later[i];
    return sum;
  }

 private:
  std::vector<std::int32_t> counts_;
};

/// The sums of products of deviations from the mean, as integers, lag after lag.
struct Correlation {
  std::int64_t n = 0;
  std::int64_t ones = 0;
  Int128 products_sum = 0;
  std::int64_t lags = 0;

  /// n^2 times the sum of squares of the deviations.
  Int128 squares() const { return Int128{n} * ones * (n - ones); }

  /// Adds the lags first, first + 1, ... up to last of a series of `size` values, each the ones
  /// among `width` samples; false where a correlation was too small to go on.
  ///
  /// With s ones in n samples, c_j the sum of products at lag j and h_j, t_j the ones among the
  /// first and last size - j values, n^2 times the sum of products of deviations is
  /// n^2 c_j - n s w (h_j + t_j) + (size - j) (s w)^2. Over blocks of w samples this is a mean of
  /// the lags around w j, times w.
  template <class Series>
  bool add(const Series& series, std::int64_t size, std::int64_t width, std::int64_t first,
           std::int64_t last) {
    std::int64_t head = 0;
    for (std::int64_t i = 0; i < size; ++i) head += series.at(i);
    std::int64_t tail = head;
    const Int128 mean = Int128{ones} * width;
    for (std::int64_t j = 1; j <= last; ++j) {
      head -= series.at(size - j);
      tail -= series.at(j - 1);
      if (j < first) continue;
      const Int128 products =
          Int128{n} * n * series.products(j) - n * mean * (head + tail) + (size - j) * mean * mean;
      if (products * kCutReciprocal < squares() * width) return false;
      products_sum += products;
      lags += width;
    }
    return true;
  }
};

}  // namespace

IndicatorDependence indicator_dependence(std::span<const std::int64_t> samples,
                                         std::int64_t threshold) {
  Correlation correlation{.n = static_cast<std::int64_t>(samples.size())};
  const std::int64_t n = correlation.n;
  Bits below(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i] > threshold) continue;
    below.set(i);
    ++correlation.ones;
  }
  if (correlation.ones == 0 || correlation.ones == n) return {};

  if (n <= kExactMax) {
    correlation.add(below, n, 1, 1, n - 1);
  } else {
    const std::int64_t words = (n / 64 + kBlocksMax - 1) / kBlocksMax;
    const std::int64_t width = 64 * words;
    // Block lag j stands for the lags from width (j - 1/2) to width (j + 1/2).
    const std::int64_t first = kSingleLags / width + 1;
    if (correlation.add(below, n, 1, 1, first * width - width / 2)) {
      const Blocks blocks(below.block_counts(samples.size(), static_cast<std::size_t>(words)));
      correlation.add(blocks, blocks.size(), width, first, blocks.size() - 1);
    }
  }
  const double rho_sum =
      static_cast<double>(correlation.products_sum) / static_cast<double>(correlation.squares());
  return {.tau = 1 + 2 * rho_sum, .lags = correlation.lags};
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
