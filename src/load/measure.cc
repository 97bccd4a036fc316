#include "load/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>

#include "core/check.h"
#include "core/random.h"
#include "load/goals.h"
#include "load/sampling.h"
#include "platform/probe.h"
#include "platform/surroundings.h"
#include "stats/warm_up.h"

namespace vivace::load {
namespace {

constexpr int kQuietWindowMs = 200;
/// Growing beyond happens between requests, outside of their stamps.
constexpr std::int64_t kReservedMax = 1'000'000;
/// What is read between samples takes at most this share of a run.
constexpr double kSurroundingsShareMax = 0.10;
/// The first requests are all looked at for work left undone, later ones now and then.
constexpr std::int64_t kCompletionChecks = 20;
constexpr double kExcessShareMax = 0.05;
/// A scheduler's tick is at most as long: see untold_cpu_ns().
constexpr std::int64_t kIdleWaitNsMin = 10'000'000;
constexpr std::int64_t kIdleWaitNsMax = 50'000'000;

platform::Usage operator-(const platform::Usage& a, const platform::Usage& b) {
  return {a.cpu_ns - b.cpu_ns, a.voluntary_switches - b.voluntary_switches,
          a.involuntary_switches - b.involuntary_switches, a.minor_faults - b.minor_faults,
          a.major_faults - b.major_faults};
}

/// Of the CPU time of another process, what may be told only after its reply. The kernel adds up
/// the time of a thread that goes on running at each tick (kernel/sched/fair.c, update_curr), so
/// the last stretch of the request itself can come late: a tick, or the request where it is
/// shorter, for each thread that was at work. (The clocks called coarse go by the tick.)
std::int64_t untold_cpu_ns(const Sample& sample) {
  timespec tick{};
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  const std::int64_t threads =
      1 + std::max<std::int64_t>(sample.usage.cpu_ns, 0) / sample.latency_ns;
  return threads * std::min<std::int64_t>(tick.tv_nsec, sample.latency_ns);
}

/// What reading the covariates of one sample costs.
double calibrate_usage_ns(system::System& system) {
  constexpr int kReadings = 50;
  const std::int64_t start = platform::now_ns();
  for (int i = 0; i < kReadings; ++i) {
    (void)system.usage();
    (void)platform::current_cpu();
  }
  return static_cast<double>(platform::now_ns() - start) / kReadings;
}

bool stopped(const MeasureHooks& hooks) {
  return hooks.stop != nullptr && hooks.stop->load(std::memory_order_relaxed);
}

/// Reads what surrounds the samples, as differences from the reading before.
class SurroundingsMeter {
 public:
  SurroundingsMeter() : totals_(reader_.read()) {}

  const platform::SurroundingTotals& known() const { return totals_; }

  SurroundingsReading read() {
    SurroundingsReading reading;
    const platform::SurroundingTotals now = reader_.read();
    for (std::size_t i = 0; i < now.size(); ++i) {
      // Some hypervisors let the steal counter run backwards.
      const auto& before = totals_[i];
      const auto& after = now[i];
      if (before && after) reading.change[i] = std::max<std::int64_t>(0, *after - *before);
    }
    totals_ = now;
    reading.spin_probe_ns = platform::spin_probe_ns();
    reading.memory_probe_ns = memory_.read_ns();
    return reading;
  }

  /// The median cost of a reading.
  double calibrate_ns() {
    std::array<std::int64_t, 11> costs{};
    for (std::int64_t& cost : costs) {
      const std::int64_t start = platform::now_ns();
      (void)read();
      cost = platform::now_ns() - start;
    }
    std::nth_element(costs.begin(), costs.begin() + costs.size() / 2, costs.end());
    return static_cast<double>(costs[costs.size() / 2]);
  }

 private:
  platform::SurroundingsReader reader_;
  platform::SurroundingTotals totals_;
  platform::MemoryProbe memory_;
};

/// Runs one subject's requests and keeps what they gave.
class Runner {
 public:
  Runner(system::System& system, const MeasurePlan& plan,
         const platform::SurroundingTotals& surroundings)
      : system_(system),
        columns_(static_cast<std::size_t>(std::min(plan.samples, kReservedMax)), system,
                 surroundings) {}

  /// One request whose figures are kept nowhere; returns its latency.
  Result<std::int64_t> discard() {
    Sample sample;
    VIVACE_CHECK_OK(take(sample));
    VIVACE_CHECK_OK(system_.finish());
    return sample.latency_ns;
  }

  Result<void> sample() {
    Sample sample;
    VIVACE_CHECK_OK(take(sample));
    VIVACE_CHECK_OK(check_completion(sample));
    VIVACE_CHECK_OK(system_.finish());
    columns_.add(sample, system_.covariates());
    return {};
  }

  SampleColumns& columns() { return columns_; }
  system::System& system() { return system_; }

  CompletionCheck completion() {
    CompletionCheck check;
    check.by = system_.completion();
    check.runs = static_cast<std::int64_t>(excesses_.size());
    if (excesses_.empty()) return check;
    const auto middle = excesses_.begin() + static_cast<std::ptrdiff_t>(excesses_.size() / 2);
    std::nth_element(excesses_.begin(), middle, excesses_.end());
    check.checked = true;
    check.excess_share = *middle;
    check.asynchronous = check.excess_share > kExcessShareMax;
    return check;
  }

 private:
  /// Nothing but the system's own work happens between the two stamps.
  Result<void> take(Sample& sample) {
    VIVACE_CHECK_OK(system_.prepare());
    recorder_.reset();
    const bool simulated = system_.simulated();
    platform::Usage before;
    if (!simulated) {
      sample.cpu_before = platform::current_cpu();
      before = system_.usage();
    }
    sample.start_ns = system_.now_ns();
    Result<void> done = system_.run(recorder_);
    const std::int64_t end_ns = system_.now_ns();
    if (!simulated) {
      after_ = system_.usage();
      sample.usage = after_ - before;
      sample.cpu_after = platform::current_cpu();
    }
    if (!done) return done;
    // What is taken off was estimated; a latency is at least the time of its stages.
    sample.latency_ns = std::max(
        {end_ns - sample.start_ns - system_.untimed_ns(), recorder_.sum_ns(), std::int64_t{1}});
    sample.stages = recorder_.times();
    sample.stages[static_cast<std::size_t>(Stage::kUnattributed)] =
        sample.latency_ns - recorder_.sum_ns();
    return {};
  }

  /// Is work left, now that run() has returned?
  Result<void> check_completion(const Sample& sample) {
    const std::int64_t place = runs_++;
    const bool looked_at = place < kCompletionChecks || place % kCompletionChecks == 0;
    if (!looked_at || system_.completion() == system::Completion::kByConstruction) return {};
    const auto latency = static_cast<double>(std::max<std::int64_t>(sample.latency_ns, 1));
    if (system_.completion() == system::Completion::kSync) {
      // The second sync finds nothing to wait for: it costs what asking costs.
      const std::int64_t first = system_.now_ns();
      VIVACE_CHECK_OK(system_.sync());
      const std::int64_t second = system_.now_ns();
      VIVACE_CHECK_OK(system_.sync());
      const std::int64_t waited = (second - first) - (system_.now_ns() - second);
      excesses_.push_back(std::max(0.0, static_cast<double>(waited) / latency));
      return {};
    }
    const std::int64_t cpu_ns = after_.cpu_ns;
    std::this_thread::sleep_for(
        std::chrono::nanoseconds(std::clamp(sample.latency_ns, kIdleWaitNsMin, kIdleWaitNsMax)));
    const std::int64_t used_ns = system_.usage().cpu_ns - cpu_ns;
    const std::int64_t excess_ns = used_ns - untold_cpu_ns(sample);
    if (cpu_ns > 0) {
      excesses_.push_back(static_cast<double>(std::max<std::int64_t>(excess_ns, 0)) / latency);
    }
    return {};
  }

  system::System& system_;
  Recorder recorder_;
  platform::Usage after_;  ///< right after the last run()
  SampleColumns columns_;
  std::vector<double> excesses_;
  std::int64_t runs_ = 0;
};

/// The phases of a run over one or more subjects.
class Run {
 public:
  Run(std::span<const Subject> subjects, const MeasurePlan& plan, const MeasureHooks& hooks)
      : plan_(plan), hooks_(hooks), measurements_(subjects.size()) {
    simulated_ = std::all_of(subjects.begin(), subjects.end(),
                             [](const Subject& subject) { return subject.system->simulated(); });
    if (!simulated_) meter_.emplace();
    const platform::SurroundingTotals none{};
    for (const Subject& subject : subjects) {
      runners_.push_back(
          std::make_unique<Runner>(*subject.system, plan, meter_ ? meter_->known() : none));
    }
    order_.resize(subjects.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  Result<std::vector<Measurement>> go() {
    read_environment();
    VIVACE_CHECK_OK(warm_up());
    choose_interval();
    VIVACE_CHECK_OK(sample());
    VIVACE_CHECK_OK(cut_warm_up());
    return finish();
  }

 private:
  void read_environment() {
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      measurements_[i].items_per_run = runners_[i]->system().items_per_run();
      measurements_[i].simulated = runners_[i]->system().simulated();
    }
    if (simulated_) return;
    common_.others_busy_share = platform::busy_share_of_others(kQuietWindowMs);
    common_.clock = platform::calibrate_clock();
    if (meter_) common_.surroundings_cost_ns = meter_->calibrate_ns();
    common_.before = platform::read_interference();
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      measurements_[i].usage_cost_ns = calibrate_usage_ns(runners_[i]->system());
    }
  }

  /// Calls `body(runner index)` once for each, in an order drawn for this round.
  template <class Body>
  Result<void> round(const Body& body) {
    // Fisher and Yates, with a stream of its own.
    for (std::size_t i = order_.size(); i > 1; --i) {
      const std::uint64_t draw = random_bits(order_key_, order_draws_++);
      std::swap(order_[i - 1], order_[draw % i]);
    }
    for (const std::size_t i : order_) VIVACE_CHECK_OK(body(i));
    return {};
  }

  Result<void> warm_up() {
    // The first inference is a figure of its own: it allocates, faults pages in, fills caches.
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      VIVACE_TRY(measurements_[i].first_inference_ns, runners_[i]->discard());
      measurements_[i].warm_up.latency_ns.push_back(measurements_[i].first_inference_ns);
    }
    std::int64_t done = 1;
    while (done < plan_.warm_up && !stopped(hooks_)) {
      const std::int64_t start_ns = platform::now_ns();
      const Result<void> turn = round([&](std::size_t i) -> Result<void> {
        VIVACE_TRY(const std::int64_t latency_ns, runners_[i]->discard());
        measurements_[i].warm_up.latency_ns.push_back(latency_ns);
        return {};
      });
      if (!turn && !is_interrupt(turn.error())) return turn;
      if (!turn) break;  // the sampling ends at once as well
      ++done;
      const auto left = static_cast<double>(plan_.warm_up - done);
      progress("warm-up", done, plan_.warm_up,
               left * static_cast<double>(platform::now_ns() - start_ns) * 1e-9);
    }
    for (Measurement& measurement : measurements_) {
      measurement.warm_up.method = "fixed, then MSER-5 on medians";
      measurement.warm_up.fixed = done;
      measurement.warm_up.discarded = done;
    }
    return {};
  }

  /// Short requests are read around less often, so that reading does not take up the run.
  void choose_interval() {
    if (!meter_) return;
    double round_ns = 0;
    for (const Measurement& measurement : measurements_) {
      auto latencies = measurement.warm_up.latency_ns;
      std::sort(latencies.begin(), latencies.end());
      round_ns += static_cast<double>(latencies[latencies.size() / 2]);
    }
    const double allowed_ns = std::max(1.0, kSurroundingsShareMax * round_ns);
    common_.surroundings_every = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::ceil(common_.surroundings_cost_ns / allowed_ns)));
    (void)meter_->read();  // what the warm-up did is not the samples'
  }

  /// A signal to us may also end what a system waits for.
  bool is_interrupt(const Error& error) const {
    return error.code == ErrorCode::kInterrupted && stopped(hooks_);
  }

  std::int64_t rounds() { return static_cast<std::int64_t>(runners_[0]->columns().size()); }

  Result<void> sample_round() {
    VIVACE_CHECK_OK(round([&](std::size_t i) { return runners_[i]->sample(); }));
    if (meter_ && rounds() - rounds_read_ >= common_.surroundings_every) read_surroundings();
    return {};
  }

  void drop_half_round() {
    std::size_t whole = runners_[0]->columns().size();
    for (const auto& runner : runners_) whole = std::min(whole, runner->columns().size());
    for (const auto& runner : runners_) runner->columns().truncate(whole);
  }

  void read_surroundings() {
    if (!meter_ || rounds() == rounds_read_) return;
    const SurroundingsReading reading = meter_->read();
    for (auto& runner : runners_) {
      runner->columns().set_surroundings(static_cast<std::size_t>(rounds_read_), reading);
    }
    rounds_read_ = rounds();
  }

  bool goal_reached() {
    if (!plan_.width_goal && !plan_.verdict_goal) return false;
    if (rounds() < next_goal_check_) return false;
    // What a goal looks at begins after the warm-up, and stays what it is.
    if (!warm_up_cut_) {
      warm_up_cut_ = true;
      if (discard_warm_up()) return false;
    }
    // At growing distances, so that looking costs a fixed share of the run.
    next_goal_check_ = rounds() + std::max<std::int64_t>(50, rounds() / 10);
    const auto all = [&](const auto& reached) {
      return std::all_of(runners_.begin(), runners_.end(),
                         [&](auto& runner) { return reached(runner->columns().latency_ns()); });
    };
    if (plan_.width_goal && all([&](std::span<const std::int64_t> latency_ns) {
          return width_reached(*plan_.width_goal, plan_.confidence, latency_ns);
        })) {
      common_.stop_reason = StopReason::kWidth;
      return true;
    }
    if (plan_.verdict_goal && all([&](std::span<const std::int64_t> latency_ns) {
          return verdict_reached(*plan_.verdict_goal, latency_ns);
        })) {
      common_.stop_reason = StopReason::kVerdict;
      return true;
    }
    return false;
  }

  /// Until `target` rounds are there, or something else ends the sampling.
  Result<void> sample_until(std::int64_t target) {
    common_.stop_reason = StopReason::kSamples;
    while (rounds() < target) {
      const std::int64_t elapsed_ns = platform::now_ns() - sampling_start_ns_;
      if (stopped(hooks_)) {
        common_.stop_reason = StopReason::kInterrupted;
        return {};
      }
      if (elapsed_ns >= plan_.duration_ns && rounds() > 0) {
        common_.stop_reason = StopReason::kDuration;
        return {};
      }
      if (goal_reached()) return {};
      if (Result<void> done = sample_round(); !done) {
        // Then this round is not whole.
        if (!is_interrupt(done.error())) return done;
        drop_half_round();
        continue;
      }
      if (!hooks_.progress) continue;
      const auto done = static_cast<double>(rounds());
      const auto spent_s = static_cast<double>(platform::now_ns() - sampling_start_ns_) * 1e-9;
      const double by_count = spent_s / done * (static_cast<double>(target) - done);
      const double by_time = static_cast<double>(plan_.duration_ns) * 1e-9 - spent_s;
      progress("sampling", rounds(), target, std::max(0.0, std::min(by_count, by_time)));
    }
    return {};
  }

  Result<void> sample() {
    sampling_start_ns_ = platform::now_ns();
    VIVACE_CHECK_OK(sample_until(plan_.samples));
    read_surroundings();
    return {};
  }

  /// Takes the rest of the warm-up out of the samples; true where there was any.
  bool discard_warm_up() {
    std::int64_t cut = 0;
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      const stats::WarmUpCut found = stats::mser5(runners_[i]->columns().latency_ns());
      if (!found.discarded) continue;
      measurements_[i].warm_up.steady = !found.at_limit;
      if (!found.at_limit) cut = std::max(cut, *found.discarded);
    }
    if (cut == 0) return false;
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      const auto latencies = runners_[i]->columns().discard_first(static_cast<std::size_t>(cut));
      auto& warm_up = measurements_[i].warm_up;
      warm_up.latency_ns.insert(warm_up.latency_ns.end(), latencies.begin(), latencies.end());
      warm_up.discarded += cut;
    }
    rounds_read_ = std::max<std::int64_t>(0, rounds_read_ - cut);
    return true;
  }

  /// As many samples as the warm-up took are taken anew, where time is left.
  Result<void> cut_warm_up() {
    if (warm_up_cut_ || !discard_warm_up() || common_.stop_reason != StopReason::kSamples)
      return {};
    if (meter_) (void)meter_->read();
    VIVACE_CHECK_OK(sample_until(plan_.samples));
    read_surroundings();
    return {};
  }

  std::vector<Measurement> finish() {
    if (!simulated_) common_.after = platform::read_interference();
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      Measurement& measurement = measurements_[i];
      measurement.clock = common_.clock;
      measurement.surroundings_cost_ns = common_.surroundings_cost_ns;
      measurement.surroundings_every = common_.surroundings_every;
      measurement.before = common_.before;
      measurement.after = common_.after;
      measurement.others_busy_share = common_.others_busy_share;
      measurement.stop_reason = common_.stop_reason;
      measurement.completion = runners_[i]->completion();
      measurement.samples = runners_[i]->columns().take();
    }
    return std::move(measurements_);
  }

  void progress(const char* phase, std::int64_t done, std::int64_t planned, double left_s) {
    if (hooks_.progress) hooks_.progress(phase, done, planned, left_s);
  }

  const MeasurePlan& plan_;
  const MeasureHooks& hooks_;
  bool simulated_ = false;
  std::optional<SurroundingsMeter> meter_;
  std::vector<std::unique_ptr<Runner>> runners_;
  std::vector<Measurement> measurements_;
  Measurement common_;  ///< what holds for all subjects of the run
  std::vector<std::size_t> order_;
  std::uint64_t order_key_ = stream_key(plan_.seed, "order of subjects");
  std::uint64_t order_draws_ = 0;
  std::int64_t rounds_read_ = 0;  ///< rounds whose surroundings have been read
  std::int64_t next_goal_check_ = kSamplesSound;
  std::int64_t sampling_start_ns_ = 0;
  bool warm_up_cut_ = false;  ///< already, before a goal was first looked at
};

}  // namespace

Result<Measurement> measure(system::System& system, const MeasurePlan& plan,
                            const MeasureHooks& hooks) {
  const Subject subject{.system = &system, .label = {}};
  VIVACE_TRY(std::vector<Measurement> measurements,
             measure_side_by_side(std::span(&subject, 1), plan, hooks));
  return std::move(measurements.front());
}

Result<std::vector<Measurement>> measure_side_by_side(std::span<const Subject> subjects,
                                                      const MeasurePlan& plan,
                                                      const MeasureHooks& hooks) {
  VIVACE_CHECK(!subjects.empty() && plan.warm_up >= 1 && plan.samples >= 1);
  return Run(subjects, plan, hooks).go();
}

}  // namespace vivace::load
