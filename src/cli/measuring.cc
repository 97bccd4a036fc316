#include "cli/measuring.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analyze/explain.h"
#include "core/text.h"
#include "core/units.h"

namespace vivace::cli {
namespace {

/// With a goal the samples end by it or by time; without one at the number asked for.
constexpr std::int64_t kSamplesWithGoal = 10'000'000;

tl::unexpected<Error> wrong_goal(std::string_view text, std::string advice) {
  return fail(ErrorCode::kUsage, {.what = "--until cannot be read",
                                  .expected = "ci=SHARE@PERCENTILE or verdict",
                                  .got = quote(text),
                                  .advice = std::move(advice)});
}

Result<load::WidthGoal> width_goal_of(std::string_view text) {
  const std::string_view rest = text.substr(3);
  const auto at = rest.find('@');
  if (at == std::string_view::npos) return wrong_goal(text, "example: --until ci=2%@p99");
  const auto width = parse_share(rest.substr(0, at));
  const auto p = stats::parse_percentile(rest.substr(at + 1));
  if (!width || *width <= 0) return wrong_goal(text, "the share is above 0 and at most 100%");
  if (!p) return wrong_goal(text, "a percentile is p50, p99, p99.9 ...");
  return load::WidthGoal{.p = *p, .half_width = *width};
}

Result<std::vector<stats::Probability>> percentiles_of(const Arguments& arguments) {
  std::vector<stats::Probability> percentiles;
  for (const std::string& text : arguments.list("percentiles")) {
    VIVACE_TRY(const stats::Probability p, stats::parse_percentile(text));
    if (std::find(percentiles.begin(), percentiles.end(), p) == percentiles.end()) {
      percentiles.push_back(p);
    }
  }
  return percentiles;
}

load::MeasureHooks hooks_of(Console& console) {
  load::MeasureHooks hooks;
  hooks.stop = &console.interrupted();
  hooks.progress = [&console](const char* phase, std::int64_t done, std::int64_t planned,
                              double left_s) {
    console.progress(phase, static_cast<double>(done) / static_cast<double>(planned), left_s);
  };
  return hooks;
}

bool is_asynchronous(const result::Document& document) {
  return std::any_of(document.caveats.begin(), document.caveats.end(),
                     [](const result::Caveat& caveat) { return caveat.id == "async_system"; });
}

}  // namespace

Result<stats::Probability> confidence_of(const Arguments& arguments) {
  std::string text = arguments.value("confidence");
  const bool percent = text.ends_with('%');
  if (percent) text.pop_back();
  while (text.ends_with(' ')) text.pop_back();
  auto confidence = percent ? stats::parse_percentile(text) : stats::parse_probability(text);
  if (!confidence || confidence->value() < 0.5) {
    return fail(ErrorCode::kUsage, {.what = "--confidence cannot be used",
                                    .expected = "a share from 50% to below 100%, such as 95%",
                                    .got = quote(arguments.value("confidence")),
                                    .advice = {}});
  }
  return *confidence;
}

Result<MeasureOrder> measure_order(const Arguments& arguments) {
  MeasureOrder order;
  order.plan.warm_up = arguments.count("warmup");
  order.plan.samples = arguments.count("samples");
  order.plan.duration_ns = arguments.duration_ns("duration");
  order.plan.seed = static_cast<std::uint64_t>(arguments.count("seed"));
  VIVACE_TRY(order.percentiles, percentiles_of(arguments));
  VIVACE_TRY(order.confidence, confidence_of(arguments));
  order.plan.confidence = order.confidence;
  const auto& flags = arguments.verb().flags;
  if (std::find(flags.begin(), flags.end(), "until") == flags.end()) return order;
  if (arguments.given("slo")) {
    auto level = load::parse_service_level(arguments.value("slo"));
    if (!level) return tl::unexpected(with_context(std::move(level).error(), "--slo"));
    order.level = std::move(*level);
  }
  for (const std::string& goal : arguments.list("until")) {
    if (goal == "verdict") {
      if (!order.level) return wrong_goal(goal, "--until verdict needs --slo");
      order.plan.verdict_goal = load::VerdictGoal{
          .p = order.level->p, .limit_ns = order.level->limit_ns, .confidence = order.confidence};
    } else if (goal.starts_with("ci=")) {
      VIVACE_TRY(order.plan.width_goal, width_goal_of(goal));
    } else {
      return wrong_goal(goal, "example: --until ci=2%@p99");
    }
  }
  if (arguments.given("until") && !arguments.given("samples")) {
    order.plan.samples = kSamplesWithGoal;
  }
  return order;
}

Result<std::vector<result::Document>> measure_subjects(std::span<Subject> subjects,
                                                       const MeasureOrder& order,
                                                       Console& console) {
  console.note(fmt::format("measuring: {} requests to warm up, then up to {} or {}",
                           order.plan.warm_up, order.plan.samples,
                           format_duration(static_cast<double>(order.plan.duration_ns))));
  std::vector<load::Subject> measured;
  for (const Subject& subject : subjects) {
    measured.push_back({.system = subject.system.get(), .label = subject.head.input.name});
  }
  VIVACE_TRY(std::vector<load::Measurement> measurements,
             load::measure_side_by_side(measured, order.plan, hooks_of(console)));
  console.end_progress();
  std::vector<result::Document> documents;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    result::Document document = std::move(subjects[i].head);
    load::fill_document(std::move(measurements[i]), subjects[i].load_ns, order.percentiles,
                        order.confidence, document);
    if (is_asynchronous(document)) {
      document.summary.reset();
    } else if (order.level && document.summary) {
      // Sampling that stopped on a verdict is judged by the test that it stopped on.
      const auto judge = order.plan.verdict_goal ? load::judge_at_any_time : load::judge;
      document.verdicts.push_back(
          judge(*order.level, document.samples.latency_ns, order.confidence));
    }
    document.findings = analyze::explain(document);
    documents.push_back(std::move(document));
  }
  return documents;
}

}  // namespace vivace::cli
