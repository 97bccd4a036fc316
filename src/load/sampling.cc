#include "load/sampling.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace vivace::load {
namespace {

constexpr const char* kUsageNames[] = {"cpu_time_ns", "voluntary_switches", "involuntary_switches",
                                       "minor_faults", "major_faults"};
constexpr const char* kPlaceNames[] = {"migrated", "cpu"};

}  // namespace

SampleColumns::SampleColumns(std::size_t expected, const system::System& system,
                             const platform::SurroundingTotals& known)
    : simulated_(system.simulated()),
      runs_here_(system.runs_here()),
      expected_(expected),
      own_count_(system.covariate_names().size()) {
  samples_.latency_ns.reserve(expected);
  samples_.start_ns.reserve(expected);
  const auto add_column = [&](std::string_view name) {
    samples_.covariates.push_back({.name = std::string(name), .values = {}});
    samples_.covariates.back().values.reserve(expected);
  };
  for (const std::string& name : system.covariate_names()) add_column(name);
  if (simulated_) return;
  for (const char* name : kUsageNames) add_column(name);
  if (runs_here_) {
    for (const char* name : kPlaceNames) add_column(name);
  }
  first_surrounding_ = samples_.covariates.size();
  for (std::size_t i = 0; i < platform::kSurroundingCount; ++i) {
    if (!known[i]) continue;
    surroundings_.push_back(static_cast<platform::Surrounding>(i));
    add_column(platform::name_of(surroundings_.back()));
  }
  add_column("spin_probe_ns");
  add_column("memory_probe_ns");
}

void SampleColumns::add(const Sample& sample, std::span<const double> own_covariates) {
  VIVACE_CHECK(own_covariates.size() == own_count_);
  const std::size_t before = size();
  samples_.latency_ns.push_back(sample.latency_ns);
  samples_.start_ns.push_back(sample.start_ns);
  for (std::size_t stage = 0; stage < kStageCount; ++stage) {
    auto& column = stages_[stage];
    // A stage's column begins with its first time; before it the stage took none.
    if (column.empty() && sample.stages[stage] == 0) continue;
    if (column.empty()) {
      column.reserve(expected_);
      column.resize(before, 0);
    }
    column.push_back(sample.stages[stage]);
  }
  for (std::size_t i = 0; i < own_count_; ++i) covariate(i).push_back(own_covariates[i]);
  if (simulated_) return;
  const platform::Usage& usage = sample.usage;
  std::size_t column = own_count_;
  for (const std::int64_t value :
       {usage.cpu_ns, usage.voluntary_switches, usage.involuntary_switches, usage.minor_faults,
        usage.major_faults}) {
    covariate(column++).push_back(static_cast<double>(value));
  }
  if (runs_here_) {
    covariate(column++).push_back(sample.cpu_before != sample.cpu_after ? 1 : 0);
    covariate(column++).push_back(sample.cpu_after);
  }
  for (std::size_t i = first_surrounding_; i < samples_.covariates.size(); ++i) {
    covariate(i).push_back(0);
  }
}

void SampleColumns::set_surroundings(std::size_t first, const SurroundingsReading& reading) {
  if (simulated_) return;
  const auto fill = [&](std::size_t column, double value) {
    auto& values = covariate(column);
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(first), values.end(), value);
  };
  std::size_t column = first_surrounding_;
  for (const platform::Surrounding one : surroundings_) {
    fill(column++, static_cast<double>(reading.change[static_cast<std::size_t>(one)].value_or(0)));
  }
  fill(column++, static_cast<double>(reading.spin_probe_ns));
  fill(column, static_cast<double>(reading.memory_probe_ns));
}

std::vector<std::int64_t> SampleColumns::discard_first(std::size_t count) {
  VIVACE_CHECK(count <= size());
  const auto cut = [&](auto& column) {
    if (!column.empty())
      column.erase(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(count));
  };
  std::vector<std::int64_t> discarded(
      samples_.latency_ns.begin(),
      samples_.latency_ns.begin() + static_cast<std::ptrdiff_t>(count));
  cut(samples_.latency_ns);
  cut(samples_.start_ns);
  for (auto& column : stages_) cut(column);
  for (auto& one : samples_.covariates) cut(one.values);
  return discarded;
}

void SampleColumns::truncate(std::size_t count) {
  const auto cut = [&](auto& column) {
    if (column.size() > count) column.resize(count);
  };
  cut(samples_.latency_ns);
  cut(samples_.start_ns);
  for (auto& column : stages_) cut(column);
  for (auto& one : samples_.covariates) cut(one.values);
}

result::Samples SampleColumns::take() {
  const std::size_t count = size();
  if (count > 0) {
    const std::int64_t first = samples_.start_ns.front();
    for (std::int64_t& start : samples_.start_ns) start -= first;
  }
  for (std::size_t stage = 0; stage < kStageCount; ++stage) {
    auto& column = stages_[stage];
    const bool unattributed = static_cast<Stage>(stage) == Stage::kUnattributed;
    if (column.empty() && unattributed) column.resize(count, 0);
    // Only warm-up may have used a stage: then it is no stage of the samples.
    const bool used =
        std::any_of(column.begin(), column.end(), [](auto time) { return time != 0; });
    if (column.empty() || (!used && !unattributed)) continue;
    // A later sample of no time in this stage was recorded; an earlier one was filled in.
    VIVACE_CHECK(column.size() == count);
    samples_.stages.push_back({.stage = static_cast<Stage>(stage), .times_ns = std::move(column)});
  }
  // A system that stamps no stages has no breakdown.
  if (samples_.stages.size() == 1 && samples_.stages[0].stage == Stage::kUnattributed) {
    samples_.stages.clear();
  }
  return std::move(samples_);
}

}  // namespace vivace::load
