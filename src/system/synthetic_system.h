// A system of known latency, to test the instrument with: every parameter's effect is defined
// exactly, so that what should be reported can be computed.
//
//   synthetic:mean=10ms,noise=3%,tail=1%x10
//
// Request i (from 0) takes  mean * exp(s z_i - s^2/2) * factors,  z_i standard normal, s the noise,
// rounded to whole nanoseconds.
//   mean=TIME              of one request before any factor (1ms)
//   noise=SHARE            s, the standard deviation of the logarithm (0)
//   autocorrelation=SHARE  of z_i and z_{i+1} (0)
//   tail=SHARExF           that share of the requests, drawn independently, takes F times as long
//   modes=SHARExF          the same; a second mode where F is near 1
//   period=NxF             every N-th request takes F times as long
//   drift=SHARE            request i takes 1 + SHARE i/500 times as long
//   step=SHARE@N           from request N on they take that share longer (300% is allowed)
//   warmup=SHARE@N         before request N they take that share longer
//   queue=SHARE            one server with Poisson arrivals, which a stationary series keeps busy
//                          for that share of the time: a request also waits (stage queue) for the
//                          queue_length others that it finds
//   stages=NAME:SHARE+...  how the time is split (one stage, context_encode)
//   async=SHARE            that share of the work is left when the call returns, for sync()
//   clock=real|virtual     virtual: nothing waits, the system brings a clock that jumps (real)
//   seed=N                 another series under the same --seed (0)
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "record/stage.h"
#include "system/system.h"

namespace vivace::system {

struct SyntheticSpec {
  struct Factor {
    double share = 0;
    double factor = 1;
  };
  std::int64_t mean_ns = 1'000'000;
  double noise = 0;
  double autocorrelation = 0;
  std::vector<Factor> mixed;  ///< tail and modes
  std::int64_t period = 0;    ///< 0 for none
  double period_factor = 1;
  double drift = 0;
  double step = 0;
  std::int64_t step_at = 0;
  double warm_up = 0;
  std::int64_t warm_up_until = 0;
  double queue = 0;  ///< utilisation, 0 for none
  std::vector<std::pair<Stage, double>> stages = {{Stage::kContextEncode, 1.0}};
  double async = 0;
  bool virtual_clock = false;
  std::uint64_t seed = 0;
};

/// What follows "synthetic:". Errors, all kUsage: a parameter that is unknown (the nearest is
/// named), twice there, or out of its range; requests of more than an hour.
Result<SyntheticSpec> parse_synthetic(std::string_view text);

/// The true percentile (0 < p < 1) of the latencies, as if there were endlessly many: a warm-up
/// counts for nothing. None where requests drift, step or wait in a queue.
std::optional<double> true_quantile_ns(const SyntheticSpec& spec, double p);

/// The mean time of a request without its waiting, drift, step and warm-up.
double mean_service_ns(const SyntheticSpec& spec);

class SyntheticSystem final : public System {
 public:
  SyntheticSystem(SyntheticSpec spec, std::uint64_t seed, std::int64_t batch);

  Result<void> prepare() override;
  Result<void> run(Recorder& recorder) override;
  Result<void> finish() override { return {}; }
  std::int64_t items_per_run() const override { return batch_; }
  Result<void> sync() override;
  Completion completion() const override { return Completion::kSync; }
  std::span<const std::string> covariate_names() const override { return names_; }
  std::span<const double> covariates() const override { return values_; }
  std::int64_t now_ns() const override;
  bool simulated() const override { return spec_.virtual_clock; }

 private:
  void pass(std::int64_t duration_ns);
  std::int64_t next_service_ns();
  void next_arrival(std::int64_t service_ns);

  SyntheticSpec spec_;
  std::uint64_t key_;
  std::uint64_t noise_key_;
  double mean_gap_ns_;  ///< between arrivals
  std::int64_t batch_;
  std::uint64_t index_ = 0;
  double z_ = 0;
  std::int64_t service_ns_ = 0;
  std::int64_t wait_ns_ = 0;
  double arrival_ns_ = 0;              ///< on the queue's own time axis
  std::vector<double> departures_ns_;  ///< of those that may still be in the system
  std::int64_t left_ns_ = 0;           ///< of an asynchronous call
  std::int64_t virtual_now_ns_ = 0;
  std::vector<std::string> names_;
  std::vector<double> values_;
};

}  // namespace vivace::system
