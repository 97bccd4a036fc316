#include "system/synthetic_system.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <ctime>
#include <set>
#include <string>

#include <fmt/format.h>

#include "core/check.h"
#include "core/random.h"
#include "core/text.h"
#include "core/units.h"

namespace vivace::system {
namespace {

constexpr double kDriftRequests = 500;
/// Far from where nanoseconds end in 64 bits, whatever noise and drift add.
constexpr double kRequestNsMax = 3600e9;
constexpr double kGrowthMax = 100;
constexpr double kServiceNsMax = 1e15;
/// Sleeping is not exact: the last stretch is spun.
constexpr std::int64_t kSpinNs = 1'000'000;
// Draws of one request, each from a stream of its own.
constexpr std::uint64_t kDrawsPerRequest = 8;

tl::unexpected<Error> wrong(std::string_view text, std::string expected) {
  return fail(ErrorCode::kUsage, {.what = "a synthetic system cannot be read",
                                  .expected = std::move(expected),
                                  .got = quote(text),
                                  .advice = "see docs/systems.md"});
}

std::optional<double> positive_number(std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
      value <= 0) {
    return std::nullopt;
  }
  return value;
}

/// "300%" or "3": a share that may be more than all.
std::optional<double> parse_growth(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const auto number = positive_number(text);
  if (!number) return std::nullopt;
  const double growth = percent ? *number / 100 : *number;
  return growth <= kGrowthMax ? std::optional(growth) : std::nullopt;
}

/// "1%x10".
Result<SyntheticSpec::Factor> parse_factor(std::string_view pair, std::string_view text) {
  const auto x = text.find('x');
  const auto share = parse_share(text.substr(0, x));
  const auto factor =
      x == std::string_view::npos ? std::nullopt : positive_number(text.substr(x + 1));
  if (!share || !factor) return wrong(pair, "SHARExFACTOR, such as 1%x10");
  return SyntheticSpec::Factor{*share, *factor};
}

/// "5%@250".
Result<std::pair<double, std::int64_t>> parse_share_at(std::string_view pair,
                                                       std::string_view text) {
  const auto at = text.find('@');
  const auto growth = parse_growth(text.substr(0, at));
  if (at == std::string_view::npos || !growth) return wrong(pair, "SHARE@REQUEST, such as 20%@100");
  const auto place = parse_count(text.substr(at + 1), 0, 1'000'000'000);
  if (!place) return wrong(pair, "SHARE@REQUEST, such as 20%@100");
  return std::pair(*growth, *place);
}

Result<std::vector<std::pair<Stage, double>>> parse_stages(std::string_view pair,
                                                           std::string_view text) {
  std::vector<std::pair<Stage, double>> stages;
  double sum = 0;
  for (const std::string_view piece : split(text, '+')) {
    const auto colon = piece.find(':');
    const auto stage = stage_named(piece.substr(0, colon));
    if (colon == std::string_view::npos || !stage || *stage == Stage::kUnattributed) {
      return wrong(pair, "STAGE:SHARE+STAGE:SHARE, such as decode:30%+context_encode:70%");
    }
    const auto share = parse_share(piece.substr(colon + 1));
    if (!share) return wrong(pair, "STAGE:SHARE, such as decode:30%");
    sum += *share;
    stages.emplace_back(*stage, *share);
  }
  if (std::abs(sum - 1) > 1e-9) return wrong(pair, "shares that add up to 100%");
  return stages;
}

Result<void> set_parameter(std::string_view pair, std::string_view key, std::string_view value,
                           SyntheticSpec& spec) {
  const auto share = [&](double& out, double most) -> Result<void> {
    const auto parsed = parse_share(value);
    if (!parsed || *parsed > most) {
      return wrong(pair, fmt::format("a share of at most {:.0f}%", 100 * most));
    }
    out = *parsed;
    return {};
  };
  if (key == "mean") {
    const auto mean = parse_duration_ns(value);
    if (!mean || *mean == 0) return wrong(pair, "a time with its unit, such as mean=10ms");
    spec.mean_ns = *mean;
    return {};
  }
  if (key == "seed") {
    const auto seed = parse_count(value, 0, 1'000'000'000);
    if (!seed) return wrong(pair, "a whole number, such as seed=2");
    spec.seed = static_cast<std::uint64_t>(*seed);
    return {};
  }
  if (key == "noise") return share(spec.noise, 1);
  if (key == "autocorrelation") return share(spec.autocorrelation, 0.99);
  if (key == "drift") return share(spec.drift, 1);
  if (key == "queue") return share(spec.queue, 0.95);
  if (key == "async") return share(spec.async, 0.99);
  if (key == "tail" || key == "modes") {
    VIVACE_TRY(const SyntheticSpec::Factor factor, parse_factor(pair, value));
    spec.mixed.push_back(factor);
    return {};
  }
  if (key == "period") {
    const auto x = value.find('x');
    const auto every = parse_count(value.substr(0, x), 2, 1'000'000'000);
    const auto factor =
        x == std::string_view::npos ? std::nullopt : positive_number(value.substr(x + 1));
    if (!every || !factor) return wrong(pair, "NxFACTOR, such as period=100x5");
    spec.period = *every;
    spec.period_factor = *factor;
    return {};
  }
  if (key == "step") {
    VIVACE_TRY(const auto step, parse_share_at(pair, value));
    std::tie(spec.step, spec.step_at) = step;
    return {};
  }
  if (key == "warmup") {
    VIVACE_TRY(const auto warm_up, parse_share_at(pair, value));
    std::tie(spec.warm_up, spec.warm_up_until) = warm_up;
    return {};
  }
  if (key == "stages") {
    VIVACE_TRY(spec.stages, parse_stages(pair, value));
    return {};
  }
  if (value != "real" && value != "virtual") return wrong(pair, "clock=real or clock=virtual");
  spec.virtual_clock = value == "virtual";
  return {};
}

/// The components that a latency is mixed of, as weights and factors; those of independent draws
/// multiply.
std::vector<SyntheticSpec::Factor> mixture_of(const SyntheticSpec& spec) {
  std::vector<SyntheticSpec::Factor> mixture = {{1, 1}};
  auto draws = spec.mixed;
  if (spec.period > 0) draws.push_back({1 / static_cast<double>(spec.period), spec.period_factor});
  for (const SyntheticSpec::Factor& draw : draws) {
    std::vector<SyntheticSpec::Factor> next;
    for (const SyntheticSpec::Factor& part : mixture) {
      next.push_back({part.share * (1 - draw.share), part.factor});
      next.push_back({part.share * draw.share, part.factor * draw.factor});
    }
    mixture = std::move(next);
  }
  return mixture;
}

}  // namespace

Result<SyntheticSpec> parse_synthetic(std::string_view text) {
  static const std::vector<std::string> kKeys = {
      "mean", "noise",  "autocorrelation", "tail",   "modes", "period", "drift",
      "step", "warmup", "queue",           "stages", "async", "clock",  "seed"};
  SyntheticSpec spec;
  if (text.empty()) return spec;
  std::set<std::string, std::less<>> seen;
  for (const std::string_view pair : split(text, ',')) {
    const auto equals = pair.find('=');
    const std::string key(pair.substr(0, equals));
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      const std::string near = nearest_name(key, kKeys);
      return fail(ErrorCode::kUsage,
                  {.what = "a synthetic system has no parameter " + quote(key),
                   .expected = join(kKeys, ", "),
                   .got = quote(pair),
                   .advice = near.empty() ? std::string() : fmt::format("did you mean {}?", near)});
    }
    if (equals == std::string_view::npos || equals + 1 == pair.size()) {
      return wrong(pair, "PARAMETER=VALUE");
    }
    if (!seen.insert(key).second) return wrong(pair, "each parameter once");
    VIVACE_CHECK_OK(set_parameter(pair, key, pair.substr(equals + 1), spec));
  }
  double most_ns = static_cast<double>(spec.mean_ns) * std::max(1.0, spec.period_factor) *
                   (1 + spec.step) * (1 + spec.warm_up);
  for (const SyntheticSpec::Factor& mixed : spec.mixed) most_ns *= std::max(1.0, mixed.factor);
  if (!(most_ns <= kRequestNsMax)) {
    return wrong(text, "at most an hour a request, with all its factors");
  }
  return spec;
}

double mean_service_ns(const SyntheticSpec& spec) {
  double factor = 0;
  for (const SyntheticSpec::Factor& part : mixture_of(spec)) factor += part.share * part.factor;
  return static_cast<double>(spec.mean_ns) * factor;
}

std::optional<double> true_quantile_ns(const SyntheticSpec& spec, double p) {
  if (!(p > 0 && p < 1) || spec.drift > 0 || spec.step > 0 || spec.queue > 0) return std::nullopt;
  const auto mixture = mixture_of(spec);
  const auto mean = static_cast<double>(spec.mean_ns) * (1 - spec.async);
  const auto at_most = [&](double x) {
    double sum = 0;
    for (const SyntheticSpec::Factor& part : mixture) {
      const double centre = mean * part.factor;
      if (spec.noise == 0) {
        sum += centre <= x ? part.share : 0;
      } else {
        const double z = (std::log(x / centre) + spec.noise * spec.noise / 2) / spec.noise;
        sum += part.share * std::erfc(-z * 0.70710678118654752) / 2;
      }
    }
    return sum;
  };
  double low = 0;
  double high = mean;
  while (at_most(high) < p && high < 1e30) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-9 * high; ++i) {
    const double middle = (low + high) / 2;
    (at_most(middle) < p ? low : high) = middle;
  }
  return high;
}

SyntheticSystem::SyntheticSystem(SyntheticSpec spec, std::uint64_t seed, std::int64_t batch)
    : spec_(std::move(spec)),
      key_(stream_key(seed, "synthetic system " + std::to_string(spec_.seed))),
      noise_key_(stream_key(key_, "noise")),
      mean_gap_ns_(spec_.queue > 0 ? mean_service_ns(spec_) / spec_.queue : 0),
      batch_(batch) {
  if (spec_.queue > 0) {
    names_ = {"queue_length"};
    values_ = {0};
  }
}

std::int64_t SyntheticSystem::now_ns() const {
  return spec_.virtual_clock ? virtual_now_ns_ : platform::now_ns();
}

std::int64_t SyntheticSystem::next_service_ns() {
  const std::uint64_t base = index_ * kDrawsPerRequest;
  const auto uniform = [&](std::uint64_t draw) {
    return (static_cast<double>(random_bits(key_, base + draw) >> 11) + 0.5) * 0x1p-53;
  };
  const double fresh = random_normal(noise_key_, index_);
  const double r = spec_.autocorrelation;
  z_ = index_ == 0 ? fresh : r * z_ + std::sqrt(1 - r * r) * fresh;
  const double s = spec_.noise;
  double time = static_cast<double>(spec_.mean_ns) * portable_exp(s * z_ - s * s / 2);
  std::uint64_t draw = 0;
  for (const SyntheticSpec::Factor& mixed : spec_.mixed) {
    if (uniform(draw++) < mixed.share) time *= mixed.factor;
  }
  const auto place = static_cast<std::int64_t>(index_);
  if (spec_.period > 0 && (place + 1) % spec_.period == 0) time *= spec_.period_factor;
  time *= 1 + spec_.drift * static_cast<double>(index_) / kDriftRequests;
  if (spec_.step > 0 && place >= spec_.step_at) time *= 1 + spec_.step;
  if (place < spec_.warm_up_until) time *= 1 + spec_.warm_up;
  ++index_;
  return std::llround(std::clamp(time, 1.0, kServiceNsMax));
}

void SyntheticSystem::next_arrival(std::int64_t service_ns) {
  // Exponential gaps; the wait is what is left of the work before (Lindley 1952).
  const std::uint64_t bits = random_bits(key_, index_ * kDrawsPerRequest + 7);
  const double uniform = (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
  arrival_ns_ -= portable_log(uniform) * mean_gap_ns_;
  std::erase_if(departures_ns_, [&](double at) { return at <= arrival_ns_; });
  values_[0] = static_cast<double>(departures_ns_.size());
  const double start = departures_ns_.empty() ? arrival_ns_ : departures_ns_.back();
  wait_ns_ = std::llround(start - arrival_ns_);
  departures_ns_.push_back(start + static_cast<double>(service_ns));
}

Result<void> SyntheticSystem::prepare() {
  service_ns_ = next_service_ns();
  wait_ns_ = 0;
  if (spec_.queue > 0) next_arrival(service_ns_);
  return {};
}

void SyntheticSystem::pass(std::int64_t duration_ns) {
  if (spec_.virtual_clock) {
    virtual_now_ns_ += duration_ns;
    return;
  }
  const std::int64_t end_ns = platform::now_ns() + duration_ns;
  if (duration_ns > 2 * kSpinNs) {
    const std::int64_t until_ns = end_ns - kSpinNs;
    const timespec until{.tv_sec = static_cast<std::time_t>(until_ns / 1'000'000'000),
                         .tv_nsec = static_cast<long>(until_ns % 1'000'000'000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  }
  while (platform::now_ns() < end_ns) {
  }
}

Result<void> SyntheticSystem::run(Recorder& recorder) {
  const auto spend = [&](Stage stage, std::int64_t duration_ns) {
    const std::int64_t start_ns = now_ns();
    pass(duration_ns);
    recorder.add(stage, now_ns() - start_ns);
  };
  if (wait_ns_ > 0) spend(Stage::kQueue, wait_ns_);
  const auto here_ns = std::llround(static_cast<double>(service_ns_) * (1 - spec_.async));
  left_ns_ = service_ns_ - here_ns;
  // The ends of the stages are rounded, so that none is negative and the last ends with the call.
  std::int64_t spent_ns = 0;
  double so_far = 0;
  for (std::size_t i = 0; i < spec_.stages.size(); ++i) {
    so_far += spec_.stages[i].second;
    const std::int64_t end_ns = i + 1 == spec_.stages.size()
                                    ? here_ns
                                    : std::llround(static_cast<double>(here_ns) * so_far);
    spend(spec_.stages[i].first, end_ns - spent_ns);
    spent_ns = end_ns;
  }
  return {};
}

Result<void> SyntheticSystem::sync() {
  pass(left_ns_);
  left_ns_ = 0;
  return {};
}

}  // namespace vivace::system
