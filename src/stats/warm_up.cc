#include "stats/warm_up.h"

#include <algorithm>
#include <array>
#include <compare>
#include <vector>

#include "stats/probability.h"

namespace vivace::stats {
namespace {

constexpr std::size_t kBatch = 5;
constexpr std::size_t kBatchesMin = 10;

__extension__ typedef unsigned __int128 UInt128;

/// An integer of up to 320 bits, not negative: a sum of squares times three counts.
class Wide {
 public:
  explicit Wide(Int128 value)
      : digits_{static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(value >> 64)} {}

  Wide& times(std::uint64_t factor) {
    UInt128 carry = 0;
    for (std::uint64_t& digit : digits_) {
      carry += UInt128{digit} * factor;
      digit = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
    return *this;
  }
  Wide& times_cube(std::uint64_t factor) { return times(factor).times(factor).times(factor); }

  bool operator<=(const Wide& other) const {
    return std::lexicographical_compare_three_way(
               digits_.rbegin(), digits_.rend(), other.digits_.rbegin(), other.digits_.rend()) <= 0;
  }

 private:
  std::array<std::uint64_t, 5> digits_;  // the lowest first
};

/// The variance that is left after a cut, over the number of batches: squares / count^3.
struct Candidate {
  Int128 squares;  ///< count times the squares around the mean
  std::uint64_t count;

  bool operator<=(const Candidate& other) const {
    return Wide(squares).times_cube(other.count) <= Wide(other.squares).times_cube(count);
  }
};

std::vector<std::int64_t> batch_medians(std::span<const std::int64_t> samples) {
  std::vector<std::int64_t> medians;
  medians.reserve(samples.size() / kBatch);
  for (std::size_t i = 0; i + kBatch <= samples.size(); i += kBatch) {
    std::array<std::int64_t, kBatch> batch{};
    std::copy_n(samples.begin() + static_cast<std::ptrdiff_t>(i), kBatch, batch.begin());
    std::nth_element(batch.begin(), batch.begin() + kBatch / 2, batch.end());
    medians.push_back(batch[kBatch / 2]);
  }
  return medians;
}

/// How many low bits to drop so that the sums below stay within 127 bits: none for a spread of up
/// to 12 hours over a million samples.
int surplus_bits(std::span<const std::int64_t> y) {
  const auto [least, greatest] = std::minmax_element(y.begin(), y.end());
  const Int128 range = Int128{*greatest} - *least;
  int bits = 0;
  while ((range >> bits) * static_cast<Int128>(y.size()) >> 63 != 0) ++bits;
  return bits;
}

}  // namespace

WarmUpCut mser5(std::span<const std::int64_t> samples) {
  const std::vector<std::int64_t> y = batch_medians(samples);
  const std::size_t m = y.size();
  WarmUpCut cut;
  if (m == 0) return cut;
  // From the last batch backwards, so that each d adds one to the sums. They are taken around the
  // last median, as products of the times themselves would overflow.
  const int surplus = surplus_bits(y);
  Int128 sum = 0;
  Int128 squares = 0;
  std::size_t best_d = 0;
  std::optional<Candidate> best;
  for (std::size_t d = m; d-- > 0;) {
    const Int128 value = (Int128{y[d]} - y.back()) >> surplus;
    sum += value;
    squares += value * value;
    if (d > m / 2) continue;
    const Candidate one{.squares = static_cast<Int128>(m - d) * squares - sum * sum,
                        .count = m - d};
    if (!best || one <= *best) {
      best = one;
      best_d = d;
    }
  }
  cut.at_limit = m >= 2 && best_d == m / 2;
  if (m >= kBatchesMin) cut.discarded = static_cast<std::int64_t>(best_d * kBatch);
  return cut;
}

}  // namespace vivace::stats
