#include "analyze/tail.h"

#include <algorithm>
#include <cmath>

#include "stats/comparison.h"
#include "stats/noise.h"
#include "stats/probability.h"
#include "stats/quantile.h"

namespace vivace::analyze {
namespace {

constexpr double kOutlierScales = 10;  // above the median
constexpr double kTailRatio = 1.5;     // P99 over P50

// x_(ceil(n p)) by selection: a whole sort takes ten times as long on a million samples.
std::int64_t selected(std::vector<std::int64_t>& values, const stats::Probability& p) {
  const auto n = static_cast<std::int64_t>(values.size());
  const auto place = values.begin() + (stats::rank_of(n, p) - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

std::optional<double> tail_cut(std::span<const std::int64_t> latency_ns) {
  std::optional<double> cut;
  const stats::RobustScale scale = stats::robust_scale(latency_ns);
  const double far = scale.median + kOutlierScales * scale.scale;
  const auto beyond = std::ranges::count_if(
      latency_ns, [far](std::int64_t x) { return static_cast<double>(x) > far; });
  if (beyond >= kTailMin) cut = far;

  std::vector<std::int64_t> values(latency_ns.begin(), latency_ns.end());
  const auto p50 = static_cast<double>(selected(values, {50, 100}));
  const auto p99 = static_cast<double>(selected(values, {99, 100}));
  if (p99 >= kTailRatio * p50) {
    const double middle = (p50 + p99) / 2;
    cut = cut ? std::min(*cut, middle) : middle;
  }
  return cut;
}

double median_of(std::span<const double> values) {
  std::vector<double> scratch(values.begin(), values.end());
  const auto middle = scratch.begin() + static_cast<std::ptrdiff_t>(scratch.size() / 2);
  std::nth_element(scratch.begin(), middle, scratch.end());
  if (scratch.size() % 2 == 1) return *middle;
  return (*std::max_element(scratch.begin(), middle) + *middle) / 2;
}

stats::Table2x2 count(const std::vector<bool>& slow, const std::vector<bool>& exposed) {
  stats::Table2x2 table;
  for (std::size_t i = 0; i < slow.size(); ++i) {
    auto& cell = exposed[i] ? (slow[i] ? table.exposed_tail : table.exposed_body)
                            : (slow[i] ? table.unexposed_tail : table.unexposed_body);
    ++cell;
  }
  return table;
}

bool none_unexposed(const stats::Table2x2& table) {
  return table.unexposed_tail + table.unexposed_body == 0;
}

// What the claimed covariates together leave of the tail. Where every sample is exposed to one of
// them, the first is taken alone.
double unexplained(const Exposures& exposures, const std::vector<bool>& slow,
                   std::span<const Covariate> covariates) {
  if (exposures.claimed.empty()) return 1;
  std::vector<bool> any(slow.size(), false);
  for (const std::size_t index : exposures.claimed) {
    const TestedCovariate& cause = exposures.tested[index];
    const std::span<const double> values = covariates[cause.index].values;
    for (std::size_t i = 0; i < any.size(); ++i) any[i] = any[i] || values[i] > cause.threshold;
  }
  const stats::Table2x2 together = count(slow, any);
  if (none_unexposed(together)) return 1 - exposures.tested[exposures.claimed.front()].share;
  return 1 - stats::share_explained(together);
}

}  // namespace

std::optional<Period> period_of(std::span<const std::int64_t> slow) {
  if (std::ssize(slow) < kTailMin) return std::nullopt;
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 1; i < slow.size(); ++i) gaps.push_back(slow[i] - slow[i - 1]);
  const auto middle = gaps.begin() + (std::ssize(gaps) - 1) / 2;
  std::nth_element(gaps.begin(), middle, gaps.end());
  const std::int64_t period = *middle;
  if (period < 2) return std::nullopt;
  const auto close = std::ranges::count_if(
      gaps, [period](std::int64_t gap) { return std::abs(gap - period) <= 1; });
  if (static_cast<double>(close) < kPeriodicShare * static_cast<double>(gaps.size())) {
    return std::nullopt;
  }
  return Period{.samples = period, .gaps_close = close};
}

std::optional<TailDiagnosis> diagnose_tail(std::span<const std::int64_t> latency_ns,
                                           std::span<const Covariate> covariates) {
  if (latency_ns.empty()) return std::nullopt;
  const std::optional<double> cut = tail_cut(latency_ns);
  if (!cut) return std::nullopt;
  TailDiagnosis tail;
  tail.cut_ns = *cut;
  std::vector<bool> slow(latency_ns.size(), false);
  for (std::size_t i = 0; i < latency_ns.size(); ++i) {
    slow[i] = static_cast<double>(latency_ns[i]) > *cut;
    if (slow[i]) tail.samples.push_back(static_cast<std::int64_t>(i));
  }
  if (tail.samples.empty()) return std::nullopt;  // all are 0
  tail.exposures = test_exposures(slow, covariates);
  tail.period = period_of(tail.samples);
  return tail;
}

Exposures test_exposures(const std::vector<bool>& slow, std::span<const Covariate> covariates) {
  Exposures result;
  std::vector<bool> exposed(slow.size());
  for (std::size_t index = 0; index < covariates.size(); ++index) {
    const std::span<const double> values = covariates[index].values;
    if (values.empty() || values.size() != slow.size()) continue;
    if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) continue;
    const double threshold = median_of(values);
    for (std::size_t i = 0; i < values.size(); ++i) exposed[i] = values[i] > threshold;
    const stats::Table2x2 table = count(slow, exposed);
    if (table.exposed_tail + table.exposed_body == 0 || none_unexposed(table)) continue;
    result.tested.push_back({.name = std::string(covariates[index].name),
                             .index = index,
                             .threshold = threshold,
                             .table = table,
                             .share = stats::share_explained(table),
                             .odds = stats::odds_ratio(table),
                             .p = stats::fisher_p(table)});
  }

  std::vector<double> p;
  p.reserve(result.tested.size());
  for (const TestedCovariate& one : result.tested) p.push_back(one.p);
  const std::vector<double> adjusted = stats::holm(p);
  for (std::size_t i = 0; i < result.tested.size(); ++i) {
    TestedCovariate& one = result.tested[i];
    one.p_holm = adjusted[i];
    one.claimed = one.table.exposed_tail + one.table.unexposed_tail >= kTailMin &&
                  one.p_holm < kClaimP && one.share >= kClaimShare;
    if (one.claimed) result.claimed.push_back(i);
  }
  std::ranges::sort(result.claimed, [&](std::size_t left, std::size_t right) {
    const TestedCovariate& a = result.tested[left];
    const TestedCovariate& b = result.tested[right];
    if (a.share != b.share) return a.share > b.share;
    if (a.odds.estimate != b.odds.estimate) return a.odds.estimate > b.odds.estimate;
    return left < right;
  });
  result.unexplained_share = unexplained(result, slow, covariates);
  return result;
}

}  // namespace vivace::analyze
