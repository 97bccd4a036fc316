#include "analyze/tail_findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "analyze/covariate_words.h"
#include "core/text.h"
#include "core/units.h"
#include "stats/probability.h"
#include "stats/quantile.h"

namespace vivace::analyze {
namespace {

using result::Finding;

constexpr std::string_view kProcessorTime = "cpu_time_ns";
constexpr std::string_view kProcessor = "cpu";  // its number: no more of anything
constexpr double kWaitShareMin = 0.1;           // of the extra time, for a wait to be its cause
constexpr double kSameShare = 0.1;              // shares this close may be one cause seen twice
constexpr double kSameSamples = 0.8;            // of the slow samples that either marks, both mark
constexpr double kProbeSlower = 1.1;            // in the tail, for a probe to count as specific
constexpr double kStageShare = 0.5;             // of the excess, for a stage to be named
constexpr double kStageAbove = 0.05;            // its usual share of a request
constexpr double kMostly = 0.5;
constexpr double kLeft = 0.1;  // unexplained share that is worth saying

// Everything that the findings of one tail are made from.
struct Tail {
  const result::Samples& samples;
  std::vector<Covariate> covariates;
  TailDiagnosis diagnosis;
  std::int64_t p50_ns = 0;
  std::int64_t p99_ns = 0;
};

template <typename T>
double median_of(std::vector<T> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  const auto upper = static_cast<double>(*middle);
  if (values.size() % 2 == 1) return upper;
  return (static_cast<double>(*std::max_element(values.begin(), middle)) + upper) / 2;
}

std::int64_t percentile(std::vector<std::int64_t> values, std::int64_t hundredths) {
  if (values.empty()) return 0;
  const auto place = values.begin() + (stats::rank_of(std::ssize(values), {hundredths, 100}) - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

template <typename T>
std::vector<T> picked(const std::vector<T>& values, std::span<const std::int64_t> indices) {
  std::vector<T> result;
  for (const std::int64_t index : indices)
    result.push_back(values[static_cast<std::size_t>(index)]);
  return result;
}

// The P99 if the samples that `gone` names were not there.
Json gain_without(const Tail& tail, const std::vector<bool>& gone) {
  std::vector<std::int64_t> left;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) left.push_back(tail.samples.latency_ns[i]);
  }
  return JsonObject{{"p99_ns", tail.p99_ns}, {"p99_without_ns", percentile(std::move(left), 99)}};
}

JsonObject tail_evidence(const Tail& tail) {
  return {{"slow_samples", tail.diagnosis.samples.size()},
          {"samples", tail.samples.latency_ns.size()},
          {"p50_ns", tail.p50_ns},
          {"p99_ns", tail.p99_ns}};
}

JsonObject tail_threshold(const Tail& tail) { return {{"tail_cut_ns", tail.diagnosis.cut_ns}}; }

// How much longer a probe took beside the slow samples than beside all.
double slower_in_tail(const Covariate& covariate, double median,
                      std::span<const std::int64_t> slow) {
  const std::vector<double> values(covariate.values.begin(), covariate.values.end());
  return median > 0 ? median_of(picked(values, slow)) / median : 1;
}

// Whether two covariates mark the same slow samples, give or take a fifth.
bool same_samples(const TestedCovariate& a, const TestedCovariate& b,
                  std::span<const Covariate> covariates, std::span<const std::int64_t> slow) {
  std::int64_t both = 0;
  std::int64_t either = 0;
  for (const std::int64_t sample : slow) {
    const auto i = static_cast<std::size_t>(sample);
    const bool by_a = covariates[a.index].values[i] > a.threshold;
    const bool by_b = covariates[b.index].values[i] > b.threshold;
    both += by_a && by_b ? 1 : 0;
    either += by_a || by_b ? 1 : 0;
  }
  return static_cast<double>(both) >= kSameSamples * static_cast<double>(either);
}

bool looks_like(const TestedCovariate& other, const TestedCovariate& first,
                std::span<const Covariate> covariates, std::span<const std::int64_t> slow) {
  return std::abs(other.share - first.share) <= kSameShare + 1e-12 &&
         same_samples(other, first, covariates, slow);
}

Finding cause_finding(const Tail& tail, const TestedCovariate& cause, JsonArray same) {
  const auto& [exposed_tail, exposed_body, unexposed_tail, unexposed_body] = cause.table;
  const std::int64_t slow = exposed_tail + unexposed_tail;
  const std::int64_t others = exposed_body + unexposed_body;
  const auto share_of = [](std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  Finding finding;
  finding.id = "tail." + cause.name;
  finding.message = fmt::format(
      "{} of {} slow samples ({}) came with {}; of the others {}", exposed_tail, slow,
      percent(share_of(exposed_tail, slow)), exposure_phrase(cause.name, cause.threshold),
      others == 0 ? "there are none" : percent(share_of(exposed_body, others)));
  finding.evidence = tail_evidence(tail);
  const std::pair<std::string, Json> figures[] = {
      {"exposed_slow", exposed_tail},
      {"exposed_others", exposed_body},
      {"unexposed_slow", unexposed_tail},
      {"unexposed_others", unexposed_body},
      {"share", cause.share},
      {"odds_ratio", cause.odds.estimate},
      {"odds_ratio_low", cause.odds.lower},
      {"odds_ratio_high", cause.odds.upper},
      {"p", cause.p},
      {"p_holm", cause.p_holm},
      {"covariates_tested", tail.diagnosis.exposures.tested.size()}};
  finding.evidence.insert(finding.evidence.end(), std::begin(figures), std::end(figures));
  if (!same.empty()) finding.evidence.emplace_back("same_samples", std::move(same));
  JsonObject threshold = tail_threshold(tail);
  threshold.emplace_back("exposed_above", cause.threshold);
  threshold.emplace_back("p_holm_below", kClaimP);
  threshold.emplace_back("share_at_least", kClaimShare);
  finding.threshold = std::move(threshold);
  std::vector<bool> gone(tail.samples.latency_ns.size(), false);
  for (const std::int64_t sample : tail.diagnosis.samples) {
    const auto i = static_cast<std::size_t>(sample);
    gone[i] = tail.covariates[cause.index].values[i] > cause.threshold;
  }
  finding.gain = gain_without(tail, gone);
  finding.advice = advice_against(cause.name);
  return finding;
}

std::vector<Finding> cause_findings(const Tail& tail) {
  std::vector<Finding> findings;
  const Exposures& exposures = tail.diagnosis.exposures;
  for (const std::size_t index :
       ranked_causes(exposures, tail.covariates, tail.diagnosis.samples)) {
    const TestedCovariate& cause = exposures.tested[index];
    JsonArray same;
    for (const std::size_t other : exposures.claimed) {
      if (other != index &&
          looks_like(exposures.tested[other], cause, tail.covariates, tail.diagnosis.samples)) {
        same.emplace_back(exposures.tested[other].name);
      }
    }
    findings.push_back(cause_finding(tail, cause, std::move(same)));
  }
  return findings;
}

// Where the slow samples lose their time.
struct StageShare {
  Stage stage = Stage::kUnattributed;
  double of_excess = 0;  // of what the slow samples take longer than the median
  double of_median = 0;  // of a usual request
  double median_ns = 0;
};

std::vector<StageShare> stage_shares(const Tail& tail) {
  const std::vector<std::int64_t>& slow = tail.diagnosis.samples;
  const auto excess_of = [&](const std::vector<std::int64_t>& values, double median) {
    double sum = 0;
    for (const std::int64_t value : picked(values, slow))
      sum += static_cast<double>(value) - median;
    return sum;
  };
  const double median_ns = median_of(tail.samples.latency_ns);
  const double excess_ns = excess_of(tail.samples.latency_ns, median_ns);
  std::vector<StageShare> shares;
  for (const result::StageSamples& stage : tail.samples.stages) {
    if (stage.times_ns.size() != tail.samples.latency_ns.size() || excess_ns <= 0) continue;
    const double usual_ns = median_of(stage.times_ns);
    shares.push_back({.stage = stage.stage,
                      .of_excess = excess_of(stage.times_ns, usual_ns) / excess_ns,
                      .of_median = median_ns > 0 ? usual_ns / median_ns : 0,
                      .median_ns = usual_ns});
  }
  std::ranges::sort(shares, [](const StageShare& a, const StageShare& b) {
    return a.of_excess != b.of_excess ? a.of_excess > b.of_excess : a.stage < b.stage;
  });
  return shares;
}

// A stage that carries most of the excess and more of it than of a usual request: where everything
// slows down alike, the largest stage says nothing. The unattributed rest is no place to look.
std::optional<Finding> stage_finding(const Tail& tail, const std::vector<StageShare>& shares) {
  if (shares.empty() || std::ssize(tail.diagnosis.samples) < kTailMin) return std::nullopt;
  const StageShare& first = shares.front();
  if (first.stage == Stage::kUnattributed || first.of_excess < kStageShare ||
      first.of_excess < first.of_median + kStageAbove) {
    return std::nullopt;
  }
  Finding finding;
  const std::string name(name_of(first.stage));
  finding.id = "tail.stage." + name;
  finding.message = fmt::format(
      "{} carries {} of what the {} slow samples take longer than the median; of a usual request "
      "it is {}",
      name, percent(first.of_excess), tail.diagnosis.samples.size(), percent(first.of_median));
  finding.evidence = tail_evidence(tail);
  JsonObject of_excess;
  for (const StageShare& one : shares) {
    of_excess.emplace_back(std::string(name_of(one.stage)), one.of_excess);
  }
  finding.evidence.emplace_back("share_of_excess", std::move(of_excess));
  finding.evidence.emplace_back("share_of_median", first.of_median);
  JsonObject threshold = tail_threshold(tail);
  threshold.emplace_back("share_of_excess_at_least", kStageShare);
  threshold.emplace_back("above_share_of_median_by", kStageAbove);
  finding.threshold = std::move(threshold);

  const auto& times_ns =
      std::ranges::find(tail.samples.stages, first.stage, &result::StageSamples::stage)->times_ns;
  std::vector<std::int64_t> mended = tail.samples.latency_ns;
  for (const std::int64_t sample : tail.diagnosis.samples) {
    const auto i = static_cast<std::size_t>(sample);
    mended[i] -= std::llround(std::max(0.0, static_cast<double>(times_ns[i]) - first.median_ns));
  }
  finding.gain =
      JsonObject{{"p99_ns", tail.p99_ns}, {"p99_without_ns", percentile(std::move(mended), 99)}};
  finding.advice = fmt::format(
      "look at what is special about the slow requests in {}: their inputs first, then what else "
      "that stage waits for",
      name);
  return finding;
}

/// The slow samples that lose at least half as much as the slowest tenth of them: a stall stands
/// out from the chance outliers of a machine.
std::vector<std::int64_t> slowest_samples(const Tail& tail) {
  const double median_ns = median_of(tail.samples.latency_ns);
  const auto slowest =
      static_cast<double>(percentile(picked(tail.samples.latency_ns, tail.diagnosis.samples), 90));
  std::vector<std::int64_t> samples;
  for (const std::int64_t sample : tail.diagnosis.samples) {
    const auto ns = static_cast<double>(tail.samples.latency_ns[static_cast<std::size_t>(sample)]);
    if (ns - median_ns >= (slowest - median_ns) / 2) samples.push_back(sample);
  }
  return samples;
}

std::optional<Finding> periodic_finding(const Tail& tail) {
  std::vector<std::int64_t> samples = tail.diagnosis.samples;
  std::optional<Period> found = tail.diagnosis.period;
  if (!found) {
    samples = slowest_samples(tail);
    found = period_of(samples);
  }
  if (!found) return std::nullopt;
  const Period& period = *found;
  const std::size_t gaps = samples.size() - 1;
  Finding finding;
  finding.id = "tail.periodic";
  finding.message = fmt::format(
      "one sample in {0} is slow, at regular distances: {1} of {2} gaps between slow samples are "
      "within 1 of {0}",
      period.samples, period.gaps_close, gaps);
  finding.evidence = tail_evidence(tail);
  finding.evidence.emplace_back("period_samples", period.samples);
  finding.evidence.emplace_back("gaps_close", period.gaps_close);
  finding.evidence.emplace_back("gaps", gaps);
  JsonObject threshold = tail_threshold(tail);
  threshold.emplace_back("gaps_close_share_at_least", kPeriodicShare);
  finding.threshold = std::move(threshold);
  std::vector<bool> gone(tail.samples.latency_ns.size(), false);
  for (const std::int64_t sample : samples) gone[static_cast<std::size_t>(sample)] = true;
  finding.gain = gain_without(tail, gone);
  finding.advice = fmt::format(
      "look for what happens once in {} requests: one of as many inputs, a collection of garbage, "
      "a buffer that fills, a log that is flushed",
      period.samples);
  return finding;
}

// The share of the extra time that the processors worked; nothing where it was not recorded.
std::optional<double> processor_share(const Tail& tail) {
  const auto& covariates = tail.samples.covariates;
  const auto found = std::ranges::find(covariates, kProcessorTime, &result::CovariateSamples::name);
  if (found == covariates.end() || found->values.size() != tail.samples.latency_ns.size()) {
    return std::nullopt;
  }
  const auto excess = [&](const auto& values) {
    return median_of(picked(values, tail.diagnosis.samples)) - median_of(values);
  };
  const double excess_ns = excess(tail.samples.latency_ns);
  if (excess_ns <= 0) return std::nullopt;
  return excess(found->values) / excess_ns;
}

std::string what_is_left(const Tail& tail, const std::vector<Finding>& causes) {
  const std::size_t slow = tail.diagnosis.samples.size();
  const std::size_t tested = tail.diagnosis.exposures.tested.size();
  if (std::ssize(tail.diagnosis.samples) < kTailMin) {
    return fmt::format("{} slow {} too few to say why: {} are needed", slow,
                       slow == 1 ? "sample is" : "samples are", kTailMin);
  }
  if (!causes.empty()) {
    return fmt::format("{} of the {} slow samples are not explained by what is named before",
                       percent(tail.diagnosis.exposures.unexplained_share), slow);
  }
  if (tested == 0) {
    return fmt::format("nothing was recorded beside the {} slow samples that varies", slow);
  }
  return fmt::format("none of the {} covariates tested goes with the {} slow samples", tested,
                     slow);
}

std::optional<Finding> unexplained_finding(const Tail& tail, const std::vector<Finding>& causes,
                                           const std::vector<StageShare>& shares) {
  const double left = tail.diagnosis.exposures.unexplained_share;
  if (left < kLeft) return std::nullopt;
  Finding finding;
  finding.id = "tail.unexplained";
  finding.message = what_is_left(tail, causes);
  finding.evidence = tail_evidence(tail);
  finding.evidence.emplace_back("unexplained_share", left);
  finding.evidence.emplace_back("covariates_tested", tail.diagnosis.exposures.tested.size());
  JsonObject threshold = tail_threshold(tail);
  threshold.emplace_back("slow_samples_at_least", kTailMin);
  threshold.emplace_back("unexplained_share_at_least", kLeft);
  finding.threshold = std::move(threshold);
  if (std::ssize(tail.diagnosis.samples) < kTailMin) {
    finding.advice = "take more samples (--samples)";
    return finding;
  }
  finding.advice = "record what the machine does meanwhile (perf sched record, perf trace)";
  if (!shares.empty() && shares.front().of_excess >= kStageShare) {
    finding.message +=
        fmt::format("; {} of their extra time is in {}", percent(shares.front().of_excess),
                    name_of(shares.front().stage));
  }
  if (const std::optional<double> worked = processor_share(tail)) {
    finding.evidence.emplace_back("processor_share_of_excess", *worked);
    const bool computed = *worked >= kMostly;
    finding.message += computed ? "; they computed longer" : "; they did not compute longer";
    finding.advice = computed
                         ? "compare the inputs of the slow requests with others, and record the "
                           "processor (perf record)"
                         : "see what the threads wait for (perf sched timehist, strace -f -T)";
  }
  return finding;
}

/// Waits are totals of microseconds: a request that takes longer for another reason collects more
/// of them. One that does not amount to a tenth of the extra time is its companion, not its cause.
bool is_too_short(const Covariate& covariate, const result::Samples& samples,
                  std::span<const std::int64_t> slow) {
  if (!covariate.name.ends_with("_us") || covariate.values.size() != samples.latency_ns.size()) {
    return false;
  }
  const double extra_ns =
      median_of(picked(samples.latency_ns, slow)) - median_of(samples.latency_ns);
  std::vector<double> waits_us;
  for (const std::int64_t sample : slow) {
    const double wait_us = covariate.values[static_cast<std::size_t>(sample)];
    if (wait_us > 0) waits_us.push_back(wait_us);
  }
  return 1000 * median_of(std::move(waits_us)) < kWaitShareMin * extra_ns;
}

}  // namespace

std::string percent(double share) {
  const double hundredths = 100 * share;
  if (share > 0 && share < 0.005) return "under 0.5%";
  if (share < 1 && share > 0.995) return "over 99.5%";
  return fmt::format("{:.0f}%", hundredths);
}

std::vector<Covariate> possible_causes(const result::Samples& samples) {
  std::vector<Covariate> causes;
  for (const result::CovariateSamples& covariate : samples.covariates) {
    if (covariate.name == kProcessorTime || covariate.name == kProcessor) continue;
    causes.push_back({.name = covariate.name, .values = covariate.values});
  }
  return causes;
}

std::vector<std::size_t> ranked_causes(const Exposures& exposures,
                                       std::span<const Covariate> covariates,
                                       std::span<const std::int64_t> slow) {
  std::vector<std::size_t> ranked = exposures.claimed;
  if (ranked.empty()) return ranked;
  const TestedCovariate& first = exposures.tested[ranked.front()];
  // A probe marks half of all samples whatever it shows, so how much slower it was must tell:
  // hardly, and it is the least specific; and of two probes the slower one is meant.
  const auto place = [&](std::size_t index) {
    const TestedCovariate& one = exposures.tested[index];
    if (!is_probe(one.name)) return std::pair(specificity(one.name), 0.0);
    const double slower = slower_in_tail(covariates[one.index], one.threshold, slow);
    return slower >= kProbeSlower ? std::pair(specificity("memory_probe_ns"), -slower)
                                  : std::pair(least_specificity(), -slower);
  };
  auto best = ranked.begin();
  for (auto candidate = ranked.begin(); candidate != ranked.end(); ++candidate) {
    if (looks_like(exposures.tested[*candidate], first, covariates, slow) &&
        place(*candidate) < place(*best)) {
      best = candidate;
    }
  }
  std::rotate(ranked.begin(), best, best + 1);
  return ranked;
}

std::optional<TailDiagnosis> diagnose(const result::Samples& samples,
                                      std::vector<Covariate>& covariates) {
  covariates = possible_causes(samples);
  std::optional<TailDiagnosis> diagnosis = diagnose_tail(samples.latency_ns, covariates);
  if (!diagnosis) return diagnosis;
  const std::size_t recorded = covariates.size();
  std::erase_if(covariates, [&](const Covariate& covariate) {
    return is_too_short(covariate, samples, diagnosis->samples);
  });
  if (covariates.size() < recorded) diagnosis = diagnose_tail(samples.latency_ns, covariates);
  return diagnosis;
}

TailFindings find_tail(const result::Samples& samples) {
  TailFindings findings;
  std::vector<Covariate> covariates;
  std::optional<TailDiagnosis> diagnosis = diagnose(samples, covariates);
  if (!diagnosis) return findings;
  const Tail tail{.samples = samples,
                  .covariates = std::move(covariates),
                  .diagnosis = std::move(*diagnosis),
                  .p50_ns = percentile(samples.latency_ns, 50),
                  .p99_ns = percentile(samples.latency_ns, 99)};
  const std::vector<StageShare> shares = stage_shares(tail);
  findings.causes = cause_findings(tail);
  findings.mostly_explained =
      !findings.causes.empty() && tail.diagnosis.exposures.unexplained_share <= kMostly;
  findings.stage = stage_finding(tail, shares);
  findings.periodic = periodic_finding(tail);
  findings.unexplained = unexplained_finding(tail, findings.causes, shares);
  return findings;
}

}  // namespace vivace::analyze
