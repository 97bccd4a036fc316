#include "load/service_level.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/text.h"
#include "core/units.h"
#include "stats/dependence.h"
#include "stats/sequential.h"
#include "stats/service_level.h"

namespace vivace::load {
namespace {

std::string time_text(std::int64_t ns) { return format_duration(static_cast<double>(ns)); }

/// How many samples the level was judged on, and how many of them exceed it: as they are, or as so
/// many independent ones are worth.
struct Counts {
  std::int64_t n = 0;
  std::int64_t over = 0;
  double n_eff = 0;
  std::int64_t judged_n = 0;
  std::int64_t judged_over = 0;
};

Counts count(const ServiceLevel& level, std::span<const std::int64_t> latency_ns) {
  Counts counts;
  counts.n = static_cast<std::int64_t>(latency_ns.size());
  counts.over = std::count_if(latency_ns.begin(), latency_ns.end(),
                              [&](std::int64_t x) { return x > level.limit_ns; });
  counts.n_eff = static_cast<double>(counts.n);
  counts.judged_n = counts.n;
  counts.judged_over = counts.over;
  if (counts.n == 0) return counts;
  std::vector<std::int64_t> sorted(latency_ns.begin(), latency_ns.end());
  std::sort(sorted.begin(), sorted.end());
  const stats::EffectiveSize size = stats::effective_size(latency_ns, sorted, level.p);
  if (size.tau <= 1) return counts;
  counts.n_eff = size.n_eff;
  counts.judged_n = size.m;
  // ceil(t m/n): rounding never makes the system look better.
  counts.judged_over =
      static_cast<std::int64_t>((stats::Int128{counts.over} * size.m + counts.n - 1) / counts.n);
  return counts;
}

result::Verdict verdict_of(const ServiceLevel& level, const Counts& counts,
                           const stats::Probability& confidence) {
  result::Verdict verdict;
  verdict.id = "slo";
  verdict.target = level.text;
  verdict.n = counts.n;
  verdict.over = counts.over;
  verdict.n_eff = counts.n_eff;
  verdict.confidence = confidence;
  verdict.message =
      fmt::format("{} of {} samples exceed {}", counts.over, counts.n, time_text(level.limit_ns));
  if (counts.judged_n != counts.n) {
    verdict.message +=
        fmt::format(", judged as {} of {} independent ones", counts.judged_over, counts.judged_n);
  }
  return verdict;
}

/// What MLPerf's early stopping makes of the samples as they are.
std::string mlperf_text(const ServiceLevel& level, std::span<const std::int64_t> latency_ns,
                        const stats::Probability& confidence) {
  const auto n = static_cast<std::int64_t>(latency_ns.size());
  const auto discarded = stats::early_stopping_discards(n, level.p, confidence);
  if (!discarded) return fmt::format("MLPerf's estimate of {} needs more samples", level.p.label());
  std::vector<std::int64_t> sorted(latency_ns.begin(), latency_ns.end());
  std::sort(sorted.begin(), sorted.end());
  return fmt::format("MLPerf's early-stopping estimate of {} is {}", level.p.label(),
                     time_text(sorted[static_cast<std::size_t>(n - *discarded - 1)]));
}

std::string advice_of(const result::Verdict& verdict, stats::LevelVerdict outcome) {
  if (outcome == stats::LevelVerdict::kFail) {
    return "see the stages and `vivace explain` for where the time goes";
  }
  if (outcome != stats::LevelVerdict::kInconclusive) return "";
  return fmt::format(
      "take about {} more samples (as many as would decide it if all were within the limit)",
      verdict.further_samples.value_or(0));
}

}  // namespace

Result<ServiceLevel> parse_service_level(std::string_view text) {
  const auto wrong = [&](std::string advice) {
    return fail(ErrorCode::kUsage, {.what = "not a service level",
                                    .expected = "a percentile and its limit, such as p95<30ms",
                                    .got = quote(text),
                                    .advice = std::move(advice)});
  };
  const auto less = text.find('<');
  if (less == std::string_view::npos) {
    return wrong(text.find('>') == std::string_view::npos ? ""
                                                          : "latencies are held below a limit");
  }
  std::string_view left = text.substr(0, less);
  std::string_view right = text.substr(less + 1);
  if (right.starts_with('=')) right.remove_prefix(1);
  while (left.ends_with(' ')) left.remove_suffix(1);
  while (left.starts_with(' ')) left.remove_prefix(1);
  while (right.starts_with(' ')) right.remove_prefix(1);
  const auto p = stats::parse_percentile(left);
  if (!p) return wrong(p.error().message);
  const auto limit = parse_duration_ns(right);
  if (!limit) return wrong(limit.error().message);
  if (*limit == 0) return wrong("the limit is above 0");
  return ServiceLevel{.p = *p, .limit_ns = *limit, .text = std::string(text)};
}

result::Verdict judge(const ServiceLevel& level, std::span<const std::int64_t> latency_ns,
                      const stats::Probability& confidence) {
  const Counts counts = count(level, latency_ns);
  const stats::LevelJudgement judgement =
      stats::judge_level(counts.judged_n, counts.judged_over, level.p, confidence);
  result::Verdict verdict = verdict_of(level, counts, confidence);
  verdict.verdict = stats::name_of(judgement.verdict);
  if (judgement.verdict != stats::LevelVerdict::kPass) {
    // Further independent samples, as dependent ones.
    const double tau = counts.n == 0
                           ? 1
                           : static_cast<double>(counts.n) /
                                 static_cast<double>(std::max<std::int64_t>(counts.judged_n, 1));
    verdict.further_samples = static_cast<std::int64_t>(std::min(
        9e15, std::ceil(static_cast<double>(judgement.further_clean) * std::max(1.0, tau))));
  }
  if (counts.n > 0) verdict.message += "; " + mlperf_text(level, latency_ns, confidence);
  verdict.advice = advice_of(verdict, judgement.verdict);
  return verdict;
}

result::Verdict judge_at_any_time(const ServiceLevel& level,
                                  std::span<const std::int64_t> latency_ns,
                                  const stats::Probability& confidence) {
  const Counts counts = count(level, latency_ns);
  const stats::LevelVerdict outcome =
      stats::SequentialLevelTest(level.p, confidence).read(counts.judged_n, counts.judged_over);
  result::Verdict verdict = verdict_of(level, counts, confidence);
  verdict.verdict = stats::name_of(outcome);
  verdict.message += ", by a test that may be read at any time";
  if (outcome == stats::LevelVerdict::kInconclusive) verdict.advice = "raise --duration";
  if (outcome == stats::LevelVerdict::kFail) verdict.advice = advice_of(verdict, outcome);
  return verdict;
}

}  // namespace vivace::load
