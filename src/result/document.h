// The result document: everything that a run measured, what it measured it on, and how. One JSON
// file per run; the same document is what tables are drawn from, what runs are compared by and what
// other verbs read. Times are whole nanoseconds; a bound or figure that does not exist is null,
// never a stand-in. Fields of other versions' making are kept in `unknown` and written back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "record/stage.h"
#include "stats/probability.h"

namespace vivace::result {

inline constexpr std::string_view kSchema = "vivace.result";
/// The major version that is written, and the newest that is read.
inline constexpr std::int64_t kVersion = 1;

struct Tool {
  std::string version;
  std::string build;  ///< compiler and build type
  std::string isa;    ///< the instruction-set target that the kernels chose
  JsonObject unknown;
};

struct Environment {
  std::string fingerprint;
  std::string cpu;
  std::int64_t cores = 0;
  std::vector<std::string> isa;
  std::string kernel;
  std::string governor;
  std::string container;
  std::int64_t memory_bytes = 0;
  Json device;  ///< null on the CPU
  JsonObject unknown;
};

struct Model {
  std::string name;  ///< as the user named it: a folder, a file, a preset
  std::string family;
  std::optional<std::int64_t> parameters;
  std::optional<std::int64_t> flops;  ///< of one inference
  std::optional<std::int64_t> weights_bytes;
  std::string weights_sha256;
  bool stand_in = false;  ///< weights of the right shapes that know nothing
  JsonObject unknown;
};

struct Input {
  std::string kind;  ///< "image", "video", "tensor", "synthetic"
  std::string name;
  std::string sha256;
  JsonObject unknown;
};

/// What the latency contains and what it does not, in words or stage names.
struct TimedRegion {
  std::vector<std::string> includes;
  std::vector<std::string> excludes;
  JsonObject unknown;
};

/// Nothing is known of the clock behind an imported result.
struct Clock {
  std::optional<std::int64_t> resolution_ns;
  std::optional<std::int64_t> cost_ns;  ///< of reading it once
  /// Of reading the covariates of one sample, which happens outside of its stamps.
  std::optional<std::int64_t> covariates_cost_ns;
  /// Of reading what surrounds the samples (steal, pressure, probes), between them; and how many
  /// samples share one such reading.
  std::optional<std::int64_t> surroundings_cost_ns;
  std::optional<std::int64_t> surroundings_every;
  JsonObject unknown;
};

struct ColdStart {
  std::optional<std::int64_t> load_ns;
  std::optional<std::int64_t> first_inference_ns;
  JsonObject unknown;
};

struct WarmUp {
  std::string method;          ///< "fixed", or "fixed, then MSER-5 on medians"
  std::int64_t discarded = 0;  ///< runs before the samples, all of them
  std::int64_t fixed = 0;      ///< of those, the ones that were asked for
  /// False when no steady state was seen: then only the fixed ones are discarded.
  std::optional<bool> steady;
  std::vector<std::int64_t> latency_ns;  ///< of the discarded runs, in order
  JsonObject unknown;
};

struct Sampling {
  std::int64_t count = 0;
  std::string stop_reason;
  JsonObject unknown;
};

struct Phases {
  ColdStart cold_start;
  WarmUp warm_up;
  Sampling sampling;
  JsonObject unknown;
};

struct StageSamples {
  Stage stage = Stage::kUnattributed;
  std::vector<std::int64_t> times_ns;  ///< one per sample
};

struct CovariateSamples {
  std::string name;            ///< "involuntary_switches"
  std::vector<double> values;  ///< one per sample, larger is worse
};

struct Samples {
  std::vector<std::int64_t> latency_ns;  ///< in the order in which they were taken
  std::vector<std::int64_t> start_ns;    ///< since the first sample's start; may be empty
  std::vector<StageSamples> stages;
  std::vector<CovariateSamples> covariates;
  JsonObject unknown;
};

struct Percentile {
  stats::Probability p;
  std::int64_t value_ns = 0;
  std::optional<std::int64_t> ci_low_ns;
  std::optional<std::int64_t> ci_high_ns;
  stats::Probability confidence{95, 100};
  std::optional<std::int64_t> rank_low;
  std::optional<std::int64_t> rank_high;
  double n_eff = 0;                 ///< what the samples are worth at this percentile
  std::int64_t samples_needed = 1;  ///< for both bounds, at this dependence
  JsonObject unknown;
};

struct LatencySummary {
  std::int64_t n = 0;
  double n_eff = 0;  ///< the least among the percentiles
  std::int64_t mean_ns = 0;
  std::optional<std::int64_t> standard_deviation_ns;
  std::int64_t mad_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
  std::vector<Percentile> percentiles;
  JsonObject unknown;
};

struct StageSummary {
  Stage stage = Stage::kUnattributed;
  std::int64_t mean_ns = 0;
  double share = 0;  ///< of the summed latency
  std::vector<Percentile> percentiles;
  JsonObject unknown;
};

/// Whether the samples are one steady series (docs/measurement.md).
struct Steadiness {
  std::string name = "undetermined";        ///< "steady", "drifting", "warm-up", "slow-down" ...
  std::vector<std::int64_t> change_points;  ///< 0-based first samples of later segments
  std::vector<std::int64_t> segment_medians_ns;
  std::optional<double> trend_p;
  std::optional<double> trend_change;  ///< over the run, as a share of the median
  std::int64_t outliers = 0;           ///< labelled, never dropped
  bool bimodal = false;
  std::optional<double> root_n_dip;
  std::optional<std::int64_t> lower_mode_ns;  ///< both present where bimodal
  std::optional<std::int64_t> upper_mode_ns;
  std::optional<double> upper_share;
  JsonObject unknown;
};

struct Summary {
  LatencySummary latency;
  std::vector<StageSummary> stages;  ///< largest first
  std::optional<double> throughput_per_s;
  std::optional<double> throughput_ci_low;
  std::optional<double> throughput_ci_high;
  std::optional<Steadiness> steadiness;
  JsonObject unknown;
};

/// A reason to trust the figures less, with what to do about it.
struct Caveat {
  std::string id;  ///< dotted and stable: "sampling.few"
  std::string message;
  std::string advice;
  JsonObject unknown;
};

/// Whether a service level is met: pass, fail or inconclusive.
struct Verdict {
  std::string id;       ///< "slo"
  std::string target;   ///< "p95<30ms"
  std::string verdict;  ///< "pass", "fail", "inconclusive"
  std::string message;  ///< one sentence with the figures it rests on
  std::string advice;   ///< "" where there is nothing to do
  std::int64_t n = 0;
  std::int64_t over = 0;  ///< samples above the limit
  double n_eff = 0;       ///< what the samples are worth for this verdict
  stats::Probability confidence{95, 100};
  std::optional<std::int64_t> further_samples;  ///< clean ones that would make it a pass
  JsonObject unknown;
};

/// Something that the samples show, with its evidence; the first is the first cause.
struct Finding {
  std::string id;       ///< dotted and stable: "tail.major_faults"
  std::string message;  ///< one sentence
  JsonObject evidence;  ///< the figures it rests on
  Json threshold;       ///< beyond which it is claimed
  Json gain;            ///< what mending it would give, where that is known
  std::string advice;   ///< "try" in the file
  JsonObject unknown;
};

/// One side of a comparison.
struct ComparedSide {
  std::string label;        ///< the file, or the command as it was given
  std::string fingerprint;  ///< of the machine
  std::int64_t n = 0;
  LatencySummary latency;
  Samples samples;
  JsonObject unknown;
};

/// B against A in one quantity. Ratios are B / A: above 1, B is slower.
struct ComparedQuantity {
  std::string name;  ///< "latency", "p99", "stage.decode"
  std::int64_t a_ns = 0;
  std::int64_t b_ns = 0;
  double ratio = 1;
  std::optional<double> ci_low;
  std::optional<double> ci_high;
  std::optional<double> p;           ///< of the claim, before the adjustment
  std::optional<double> p_adjusted;  ///< by Holm, over the quantities of its group
  std::string verdict;               ///< "regressed", "improved", "equivalent", "inconclusive"
  std::string note;                  ///< why it is inconclusive, or ""
  /// About how many samples a side (pairs, where it is paired) would settle what is inconclusive.
  std::optional<std::int64_t> samples_needed{};
  JsonObject unknown;
};

struct Comparison {
  bool paired = false;
  double margin = 0;  ///< 0.02 for 2%
  stats::Probability confidence{95, 100};
  ComparedSide a;
  ComparedSide b;
  std::vector<ComparedQuantity> quantities;  ///< "latency" first
  std::vector<std::string> left_out{};       ///< "read: below 0.1% of the latency"
  std::string verdict;                       ///< of the whole
  JsonObject unknown;
};

/// What several processes that were started afresh say together.
struct Processes {
  std::int64_t count = 0;
  std::vector<std::int64_t> medians_ns;  ///< one per process, in their order
  double within_ns2 = 0;   ///< variance that a process's median has by its own sampling, on average
  double between_ns2 = 0;  ///< variance of the medians
  bool over_processes = false;  ///< the intervals are over processes: between exceeds within
  JsonObject unknown;
};

struct SweepPoint;

struct Document {
  std::string kind = "measure";
  std::string created;  ///< ISO 8601 in UTC: "2025-01-31T12:00:00Z"
  Tool tool;
  Environment environment;
  JsonObject configuration;  ///< every flag that took effect, in order
  std::optional<Model> model;
  Input input;
  TimedRegion timed_region;
  Clock clock;
  Phases phases;
  Samples samples;
  std::optional<Summary> summary;  ///< none when no sample was taken
  std::vector<Verdict> verdicts;
  std::vector<Finding> findings;
  std::optional<Comparison> comparison;  ///< of kind "compare"
  std::vector<SweepPoint> points;        ///< of kind "sweep"
  std::optional<Processes> processes;    ///< where `samples` come from several
  std::vector<Caveat> caveats;
  JsonObject unknown;
};

/// One setting of a sweep, with the whole result that it gave.
struct SweepPoint {
  JsonObject setting;  ///< {"batch": "4"}
  Document result;
  JsonObject unknown{};
};

/// The whole document as a tree of its own: some 40 bytes a number.
Json to_json(const Document& document);

/// Errors, all kBadData: another schema, a newer version (by name), a missing or ill-typed field
/// (by its path), stages or covariates that do not have one value per sample.
Result<Document> from_json(Json json);

/// The text of to_json in pieces, straight from the document's columns. Error: the sink's.
Result<void> write_result(const JsonSink& sink, const Document& document);

/// Replaces `path` by the whole document at once. Errors: kCannotCreate, kInputOutput.
Result<void> write_result(const std::filesystem::path& path, const Document& document);

/// Errors: kMissingInput, kInputOutput, and those of from_json, naming the file.
Result<Document> read_result(const std::filesystem::path& path);

}  // namespace vivace::result
