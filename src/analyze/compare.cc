#include "analyze/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/random.h"
#include "core/text.h"
#include "record/stage.h"
#include "result/summarize.h"
#include "stats/comparison.h"
#include "stats/dependence.h"
#include "stats/quantile.h"

namespace vivace::analyze {
namespace {

using result::ComparedQuantity;

constexpr double kStageShareLeast = 0.001;
/// How often the number of samples that is named should do, if the estimate is right.
constexpr double kPower = 0.8;
/// Beyond this many times the samples that there are, no number is named.
constexpr double kTimesMost = 100;
// A p that equals the limit as a decimal must not be decided by rounding.
constexpr double kTieRelative = 1e-12;

double doubt_of(const CompareOptions& options) { return options.confidence.complement().value(); }

std::int64_t held(double count) { return static_cast<std::int64_t>(std::min(count, 9e18)); }

/// Two digits are more than such a number is good for.
std::int64_t rounded_up(double count) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(count)) - 1));
  return held(std::ceil(count / unit) * unit);
}

double log_of(std::int64_t ns) {
  return std::log(static_cast<double>(std::max<std::int64_t>(1, ns)));
}

std::vector<double> logs_of(std::span<const std::int64_t> times_ns) {
  std::vector<double> logs;
  logs.reserve(times_ns.size());
  for (const std::int64_t x : times_ns) logs.push_back(log_of(x));
  return logs;
}

std::vector<std::int64_t> sorted(std::span<const std::int64_t> values) {
  std::vector<std::int64_t> in_order(values.begin(), values.end());
  std::sort(in_order.begin(), in_order.end());
  return in_order;
}

std::int64_t median_of(std::span<const std::int64_t> times_ns) {
  return stats::percentile_value(sorted(times_ns), stats::Probability());
}

/// An estimate of ln(B/A) with its bounds, as far as there are any.
struct LogRatio {
  double estimate = 0;
  std::optional<double> lower;
  std::optional<double> upper;
};

void fill(const LogRatio& ratio, double p, const CompareOptions& options, ComparedQuantity& out) {
  out.ratio = std::exp(ratio.estimate);
  if (ratio.lower) out.ci_low = std::exp(*ratio.lower);
  if (ratio.upper) out.ci_high = std::exp(*ratio.upper);
  out.p = p;
  out.verdict = stats::name_of(stats::change_of(ratio.lower, ratio.upper, options.margin));
}

/// Why an interval with both bounds settles nothing, and about how many samples would: its width
/// falls with their root until it leaves the margin's edge out.
void explain_width(double estimate, double lower, double upper, std::size_t n,
                   const CompareOptions& options, ComparedQuantity& out) {
  const double width = std::max(upper - estimate, estimate - lower);
  const double distance = std::abs(std::abs(estimate) - std::log1p(options.margin));
  const double z = normal_quantile(1 - doubt_of(options) / 2);
  const double root = width / distance * (1 + normal_quantile(kPower) / z);
  out.note = options.margin > 0 ? "the interval reaches across the margin"
                                : "the interval holds no change as well as one";
  const std::string_view unit = options.paired ? "pairs" : "samples of each";
  if (!(root * root <= kTimesMost)) {
    out.note += fmt::format("; the estimate is so near to {} that {} times as many {} might not do",
                            options.margin > 0 ? "its edge" : "none", kTimesMost, unit);
    return;
  }
  const double needed = static_cast<double>(n) * root * root;
  out.samples_needed = rounded_up(std::max(needed, static_cast<double>(n) + 1));
  out.note += fmt::format("; if the estimate is right, about {} {} would settle it",
                          *out.samples_needed, unit);
}

/// The shift between two samples as a whole.
ComparedQuantity compared_times(std::string name, std::span<const std::int64_t> a_ns,
                                std::span<const std::int64_t> b_ns, const CompareOptions& options) {
  ComparedQuantity out;
  out.name = std::move(name);
  out.a_ns = median_of(a_ns);
  out.b_ns = median_of(b_ns);
  const std::vector<double> a = logs_of(a_ns);
  const std::vector<double> b = logs_of(b_ns);
  stats::Shift shift;
  std::int64_t least = 0;                                                // that an interval needs
  auto worth = static_cast<std::int64_t>(std::min(a.size(), b.size()));  // that there are
  if (options.paired) {
    std::vector<double> log_ratios(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      log_ratios[i] = std::log(static_cast<double>(std::max<std::int64_t>(1, b_ns[i])) /
                               static_cast<double>(std::max<std::int64_t>(1, a_ns[i])));
    }
    shift = stats::paired_shift(log_ratios, options.confidence, options.margin);
    least = stats::minimum_pairs(options.confidence);
  } else {
    const std::int64_t of_a = stats::rank_effective_size(a).m;
    const std::int64_t of_b = stats::rank_effective_size(b).m;
    shift = stats::unpaired_shift(a, b, options.confidence, options.margin, {.a = of_a, .b = of_b});
    least = stats::minimum_unpaired(options.confidence);
    worth = std::min(of_a, of_b);
  }
  const LogRatio ratio{.estimate = shift.estimate, .lower = shift.lower, .upper = shift.upper};
  fill(ratio, shift.p, options, out);
  const std::size_t n = std::min(a.size(), b.size());
  if (shift.lower && shift.upper) {
    if (shift.change == stats::Change::kInconclusive) {
      explain_width(shift.estimate, *shift.lower, *shift.upper, n, options, out);
    }
  } else if (static_cast<std::int64_t>(n) < least) {
    out.samples_needed = least;
    out.note = fmt::format("too few for an interval; {} {} give one", least,
                           options.paired ? "pairs" : "samples of each");
  } else {
    // More of the same would drift further: no number helps.
    out.note = fmt::format(
        "{} samples that drift are worth {} independent ones, too few for an interval", n, worth);
  }
  return out;
}

/// One side's sample with what it is worth at one percentile.
struct RankedSide {
  RankedSide(std::span<const std::int64_t> samples, std::span<const std::int64_t> in_order,
             const stats::Probability& p)
      : values(in_order),
        size(stats::effective_size(samples, in_order, p)),
        value_ns(stats::percentile_value(in_order, p)) {}

  std::span<const std::int64_t> values;
  stats::EffectiveSize size;
  std::int64_t value_ns;
};

LogRatio percentile_ratio(const RankedSide& a, const RankedSide& b, const stats::Probability& p,
                          const stats::Probability& confidence_each) {
  const auto bounds = [&](const RankedSide& side) {
    return stats::rescaled_ranks(static_cast<std::int64_t>(side.values.size()), side.size.m, p,
                                 confidence_each);
  };
  const auto log_at = [](const RankedSide& side, std::int64_t rank) {
    return log_of(stats::order_statistic(side.values, rank));
  };
  const stats::RankInterval of_a = bounds(a);
  const stats::RankInterval of_b = bounds(b);
  LogRatio ratio{.estimate = log_of(b.value_ns) - log_of(a.value_ns), .lower = {}, .upper = {}};
  if (of_b.lower && of_a.upper) ratio.lower = log_at(b, *of_b.lower) - log_at(a, *of_a.upper);
  if (of_b.upper && of_a.lower) ratio.upper = log_at(b, *of_b.upper) - log_at(a, *of_a.lower);
  return ratio;
}

/// Half of the doubt, as an exact decimal where it has fewer than 16 digits.
stats::Probability confidence_of_each(const stats::Probability& confidence) {
  const std::int64_t one = 10'000'000'000'000'000;
  const std::int64_t doubt = confidence.complement().numerator() * (one / confidence.denominator());
  return {one - std::max<std::int64_t>(1, doubt / 2), one};
}

/// The least doubt, in steps of 2e-10, at which the two intervals still claim a change.
double percentile_p(const RankedSide& a, const RankedSide& b, const stats::Probability& p,
                    double margin) {
  constexpr std::int64_t kSteps = 10'000'000'000;
  const auto claims = [&](std::int64_t step) {
    const LogRatio ratio = percentile_ratio(a, b, p, {kSteps - step, kSteps});
    const stats::Change change = stats::change_of(ratio.lower, ratio.upper, margin);
    return change == stats::Change::kRegressed || change == stats::Change::kImproved;
  };
  std::int64_t low = 1;
  std::int64_t high = kSteps / 2;  // a doubt of 1 in all
  while (low < high) {
    const std::int64_t middle = std::midpoint(low, high);
    if (claims(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return 2 * static_cast<double>(low) / static_cast<double>(kSteps);
}

ComparedQuantity compared_percentile(const RankedSide& a, const RankedSide& b,
                                     const stats::Probability& p, const CompareOptions& options) {
  ComparedQuantity out;
  out.name = lower(p.label());
  out.a_ns = a.value_ns;
  out.b_ns = b.value_ns;
  const stats::Probability each = confidence_of_each(options.confidence);
  const LogRatio ratio = percentile_ratio(a, b, p, each);
  fill(ratio, percentile_p(a, b, p, options.margin), options, out);
  if (out.verdict != stats::name_of(stats::Change::kInconclusive)) return out;
  const std::size_t n = std::min(a.values.size(), b.values.size());
  if (ratio.lower && ratio.upper) {
    explain_width(ratio.estimate, *ratio.lower, *ratio.upper, n, options, out);
    return out;
  }
  const auto independent = static_cast<double>(stats::minimum_n(p, each, stats::Sides::kBoth));
  const double tau = std::max(a.size.tau, b.size.tau);
  out.samples_needed = tau > 1 ? rounded_up(independent * tau) : held(independent);
  out.note = fmt::format("too few for both bounds; {}{} {} give them", tau > 1 ? "about " : "",
                         *out.samples_needed, options.paired ? "pairs" : "samples of each");
  return out;
}

double total_of(std::span<const std::int64_t> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

const result::StageSamples* stage_of(const result::Samples& samples, Stage stage) {
  const auto found = std::find_if(samples.stages.begin(), samples.stages.end(),
                                  [&](const auto& one) { return one.stage == stage; });
  return found == samples.stages.end() ? nullptr : &*found;
}

/// In the order in which a request passes them.
void compare_stages(const result::Samples& a, const result::Samples& b,
                    const CompareOptions& options, result::Comparison& comparison) {
  const auto share = [](const result::Samples& samples, const result::StageSamples& stage) {
    const double total = total_of(samples.latency_ns);
    return total > 0 ? total_of(stage.times_ns) / total : 0;
  };
  for (std::size_t i = 0; i < kStageCount; ++i) {
    const auto stage = static_cast<Stage>(i);
    const result::StageSamples* of_a = stage_of(a, stage);
    const result::StageSamples* of_b = stage_of(b, stage);
    const auto leave_out = [&](std::string_view why) {
      comparison.left_out.push_back(fmt::format("{}: {}", name_of(stage), why));
    };
    if (of_a == nullptr && of_b == nullptr) continue;
    if (of_a == nullptr || of_b == nullptr) {
      leave_out(of_a == nullptr ? "only in B" : "only in A");
    } else if (share(a, *of_a) < kStageShareLeast && share(b, *of_b) < kStageShareLeast) {
      leave_out("below 0.1% of the latency");
    } else if (median_of(of_a->times_ns) == 0 || median_of(of_b->times_ns) == 0) {
      leave_out("half of its times or more are 0");
    } else {
      comparison.quantities.push_back(compared_times(fmt::format("stage.{}", name_of(stage)),
                                                     of_a->times_ns, of_b->times_ns, options));
    }
  }
}

/// Holm over one group of quantities.
void adjust(std::span<ComparedQuantity> group, const CompareOptions& options) {
  std::vector<double> p;
  for (const ComparedQuantity& one : group) p.push_back(one.p.value_or(1));
  const std::vector<double> adjusted = stats::holm(p);
  for (std::size_t i = 0; i < group.size(); ++i) {
    ComparedQuantity& one = group[i];
    one.p_adjusted = adjusted[i];
    const bool is_claim = one.verdict == stats::name_of(stats::Change::kRegressed) ||
                          one.verdict == stats::name_of(stats::Change::kImproved);
    if (!is_claim || adjusted[i] <= doubt_of(options) * (1 + kTieRelative)) continue;
    one.note = fmt::format("{} by itself (p = {:.2g}), but not as one of {} (adjusted p = {:.2g})",
                           one.verdict, p[i], group.size(), adjusted[i]);
    one.verdict = stats::name_of(stats::Change::kInconclusive);
  }
}

result::ComparedSide side_of(const result::Document& document, const CompareOptions& options) {
  result::ComparedSide side;
  side.fingerprint = document.environment.fingerprint;
  side.n = static_cast<std::int64_t>(document.samples.latency_ns.size());
  std::vector<stats::Probability> percentiles = options.percentiles;
  const stats::Probability median;
  if (std::find(percentiles.begin(), percentiles.end(), median) == percentiles.end()) {
    percentiles.insert(percentiles.begin(), median);
  }
  result::Samples latency;
  latency.latency_ns = document.samples.latency_ns;
  side.latency = result::summarize(latency, percentiles, options.confidence).latency;
  side.samples = document.samples;
  return side;
}

Result<void> check_samples(const result::Document& a, const result::Document& b, bool paired) {
  const std::size_t count_a = a.samples.latency_ns.size();
  const std::size_t count_b = b.samples.latency_ns.size();
  if (count_a == 0 || count_b == 0) {
    return fail(ErrorCode::kBadData,
                {.what = fmt::format("{} has no samples to compare", count_a == 0 ? "A" : "B"),
                 .expected = "raw samples in both results",
                 .got = "none",
                 .advice = "measure it again with --json"});
  }
  if (paired && count_a != count_b) {
    return fail(ErrorCode::kBadData, {.what = "the samples cannot be paired",
                                      .expected = "as many of A as of B",
                                      .got = fmt::format("{} and {}", count_a, count_b),
                                      .advice = "compare them as two results"});
  }
  return {};
}

}  // namespace

Result<result::Comparison> compare(const result::Document& a, const result::Document& b,
                                   const CompareOptions& options) {
  VIVACE_CHECK_OK(check_samples(a, b, options.paired));
  result::Comparison comparison;
  comparison.paired = options.paired;
  comparison.margin = options.margin;
  comparison.confidence = options.confidence;
  comparison.a = side_of(a, options);
  comparison.b = side_of(b, options);

  std::vector<ComparedQuantity>& quantities = comparison.quantities;
  const auto& a_ns = a.samples.latency_ns;
  const auto& b_ns = b.samples.latency_ns;
  quantities.push_back(compared_times("latency", a_ns, b_ns, options));
  const std::vector<std::int64_t> a_sorted = sorted(a_ns);
  const std::vector<std::int64_t> b_sorted = sorted(b_ns);
  for (const stats::Probability& p : options.percentiles) {
    quantities.push_back(compared_percentile(RankedSide(a_ns, a_sorted, p),
                                             RankedSide(b_ns, b_sorted, p), p, options));
  }
  const std::size_t primary = quantities.size();
  compare_stages(a.samples, b.samples, options, comparison);
  const std::span<ComparedQuantity> all(quantities);
  adjust(all.first(1), options);
  adjust(all.subspan(1, primary - 1), options);
  adjust(all.subspan(primary), options);

  const std::string_view regressed = stats::name_of(stats::Change::kRegressed);
  comparison.verdict = quantities.front().verdict;
  for (const ComparedQuantity& one : all.first(primary)) {
    if (one.verdict == regressed) comparison.verdict = regressed;
  }
  return comparison;
}

}  // namespace vivace::analyze
