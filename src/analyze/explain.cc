#include "analyze/explain.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "analyze/tail_findings.h"
#include "core/units.h"
#include "stats/steadiness.h"

namespace vivace::analyze {
namespace {

using result::Document;
using result::Finding;
using result::Samples;
using result::Steadiness;

constexpr std::string_view kAsync = "async_system";
constexpr double kGoesWithShare = 0.5;  // of the slower samples, for a covariate to be mentioned
constexpr double kMaterial = 0.01;      // least difference of levels, modes and ends of a drift
constexpr double kTrendP = 0.01;
constexpr double kRootNDip = 0.62;

std::optional<Finding> async_finding(const Document& document) {
  const auto found = std::ranges::find(document.caveats, kAsync, &result::Caveat::id);
  if (found == document.caveats.end()) return std::nullopt;
  Finding finding;
  finding.id = kAsync;
  finding.message = found->message;
  finding.evidence = found->unknown;
  finding.advice = found->advice;
  return finding;
}

// As the run recorded it, or from the samples of a result that lacks it (another tool's).
Steadiness steadiness_of(const Document& document) {
  if (document.summary && document.summary->steadiness) return *document.summary->steadiness;
  Steadiness steadiness;
  if (document.samples.latency_ns.empty()) return steadiness;
  const auto report = stats::assess_steadiness(document.samples.latency_ns);
  steadiness.name = stats::name_of(report.steadiness);
  steadiness.change_points = report.segments.change_points;
  for (const double median : report.segments.medians) {
    steadiness.segment_medians_ns.push_back(std::llround(median));
  }
  if (report.trend) {
    steadiness.trend_p = report.trend->p;
    steadiness.trend_change = report.trend->change;
  }
  steadiness.bimodal = report.shape.bimodal;
  steadiness.root_n_dip = report.shape.root_n_dip;
  if (report.shape.bimodal && report.shape.modes) {
    steadiness.lower_mode_ns = std::llround(report.shape.modes->lower_median);
    steadiness.upper_mode_ns = std::llround(report.shape.modes->upper_median);
    steadiness.upper_share = report.shape.modes->upper_share;
  }
  return steadiness;
}

// The samples of the upper mode.
std::vector<bool> upper_mode(const Samples& samples, const Steadiness& steadiness) {
  std::vector<std::int64_t> ascending = samples.latency_ns;
  std::ranges::sort(ascending);
  const auto n = static_cast<double>(ascending.size());
  const auto lower = std::llround(n * (1 - steadiness.upper_share.value_or(0)));
  std::vector<bool> slower(ascending.size(), false);
  if (lower < 1 || lower >= std::ssize(ascending)) return slower;
  const std::int64_t cut = ascending[static_cast<std::size_t>(lower - 1)];
  for (std::size_t i = 0; i < slower.size(); ++i) slower[i] = samples.latency_ns[i] > cut;
  return slower;
}

// The samples of the segments whose level is nearer to the slowest segment's than to the fastest's.
std::vector<bool> slower_segments(const Samples& samples, const Steadiness& steadiness) {
  std::vector<bool> slower(samples.latency_ns.size(), false);
  const std::vector<std::int64_t>& medians = steadiness.segment_medians_ns;
  const std::vector<std::int64_t>& points = steadiness.change_points;
  if (medians.size() != points.size() + 1) return slower;
  const auto [least, most] = std::ranges::minmax(medians);
  const std::int64_t middle = least + (most - least) / 2;
  for (std::size_t i = 0; i < slower.size(); ++i) {
    const auto segment =
        std::ranges::upper_bound(points, static_cast<std::int64_t>(i)) - points.begin();
    slower[i] = medians[static_cast<std::size_t>(segment)] > middle;
  }
  return slower;
}

// Names the covariates that the slower samples have in common, in the evidence and in the message.
void add_what_goes_with_it(Finding& finding, const Samples& samples,
                           const std::vector<bool>& slower, std::string_view which) {
  const std::vector<Covariate> covariates = possible_causes(samples);
  const Exposures exposures = test_exposures(slower, covariates);
  std::vector<std::int64_t> indices;
  for (std::size_t i = 0; i < slower.size(); ++i) {
    if (slower[i]) indices.push_back(static_cast<std::int64_t>(i));
  }
  JsonArray all;
  std::string named;
  for (const std::size_t index : ranked_causes(exposures, covariates, indices)) {
    const TestedCovariate& one = exposures.tested[index];
    all.emplace_back(JsonObject{{"covariate", one.name},
                                {"share", one.share},
                                {"odds_ratio", one.odds.estimate},
                                {"p_holm", one.p_holm}});
    if (one.share < kGoesWithShare) continue;
    named += fmt::format("{}{} ({})", named.empty() ? "" : ", ", one.name, percent(one.share));
  }
  if (!named.empty()) {
    finding.message += fmt::format("; {} go with {}", which, named);
  } else if (!exposures.tested.empty()) {
    finding.message += fmt::format("; {} go with none of the {} covariates tested", which,
                                   exposures.tested.size());
  }
  finding.evidence.emplace_back("goes_with", std::move(all));
}

JsonArray json_of(const std::vector<std::int64_t>& values) {
  return JsonArray(values.begin(), values.end());
}

std::string levels(const std::vector<std::int64_t>& medians_ns) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, medians_ns.size()); ++i) {
    text += (i == 0 ? "" : ", ") + format_duration(static_cast<double>(medians_ns[i]));
  }
  return medians_ns.size() > kShown ? text + " ..." : text;
}

// A change of level: one of the classes that change points give.
Finding level_finding(const Samples& samples, const Steadiness& steadiness) {
  Finding finding;
  const std::vector<std::int64_t>& medians = steadiness.segment_medians_ns;
  const std::vector<std::int64_t>& points = steadiness.change_points;
  finding.message =
      fmt::format("the latency changes its level {} (first at sample {}): medians {}",
                  points.size() == 1 ? "once" : fmt::format("{} times", points.size()),
                  points.front(), levels(medians));
  finding.evidence = {{"change_points", json_of(points)}, {"segment_medians_ns", json_of(medians)}};
  finding.threshold = JsonObject{{"level_change_at_least", kMaterial}};
  add_what_goes_with_it(finding, samples, slower_segments(samples, steadiness),
                        "the slower stretches");
  return finding;
}

Finding trend_finding(const Steadiness& steadiness) {
  Finding finding;
  const double change = steadiness.trend_change.value_or(0);
  const double p = steadiness.trend_p.value_or(0);
  finding.message = fmt::format("the latency {} by {} over the run (Mann-Kendall p = {:.2g})",
                                change < 0 ? "falls" : "rises", percent(std::abs(change)), p);
  finding.evidence = {{"trend_change", change}, {"trend_p", p}};
  finding.threshold = JsonObject{{"change_at_least", kMaterial}, {"p_below", kTrendP}};
  return finding;
}

Finding modes_finding(const Samples& samples, const Steadiness& steadiness) {
  Finding finding;
  const std::int64_t lower_ns = steadiness.lower_mode_ns.value_or(0);
  const std::int64_t upper_ns = steadiness.upper_mode_ns.value_or(0);
  const double share = steadiness.upper_share.value_or(0);
  finding.message = fmt::format(
      "the latency has two modes, {} and {}, with {} of the samples in "
      "the upper one",
      format_duration(static_cast<double>(lower_ns)),
      format_duration(static_cast<double>(upper_ns)), percent(share));
  finding.evidence = {{"lower_mode_ns", lower_ns},
                      {"upper_mode_ns", upper_ns},
                      {"upper_share", share},
                      {"root_n_dip", steadiness.root_n_dip.value_or(0)}};
  finding.threshold =
      JsonObject{{"root_n_dip_above", kRootNDip}, {"modes_differ_by_at_least", kMaterial}};
  add_what_goes_with_it(finding, samples, upper_mode(samples, steadiness), "its samples");
  return finding;
}

std::string advice_on(std::string_view steadiness) {
  if (steadiness == "warm-up") return "the start was still warming up: discard more (--warmup)";
  if (steadiness == "slow-down") {
    return "it became slower and stayed so: look for heat and frequency (turbostat), memory that "
           "grows, or a program that started meanwhile";
  }
  if (steadiness == "multimodal") {
    return "percentiles of two modes belong to neither: find what switches between them (the "
           "processor that ran, the input, the state of a cache), and measure each alone";
  }
  return "percentiles mix what changed: find what changed (heat, memory that grows, another "
         "program), or compare in alternation (vivace compare)";
}

std::optional<Finding> steadiness_finding(const Document& document) {
  const Steadiness steadiness = steadiness_of(document);
  const std::string& name = steadiness.name;
  const bool jumps = !steadiness.change_points.empty();
  Finding finding;
  if (name == "multimodal") {
    finding = modes_finding(document.samples, steadiness);
  } else if ((name == "drifting" || name == "warm-up" || name == "slow-down") && jumps) {
    finding = level_finding(document.samples, steadiness);
  } else if (name == "drifting") {
    finding = trend_finding(steadiness);
  } else {
    return std::nullopt;
  }
  finding.id = "steadiness." + name;
  finding.advice = advice_on(name);
  return finding;
}

}  // namespace

std::vector<Finding> explain(const Document& document) {
  TailFindings tail = find_tail(document.samples);
  std::vector<Finding> findings;
  const auto add = [&findings](std::optional<Finding> one) {
    if (one) findings.push_back(std::move(*one));
  };
  const auto add_causes = [&] { std::ranges::move(tail.causes, std::back_inserter(findings)); };
  // Figures of an asynchronous system mean nothing, so that comes first. Causes that account for
  // most of the tail are what to mend; else the regularity or the place of the slow samples says
  // more than a cause of a few of them.
  add(async_finding(document));
  if (tail.mostly_explained) add_causes();
  add(std::move(tail.periodic));
  add(std::move(tail.stage));
  if (!tail.mostly_explained) add_causes();
  add(steadiness_finding(document));
  add(std::move(tail.unexplained));
  return findings;
}

}  // namespace vivace::analyze
