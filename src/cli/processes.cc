#include "cli/processes.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analyze/explain.h"
#include "cli/subject.h"
#include "core/text.h"
#include "platform/process.h"
#include "result/summarize.h"
#include "stats/processes.h"
#include "stats/steadiness.h"

namespace vivace::cli {
namespace {

/// Removes a file when it goes out of scope, whatever ended the measurement.
class ScratchFile {
 public:
  explicit ScratchFile(std::filesystem::path path) : path_(std::move(path)) {}
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The command line of one process: this one's, without what is done once for all of them.
std::vector<std::string> child_words(const Arguments& arguments, const std::string& result_file) {
  static const std::vector<std::string> kOurs = {"processes", "json",  "format",      "slo",
                                                 "strict",    "quiet", "no-progress", "verbose"};
  std::vector<std::string> words = {platform::own_program(), "measure"};
  for (const std::string& name : arguments.verb().flags) {
    if (!arguments.given(name) || std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end()) {
      continue;
    }
    if (flag_of(arguments.verb(), name).kind == FlagKind::kSwitch) {
      words.push_back("--" + name);
      continue;
    }
    for (const std::string& value : arguments.all(name)) {
      words.push_back(fmt::format("--{}={}", name, value));
    }
  }
  words.push_back("--json=" + result_file);
  words.emplace_back("--quiet");
  words.emplace_back("--");
  words.insert(words.end(), arguments.positionals().begin(), arguments.positionals().end());
  return words;
}

Result<void> check_flags(const Arguments& arguments) {
  const auto no = [](std::string what, std::string advice) {
    return fail(ErrorCode::kUsage,
                {.what = std::move(what), .expected = {}, .got = {}, .advice = std::move(advice)});
  };
  if (arguments.given("sweep")) {
    return no("--sweep and --processes are both given",
              "sweep within one process, or measure each setting with --processes");
  }
  if (arguments.list("until").size() == 1 && arguments.value("until") == "verdict") {
    return no("--until verdict and --processes are both given",
              "give a number of --samples for each process");
  }
  const auto inputs = arguments.all("input");
  const bool standard_input =
      std::find(inputs.begin(), inputs.end(), "-") != inputs.end() ||
      std::find(arguments.positionals().begin(), arguments.positionals().end(), "-") !=
          arguments.positionals().end();
  if (standard_input) {
    return no("several processes cannot all read standard input", "name a file");
  }
  return {};
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Adds the samples of `from`; a stage or covariate that one of them lacks is dropped.
void append_samples(result::Samples& to, const result::Samples& from) {
  append(to.latency_ns, from.latency_ns);
  to.start_ns.clear();  // each process has its own beginning
  std::erase_if(to.stages, [&](result::StageSamples& stage) {
    const auto same = std::find_if(from.stages.begin(), from.stages.end(),
                                   [&](const auto& other) { return other.stage == stage.stage; });
    if (same == from.stages.end()) return true;
    append(stage.times_ns, same->times_ns);
    return false;
  });
  std::erase_if(to.covariates, [&](result::CovariateSamples& covariate) {
    const auto same = std::find_if(from.covariates.begin(), from.covariates.end(),
                                   [&](const auto& other) { return other.name == covariate.name; });
    if (same == from.covariates.end()) return true;
    append(covariate.values, same->values);
    return false;
  });
}

const stats::Probability kMedian(5, 10);

/// Replaces the intervals of the pooled samples by those over processes.
void set_over_processes(std::span<const result::Document> parts, result::LatencySummary& latency) {
  for (result::Percentile& percentile : latency.percentiles) {
    std::vector<std::int64_t> values_ns;
    for (const result::Document& part : parts) {
      auto sorted = part.samples.latency_ns;
      std::sort(sorted.begin(), sorted.end());
      values_ns.push_back(stats::percentile_value(sorted, percentile.p));
    }
    const auto interval = stats::interval_over_processes(values_ns, percentile.confidence);
    percentile.ci_low_ns = interval.lower_ns;
    percentile.ci_high_ns = interval.upper_ns;
    percentile.rank_low.reset();
    percentile.rank_high.reset();
    percentile.n_eff = static_cast<double>(parts.size());
    // As many processes of the same size as the signed-rank interval needs.
    percentile.samples_needed =
        stats::minimum_n(kMedian, percentile.confidence, stats::Sides::kBoth) * latency.n /
        static_cast<std::int64_t>(parts.size());
  }
  latency.n_eff = static_cast<double>(parts.size());
}

void add_spread(std::span<const result::Document> parts, const MeasureOrder& order,
                result::Document& document) {
  result::Processes processes;
  processes.count = static_cast<std::int64_t>(parts.size());
  std::vector<stats::PercentileEstimate> medians;
  for (const result::Document& part : parts) {
    const auto summary =
        stats::summarize(part.samples.latency_ns, std::span(&kMedian, 1), order.confidence);
    medians.push_back(summary.percentiles[0]);
    processes.medians_ns.push_back(summary.percentiles[0].value_ns);
  }
  const stats::ProcessSpread spread = stats::process_spread(medians, order.confidence);
  processes.within_ns2 = spread.within_ns2;
  processes.between_ns2 = spread.between_ns2;
  processes.over_processes = spread.over_processes;
  if (spread.over_processes && document.summary) {
    set_over_processes(parts, document.summary->latency);
    document.caveats.push_back(
        {.id = "processes.differ",
         .message = fmt::format(
             "the medians of the {} processes differ by more than their sampling explains "
             "(standard deviation {:.2g}% against {:.2g}%), so intervals are over processes",
             parts.size(),
             100 * std::sqrt(spread.between_ns2) / static_cast<double>(medians[0].value_ns),
             100 * std::sqrt(spread.within_ns2) / static_cast<double>(medians[0].value_ns)),
         .advice = "more --processes narrow them; more --samples do not",
         .unknown = {}});
  }
  document.processes = std::move(processes);
}

}  // namespace

Result<result::Document> measure_processes(const Arguments& arguments, const MeasureOrder& order,
                                           Console& console) {
  VIVACE_CHECK_OK(check_flags(arguments));
  const std::int64_t count = arguments.count("processes");
  const ScratchFile scratch(std::filesystem::temp_directory_path() /
                            fmt::format("vivace-process-{}.json", getpid()));
  const std::vector<std::string> words = child_words(arguments, scratch.path().string());
  std::vector<result::Document> parts;
  for (std::int64_t i = 0; i < count && !console.interrupted(); ++i) {
    console.progress("processes", static_cast<double>(i) / static_cast<double>(count), -1);
    VIVACE_TRY(const int status, platform::run_program(words, console.interrupted()));
    if (console.interrupted()) break;  // what it measured is not whole
    if (status == exit_status(ErrorCode::kInvalidMeasurement)) {
      // The child's document says why; more of them would say the same.
      VIVACE_TRY(result::Document refused, result::read_result(scratch.path()));
      console.end_progress();
      return refused;
    }
    if (status != 0) {
      return fail(ErrorCode::kUnavailable,
                  {.what = fmt::format("process {} of {} failed", i + 1, count),
                   .expected = "exit status 0",
                   .got = fmt::format("exit status {}", status),
                   .advice = "its message is above; try without --processes"});
    }
    VIVACE_TRY(result::Document part, result::read_result(scratch.path()));
    parts.push_back(std::move(part));
  }
  console.end_progress();
  if (parts.empty()) return fail(ErrorCode::kInterrupted, "interrupted before a process was done");

  result::Document document = parts.front();
  document.configuration = effective_flags(arguments);
  if (!document.model) drop_model_flags(document.configuration);
  document.findings.clear();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    append_samples(document.samples, parts[i].samples);
    document.phases.warm_up.discarded += parts[i].phases.warm_up.discarded;
    append(document.phases.warm_up.latency_ns, parts[i].phases.warm_up.latency_ns);
    for (const result::Caveat& caveat : parts[i].caveats) {
      const bool known = std::any_of(document.caveats.begin(), document.caveats.end(),
                                     [&](const auto& other) { return other.id == caveat.id; });
      if (!known) document.caveats.push_back(caveat);
    }
  }
  document.phases.sampling.count = static_cast<std::int64_t>(document.samples.latency_ns.size());
  if (static_cast<std::int64_t>(parts.size()) < count) {
    document.phases.sampling.stop_reason = "interrupted";
  }
  if (document.samples.latency_ns.empty()) return document;
  result::Summary summary =
      result::summarize(document.samples, order.percentiles, order.confidence);
  if (document.summary) summary.throughput_per_s = document.summary->throughput_per_s;
  document.summary = std::move(summary);
  if (parts.size() >= 2) add_spread(parts, order, document);
  if (order.level) {
    document.verdicts.push_back(
        load::judge(*order.level, document.samples.latency_ns, order.confidence));
  }
  document.findings = analyze::explain(document);
  return document;
}

}  // namespace vivace::cli
