#include "cli/selftest.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "analyze/explain.h"
#include "core/units.h"
#include "load/measure.h"
#include "load/open_loop.h"
#include "platform/clock.h"
#include "platform/probe.h"
#include "stats/comparison.h"
#include "stats/quantile.h"
#include "stats/summary.h"
#include "system/synthetic_system.h"

namespace vivace::cli {
namespace {

const stats::Probability kP50(5, 10);
const stats::Probability kP95(95, 100);
const stats::Probability kConfidence(95, 100);

/// The same computation again and again, so that its times vary as the machine does.
class FixedWork final : public system::System {
 public:
  explicit FixedWork(int pieces) : pieces_(pieces) {}
  Result<void> prepare() override { return {}; }
  Result<void> run(Recorder& recorder) override {
    const Recorder::Scope scope(recorder, Stage::kContextEncode);
    for (int i = 0; i < pieces_; ++i) (void)platform::spin_probe_ns();
    return {};
  }
  Result<void> finish() override { return {}; }
  std::int64_t items_per_run() const override { return 1; }

 private:
  int pieces_;
};

class Selftest {
 public:
  Selftest(std::uint64_t seed, Console& console) : seed_(seed), console_(console) {}

  Result<SelftestReport> run() {
    using Step = Result<void> (Selftest::*)();
    const std::pair<const char*, Step> steps[] = {{"clock", &Selftest::clock},
                                                  {"known times", &Selftest::known_times},
                                                  {"noise", &Selftest::noise},
                                                  {"planted change", &Selftest::planted_change},
                                                  {"intervals", &Selftest::intervals},
                                                  {"early returns", &Selftest::early_return},
                                                  {"steadiness", &Selftest::unsteadiness},
                                                  {"tails", &Selftest::tails},
                                                  {"stalls", &Selftest::stall}};
    double done = 0;
    for (const auto& [name, step] : steps) {
      if (console_.interrupted()) return fail(ErrorCode::kInterrupted, "interrupted");
      console_.progress(name, done / static_cast<double>(std::size(steps)), -1);
      VIVACE_CHECK_OK((this->*step)());
      done += 1;
    }
    console_.end_progress();
    return std::move(report_);
  }

 private:
  enum class About { kInstrument, kMachine };

  void add(std::string id, std::string target, bool passed, About about, std::string message,
           std::string advice) {
    result::Verdict check;
    check.id = "selftest." + std::move(id);
    check.target = std::move(target);
    check.verdict = passed ? "pass" : "fail";
    check.message = std::move(message);
    if (!passed) check.advice = std::move(advice);
    report_.checks.push_back(std::move(check));
    if (!passed) {
      (about == About::kInstrument ? report_.instrument_sound : report_.machine_sound) = false;
    }
  }

  static std::string time(double ns) { return format_duration(ns); }

  load::MeasurePlan plan(std::int64_t samples) const {
    load::MeasurePlan plan;
    plan.samples = samples;
    plan.seed = seed_;
    return plan;
  }

  load::MeasureHooks hooks() const {
    load::MeasureHooks hooks;
    hooks.stop = &console_.interrupted();
    return hooks;
  }

  /// Measures a synthetic system, written as its parameters.
  Result<load::Measurement> measure(std::string_view parameters, std::int64_t samples,
                                    std::uint64_t seed) {
    VIVACE_TRY(system::SyntheticSpec spec, system::parse_synthetic(parameters));
    system::SyntheticSystem system(std::move(spec), seed, 1);
    return load::measure(system, plan(samples), hooks());
  }

  Result<result::Document> document(std::string_view parameters, std::int64_t samples) {
    VIVACE_TRY(load::Measurement measurement, measure(parameters, samples, seed_));
    result::Document document;
    load::fill_document(std::move(measurement), 0, stats::default_percentiles(), kConfidence,
                        document);
    document.findings = analyze::explain(document);
    return document;
  }

  Result<void> clock() {
    const platform::ClockFacts facts = platform::calibrate_clock();
    add("clock", "a reading costs at most 1 us", facts.cost_ns <= 1000, About::kMachine,
        fmt::format("resolution {}, one reading costs {}",
                    time(static_cast<double>(facts.resolution_ns)),
                    time(static_cast<double>(facts.cost_ns))),
        "the kernel reads a slow clock source; see "
        "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    return {};
  }

  /// A wait of 1 ms has to be reported as one.
  Result<void> known_times() {
    VIVACE_TRY(const load::Measurement measurement, measure("mean=1ms", 300, seed_));
    const auto summary =
        stats::summarize(measurement.samples.latency_ns, stats::default_percentiles(), kConfidence);
    const double error_ns = static_cast<double>(summary.percentiles[0].value_ns) - 1e6;
    const double p99_ns = static_cast<double>(summary.percentiles[3].value_ns) - 1e6;
    add("known_time", "1 ms reported within 1%", std::abs(error_ns) <= 1e4, About::kMachine,
        fmt::format("the median is off by {}, P99 by {}: the latter is what this machine adds to "
                    "the slowest of a hundred",
                    time(error_ns), time(p99_ns)),
        "something takes the CPU away all the time: stop it, or measure elsewhere");
    add("overhead", "covariates cost at most 5 us a sample", measurement.usage_cost_ns <= 5000,
        About::kMachine,
        fmt::format("{} at each sample, outside of its stamps; {} between samples",
                    time(measurement.usage_cost_ns), time(measurement.surroundings_cost_ns)),
        "system calls are slow here (a sandbox, a tracer); long requests do not mind");
    return {};
  }

  Result<std::vector<double>> pairs(int pieces_a, int pieces_b, std::int64_t count) {
    FixedWork a(pieces_a);
    FixedWork b(pieces_b);
    const load::Subject subjects[] = {{.system = &a, .label = "a"}, {.system = &b, .label = "b"}};
    VIVACE_TRY(const auto results, load::measure_side_by_side(subjects, plan(count), hooks()));
    const auto& of_a = results[0].samples.latency_ns;
    const auto& of_b = results[1].samples.latency_ns;
    std::vector<double> ratios;
    ratios.reserve(of_a.size());
    for (std::size_t i = 0; i < of_a.size(); ++i) {
      ratios.push_back(std::log(static_cast<double>(of_b[i]) / static_cast<double>(of_a[i])));
    }
    return ratios;
  }

  static constexpr int kPieces = 100;
  static constexpr std::int64_t kPairs = 400;

  /// The same work against itself: no change may be seen, and how small a one could be.
  Result<void> noise() {
    VIVACE_TRY(const std::vector<double> ratios, pairs(kPieces, kPieces, kPairs));
    if (ratios.empty()) return fail(ErrorCode::kInterrupted, "interrupted");
    const stats::Shift shift = stats::paired_shift(ratios, kConfidence, 0.02);
    const double half_width = shift.lower && shift.upper ? (*shift.upper - *shift.lower) / 2 : 1;
    // For a power of 80%: (1.96 + 0.84)/1.96 half-widths.
    resolvable_ = 1.43 * half_width;
    const bool alarm =
        shift.change == stats::Change::kRegressed || shift.change == stats::Change::kImproved;
    add("noise", "the same work twice: no change beyond 2%", !alarm, About::kMachine,
        fmt::format("changed by {:+.2f}% \u00b1 {:.2f}% over {} pairs", 100 * shift.estimate,
                    100 * half_width, ratios.size()),
        "the machine favours one of two equal programs; repeat on a quieter one");
    const double per_root = resolvable_ * std::sqrt(static_cast<double>(ratios.size()));
    add("resolution", "a change of 2% can be seen with 400 pairs", resolvable_ <= 0.02,
        About::kMachine,
        fmt::format("smallest change seen in 4 of 5 runs: {:.2f}% with 40 pairs, {:.2f}% with 100, "
                    "{:.2f}% with 400",
                    100 * per_root / std::sqrt(40.0), 100 * per_root / 10, 100 * per_root / 20),
        "take more pairs, or measure on a quieter machine");
    return {};
  }

  /// Work that really grew has to be found.
  Result<void> planted_change() {
    // Far above what can be resolved, so that chance plays no part.
    const int more = std::max(5, static_cast<int>(std::ceil(3 * resolvable_ * kPieces)));
    VIVACE_TRY(const std::vector<double> ratios, pairs(kPieces, kPieces + more, kPairs / 2));
    if (ratios.empty()) return fail(ErrorCode::kInterrupted, "interrupted");
    const stats::Shift shift = stats::paired_shift(ratios, kConfidence, 0);
    add("planted_change", fmt::format("{}% more work is found", more),
        shift.change == stats::Change::kRegressed, About::kMachine,
        fmt::format("changed by {:+.2f}%: {}", 100 * std::expm1(shift.estimate),
                    stats::name_of(shift.change)),
        "the machine is too noisy for comparisons now");
    return {};
  }

  /// Intervals have to hold the truth: simulated, so that the truth is known.
  Result<void> intervals() {
    constexpr int kRuns = 200;
    constexpr std::string_view kSystem =
        "mean=10ms,noise=20%,tail=2%x4,autocorrelation=0.5,clock=virtual";
    VIVACE_TRY(const system::SyntheticSpec spec, system::parse_synthetic(kSystem));
    int held = 0;
    for (int i = 0; i < kRuns; ++i) {
      VIVACE_TRY(const load::Measurement measurement,
                 measure(kSystem, 400, seed_ + static_cast<std::uint64_t>(i)));
      const stats::Probability percentiles[] = {kP50, kP95};
      const auto summary =
          stats::summarize(measurement.samples.latency_ns, percentiles, kConfidence);
      for (const auto& estimate : summary.percentiles) {
        const double truth = system::true_quantile_ns(spec, estimate.p.value()).value_or(0);
        const bool above = !estimate.lower_ns || static_cast<double>(*estimate.lower_ns) <= truth;
        const bool below = !estimate.upper_ns || truth <= static_cast<double>(*estimate.upper_ns);
        held += above && below ? 1 : 0;
      }
    }
    // 95% less four standard errors.
    const double share = static_cast<double>(held) / (2 * kRuns);
    add("coverage", "95% intervals hold the true percentile", share >= 0.906, About::kInstrument,
        fmt::format("{:.1f}% of {} intervals of P50 and P95 did", 100 * share, 2 * kRuns),
        "please report it");
    return {};
  }

  Result<void> early_return() {
    VIVACE_TRY(const load::Measurement early, measure("async=80%,clock=virtual", 100, seed_));
    VIVACE_TRY(const load::Measurement whole, measure("clock=virtual", 100, seed_));
    add("async", "a call that returns early is found",
        early.completion.asynchronous && !whole.completion.asynchronous, About::kInstrument,
        fmt::format("work left after the call: {:.0f}% of its time",
                    100 * early.completion.excess_share),
        "please report it");
    return {};
  }

  Result<void> unsteadiness() {
    VIVACE_TRY(const auto drift, document("noise=2%,drift=30%,clock=virtual", 500));
    VIVACE_TRY(const auto step, document("noise=2%,step=20%@300,clock=virtual", 500));
    VIVACE_TRY(const auto warm, document("noise=2%,warmup=50%@80,clock=virtual", 500));
    VIVACE_TRY(const auto quiet, document("noise=2%,clock=virtual", 500));
    const auto class_of = [](const result::Document& one) {
      return one.summary && one.summary->steadiness ? one.summary->steadiness->name : "none";
    };
    const std::int64_t discarded = warm.phases.warm_up.discarded;
    const bool passed = class_of(drift) != "steady" && class_of(step) == "slow-down" &&
                        class_of(quiet) == "steady" && discarded >= 75 && discarded <= 110;
    add("steadiness", "drift, a step and a warm-up are told from a steady series", passed,
        About::kInstrument,
        fmt::format("drift: {}; step: {}; quiet: {}; {} runs of a warm-up of 80 discarded",
                    class_of(drift), class_of(step), class_of(quiet), discarded),
        "please report it");
    return {};
  }

  Result<void> tails() {
    VIVACE_TRY(const auto periodic, document("noise=2%,period=50x5,clock=virtual", 1000));
    VIVACE_TRY(const auto quiet, document("noise=2%,clock=virtual", 1000));
    const std::string first =
        periodic.findings.empty() ? std::string("nothing") : periodic.findings.front().id;
    const bool named = std::any_of(periodic.findings.begin(), periodic.findings.end(),
                                   [](const auto& one) { return one.id == "tail.periodic"; });
    add("tail", "a stall of every 50th request is named, and nothing on a quiet series",
        named && quiet.findings.empty(), About::kInstrument,
        fmt::format("first finding: {}; on a quiet series: {} findings", first,
                    quiet.findings.size()),
        "please report it");
    return {};
  }

  Result<void> stall() {
    const auto intended = load::constant_schedule(1000, 100);
    std::vector<std::int64_t> service(1000, 5'000'000);
    service[300] = 1'000'000'000;
    const auto open = load::account(load::serve_in_order(intended, service, 1), 1);
    const auto p99 = [](std::vector<std::int64_t> values) {
      std::sort(values.begin(), values.end());
      return static_cast<double>(stats::percentile_value(values, stats::Probability(99, 100)));
    };
    add("stall", "a stall of 1 s shows from the intended send times",
        p99(open.response_ns) > 5e8 && open.little_difference < 0.05, About::kInstrument,
        fmt::format("P99 {} as users meet it, {} as a waiting caller would report it",
                    time(p99(open.response_ns)), time(p99(open.service_ns))),
        "please report it");
    return {};
  }

  std::uint64_t seed_;
  Console& console_;
  double resolvable_ = 1;
  SelftestReport report_;
};

}  // namespace

Result<SelftestReport> run_selftest(std::uint64_t seed, Console& console) {
  return Selftest(seed, console).run();
}

}  // namespace vivace::cli
