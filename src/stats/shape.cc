#include "stats/shape.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "stats/probability.h"
#include "stats/summary.h"

namespace vivace::stats {
namespace {

constexpr std::int64_t kSamplesMin = 50;
constexpr double kRootNDipMax = 0.62;  // the 1% bound under a uniform law
constexpr double kMaterial = 0.01;
constexpr double kOutlierScales = 10;

using Places = std::vector<std::size_t>;

/// For each place the one before it on the greatest convex minorant of what lies up to it. The
/// distribution function has height i at x[i].
Places minorant_links(std::span<const double> x) {
  Places link(x.size(), 0);
  for (std::size_t j = 1; j < x.size(); ++j) {
    link[j] = j - 1;
    while (link[j] != 0) {
      const std::size_t a = link[j];
      const std::size_t b = link[a];
      // Convex while the slope to j is steeper than the one before it.
      if ((x[j] - x[a]) * static_cast<double>(a - b) < (x[a] - x[b]) * static_cast<double>(j - a)) {
        break;
      }
      link[j] = b;
    }
  }
  return link;
}

/// For each place the one after it on the least concave majorant of what lies from it on.
Places majorant_links(std::span<const double> x) {
  const std::size_t last = x.size() - 1;
  Places link(x.size(), last);
  for (std::size_t k = last; k-- > 0;) {
    link[k] = k + 1;
    while (link[k] != last) {
      const std::size_t a = link[k];
      const std::size_t b = link[a];
      if ((x[a] - x[k]) * static_cast<double>(b - a) < (x[b] - x[a]) * static_cast<double>(a - k)) {
        break;
      }
      link[k] = b;
    }
  }
  return link;
}

/// Where minorant and majorant of the modal interval are farthest apart.
struct Gap {
  double height = 0;
  std::size_t minorant_knot = 0;  ///< index into the minorant's knots, which descend
  std::size_t majorant_knot = 0;  ///< index into the majorant's knots, which ascend
};

Gap widest_gap(std::span<const double> x, const Places& minorant, const Places& majorant) {
  Gap gap{.height = 0, .minorant_knot = minorant.size() - 1, .majorant_knot = majorant.size() - 1};
  // From the left end on, the next knot of either curve: the minorant's are read backwards.
  std::size_t m = minorant.size() - 2;
  std::size_t j = 1;
  while (true) {
    const std::size_t low_knot = minorant[m];
    const std::size_t high_knot = majorant[j];
    if (low_knot > high_knot) {
      // A knot of the majorant between two of the minorant.
      const std::size_t before = minorant[m + 1];
      const double below = (x[high_knot] - x[before]) * static_cast<double>(low_knot - before) /
                           (x[low_knot] - x[before]);
      const double height = static_cast<double>(high_knot - before) + 1 - below;
      ++j;
      if (height >= gap.height) gap = {height, m + 1, j - 1};
    } else {
      const std::size_t before = majorant[j - 1];
      const double above = (x[low_knot] - x[before]) * static_cast<double>(high_knot - before) /
                           (x[high_knot] - x[before]);
      const double height =
          above - (static_cast<double>(low_knot) - static_cast<double>(before)) + 1;
      if (m == 0) {
        if (height >= gap.height) gap = {height, 0, j};
      } else {
        --m;
        if (height >= gap.height) gap = {height, m + 1, j};
      }
    }
    j = std::min(j, majorant.size() - 1);
    if (minorant[m] == majorant[j]) return gap;
  }
}

/// How far the distribution function rises above the chord of the minorant from place b to e.
double rise_above_chord(std::span<const double> x, std::size_t b, std::size_t e) {
  double most = 1;
  if (e - b <= 1 || x[e] == x[b]) return most;
  const double slope = static_cast<double>(e - b) / (x[e] - x[b]);
  for (std::size_t i = b; i <= e; ++i) {
    most = std::max(most, static_cast<double>(i - b) + 1 - (x[i] - x[b]) * slope);
  }
  return most;
}

/// How far it falls below the chord of the majorant.
double fall_below_chord(std::span<const double> x, std::size_t b, std::size_t e) {
  double most = 1;
  if (e - b <= 1 || x[e] == x[b]) return most;
  const double slope = static_cast<double>(e - b) / (x[e] - x[b]);
  for (std::size_t i = b; i <= e; ++i) {
    most = std::max(most, (x[i] - x[b]) * slope - static_cast<double>(i - b) + 1);
  }
  return most;
}

/// a/b > c/d of values that are not negative.
bool ratio_exceeds(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  return Int128{a} * d > Int128{c} * b;
}

std::optional<Modes> modes_of(std::span<const std::int64_t> x) {
  const auto n = static_cast<std::int64_t>(x.size());
  if (n < kSamplesMin) return std::nullopt;
  const std::int64_t w = (n + 39) / 40;
  const std::int64_t e = (n + 19) / 20;
  const auto at = [&](std::int64_t rank) { return x[static_cast<std::size_t>(rank - 1)]; };
  std::int64_t place = e;
  for (std::int64_t i = e + 1; i <= n - e; ++i) {
    if (ratio_exceeds(at(i + w), at(i - w + 1), at(place + w), at(place - w + 1))) place = i;
  }
  const std::int64_t first = std::max(e, place - w + 1);
  const std::int64_t last = std::min(n - e, place + w - 1);
  std::int64_t cut = first;
  for (std::int64_t j = first + 1; j <= last; ++j) {
    if (ratio_exceeds(at(j + 1), at(j), at(cut + 1), at(cut))) cut = j;
  }
  if (at(cut + 1) == at(cut)) return std::nullopt;
  Modes modes;
  modes.lower_count = cut;
  modes.lower_median = median_of_sorted(x.first(static_cast<std::size_t>(cut)));
  modes.upper_median = median_of_sorted(x.subspan(static_cast<std::size_t>(cut)));
  modes.upper_share = static_cast<double>(n - cut) / static_cast<double>(n);
  return modes;
}

}  // namespace

double hartigan_dip(std::span<const double> x) {
  VIVACE_CHECK(!x.empty());
  const std::size_t n = x.size();
  if (n == 1 || x.front() == x.back()) return 0;
  const Places minorant_link = minorant_links(x);
  const Places majorant_link = majorant_links(x);
  // In steps of the distribution function; the dip is half of it over n.
  double dip = 1;
  std::size_t low = 0;
  std::size_t high = n - 1;
  Places minorant;
  Places majorant;
  while (true) {
    minorant.assign(1, high);
    while (minorant.back() > low) minorant.push_back(minorant_link[minorant.back()]);
    majorant.assign(1, low);
    while (majorant.back() < high) majorant.push_back(majorant_link[majorant.back()]);
    Gap gap{
        .height = 1, .minorant_knot = minorant.size() - 1, .majorant_knot = majorant.size() - 1};
    if (minorant.size() > 2 || majorant.size() > 2) gap = widest_gap(x, minorant, majorant);
    if (gap.height < dip) break;
    // Left of the gap the minorant has to be left behind, right of it the majorant.
    double worst = 0;
    for (std::size_t i = gap.minorant_knot; i + 1 < minorant.size(); ++i) {
      worst = std::max(worst, rise_above_chord(x, minorant[i + 1], minorant[i]));
    }
    for (std::size_t i = gap.majorant_knot; i + 1 < majorant.size(); ++i) {
      worst = std::max(worst, fall_below_chord(x, majorant[i], majorant[i + 1]));
    }
    dip = std::max(dip, worst);
    const std::size_t next_low = minorant[gap.minorant_knot];
    const std::size_t next_high = majorant[gap.majorant_knot];
    if (low == next_low && high == next_high) break;
    low = next_low;
    high = next_high;
  }
  return dip / (2 * static_cast<double>(n));
}

std::vector<double> spread_over_quantum(std::span<const std::int64_t> ascending,
                                        std::int64_t quantum) {
  std::vector<double> spread;
  spread.reserve(ascending.size());
  const auto q = static_cast<double>(quantum);
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t end = i;
    while (end < ascending.size() && ascending[end] == ascending[i]) ++end;
    const auto copies = static_cast<double>(end - i);
    for (std::size_t j = 0; i + j < end; ++j) {
      spread.push_back(static_cast<double>(ascending[i] - ascending.front()) +
                       q * ((static_cast<double>(j) + 0.5) / copies - 0.5));
    }
    i = end;
  }
  return spread;
}

Shape shape_of(std::span<const std::int64_t> ascending) {
  VIVACE_CHECK(!ascending.empty());
  Shape shape;
  shape.root_n_dip = std::sqrt(static_cast<double>(ascending.size())) *
                     hartigan_dip(spread_over_quantum(ascending, clock_quantum(ascending)));
  shape.modes = modes_of(ascending);
  shape.bimodal = shape.modes && shape.root_n_dip > kRootNDipMax &&
                  shape.modes->upper_median - shape.modes->lower_median >=
                      kMaterial * shape.modes->lower_median;
  return shape;
}

std::vector<std::int64_t> outliers(std::span<const std::int64_t> samples,
                                   const RobustScale& scale) {
  std::vector<std::int64_t> found;
  if (scale.scale <= 0) return found;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double z = (static_cast<double>(samples[i]) - scale.median) / scale.scale;
    if (std::abs(z) > kOutlierScales) found.push_back(static_cast<std::int64_t>(i));
  }
  return found;
}

}  // namespace vivace::stats
