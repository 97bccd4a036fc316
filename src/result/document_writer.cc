// The document as JSON: one write_ function per structure, in the order of the file. What a reader
// did not know is appended behind what it knew. The columns of samples are copied into the tree
// where it may outlive the document, and viewed where the tree is only written.
#include <cmath>

#include "result/document.h"

namespace vivace::result {
namespace {

enum class Columns { kCopied, kViewed };

Json with_unknown(JsonObject object, const JsonObject& unknown) {
  object.insert(object.end(), unknown.begin(), unknown.end());
  return object;
}

template <class T>
Json nullable(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json strings(const std::vector<std::string>& values) {
  return JsonArray(values.begin(), values.end());
}

Json integers(const std::vector<std::int64_t>& values) {
  return JsonArray(values.begin(), values.end());
}

/// As an integer where it is one, so that counts look like counts.
Json number(double value) {
  if (value == std::floor(value) && std::abs(value) < 0x1p53) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

Json column(const std::vector<std::int64_t>& values, Columns columns) {
  return columns == Columns::kViewed ? Json::view(values) : integers(values);
}

Json column(const std::vector<double>& values, Columns columns) {
  if (columns == Columns::kViewed) return Json::view(values);
  JsonArray array;
  array.reserve(values.size());
  for (const double value : values) array.push_back(number(value));
  return array;
}

Json decimal(std::int64_t numerator, std::int64_t denominator) {
  if (numerator % denominator == 0) return numerator / denominator;
  return static_cast<double>(numerator) / static_cast<double>(denominator);
}

Json percent_of(const stats::Probability& p) {
  // Dividing two exact integers gives the double nearest to the decimal, whose shortest text is
  // the decimal again.
  return p.denominator() >= 100 ? decimal(p.numerator(), p.denominator() / 100)
                                : Json(p.numerator() * (100 / p.denominator()));
}

Json write_percentile(const Percentile& percentile) {
  return with_unknown({{"p", percent_of(percentile.p)},
                       {"value", percentile.value_ns},
                       {"ci_low", nullable(percentile.ci_low_ns)},
                       {"ci_high", nullable(percentile.ci_high_ns)},
                       {"confidence", percentile.confidence.value()},
                       {"rank_low", nullable(percentile.rank_low)},
                       {"rank_high", nullable(percentile.rank_high)},
                       {"n_eff", number(percentile.n_eff)},
                       {"samples_needed", percentile.samples_needed}},
                      percentile.unknown);
}

Json write_percentiles(const std::vector<Percentile>& percentiles) {
  JsonArray array;
  for (const Percentile& percentile : percentiles) array.push_back(write_percentile(percentile));
  return array;
}

Json write_environment(const Environment& environment) {
  return with_unknown({{"fingerprint", environment.fingerprint},
                       {"cpu", environment.cpu},
                       {"cores", environment.cores},
                       {"isa", strings(environment.isa)},
                       {"kernel", environment.kernel},
                       {"governor", environment.governor},
                       {"container", environment.container},
                       {"memory_bytes", environment.memory_bytes},
                       {"device", environment.device}},
                      environment.unknown);
}

Json write_model(const std::optional<Model>& model) {
  if (!model) return {};
  return with_unknown({{"name", model->name},
                       {"family", model->family},
                       {"parameters", nullable(model->parameters)},
                       {"flops", nullable(model->flops)},
                       {"weights_bytes", nullable(model->weights_bytes)},
                       {"weights_sha256", model->weights_sha256},
                       {"stand_in", model->stand_in}},
                      model->unknown);
}

Json write_phases(const Phases& phases) {
  const ColdStart& cold = phases.cold_start;
  return with_unknown(
      {{"cold_start", with_unknown({{"load_ns", nullable(cold.load_ns)},
                                    {"first_inference_ns", nullable(cold.first_inference_ns)}},
                                   cold.unknown)},
       {"warm_up", with_unknown({{"method", phases.warm_up.method},
                                 {"discarded", phases.warm_up.discarded},
                                 {"fixed", phases.warm_up.fixed},
                                 {"steady", nullable(phases.warm_up.steady)},
                                 {"latency_ns", integers(phases.warm_up.latency_ns)}},
                                phases.warm_up.unknown)},
       {"sampling", with_unknown({{"count", phases.sampling.count},
                                  {"stop_reason", phases.sampling.stop_reason}},
                                 phases.sampling.unknown)}},
      phases.unknown);
}

Json write_samples(const Samples& samples, Columns columns) {
  JsonObject stages;
  for (const StageSamples& one : samples.stages) {
    stages.emplace_back(name_of(one.stage), column(one.times_ns, columns));
  }
  JsonObject covariates;
  for (const CovariateSamples& one : samples.covariates) {
    covariates.emplace_back(one.name, column(one.values, columns));
  }
  return with_unknown({{"latency_ns", column(samples.latency_ns, columns)},
                       {"start_ns", column(samples.start_ns, columns)},
                       {"stages_ns", std::move(stages)},
                       {"covariates", std::move(covariates)}},
                      samples.unknown);
}

Json write_latency_summary(const LatencySummary& latency) {
  return with_unknown({{"n", latency.n},
                       {"n_eff", number(latency.n_eff)},
                       {"mean", latency.mean_ns},
                       {"standard_deviation", nullable(latency.standard_deviation_ns)},
                       {"mad", latency.mad_ns},
                       {"min", latency.min_ns},
                       {"max", latency.max_ns},
                       {"percentiles", write_percentiles(latency.percentiles)}},
                      latency.unknown);
}

Json write_steadiness(const std::optional<Steadiness>& steadiness) {
  if (!steadiness) return {};
  return with_unknown({{"class", steadiness->name},
                       {"change_points", integers(steadiness->change_points)},
                       {"segment_medians_ns", integers(steadiness->segment_medians_ns)},
                       {"trend_p", nullable(steadiness->trend_p)},
                       {"trend_change", nullable(steadiness->trend_change)},
                       {"outliers", steadiness->outliers},
                       {"bimodal", steadiness->bimodal},
                       {"root_n_dip", nullable(steadiness->root_n_dip)},
                       {"lower_mode_ns", nullable(steadiness->lower_mode_ns)},
                       {"upper_mode_ns", nullable(steadiness->upper_mode_ns)},
                       {"upper_share", nullable(steadiness->upper_share)}},
                      steadiness->unknown);
}

Json write_summary(const std::optional<Summary>& summary) {
  if (!summary) return {};
  JsonArray stages;
  for (const StageSummary& one : summary->stages) {
    stages.push_back(with_unknown({{"stage", name_of(one.stage)},
                                   {"mean_ns", one.mean_ns},
                                   {"share", one.share},
                                   {"percentiles", write_percentiles(one.percentiles)}},
                                  one.unknown));
  }
  return with_unknown({{"latency_ns", write_latency_summary(summary->latency)},
                       {"stages", std::move(stages)},
                       {"throughput_per_s", nullable(summary->throughput_per_s)},
                       {"throughput_ci_low", nullable(summary->throughput_ci_low)},
                       {"throughput_ci_high", nullable(summary->throughput_ci_high)},
                       {"steadiness", write_steadiness(summary->steadiness)}},
                      summary->unknown);
}

Json write_verdict(const Verdict& verdict) {
  return with_unknown({{"id", verdict.id},
                       {"target", verdict.target},
                       {"verdict", verdict.verdict},
                       {"message", verdict.message},
                       {"n", verdict.n},
                       {"over", verdict.over},
                       {"n_eff", number(verdict.n_eff)},
                       {"confidence", verdict.confidence.value()},
                       {"further_samples", nullable(verdict.further_samples)},
                       {"try", verdict.advice}},
                      verdict.unknown);
}

Json write_finding(const Finding& finding) {
  return with_unknown({{"id", finding.id},
                       {"message", finding.message},
                       {"evidence", finding.evidence},
                       {"threshold", finding.threshold},
                       {"gain", finding.gain},
                       {"try", finding.advice}},
                      finding.unknown);
}

Json write_side(const ComparedSide& side, Columns columns) {
  return with_unknown({{"label", side.label},
                       {"fingerprint", side.fingerprint},
                       {"n", side.n},
                       {"latency_ns", write_latency_summary(side.latency)},
                       {"samples", write_samples(side.samples, columns)}},
                      side.unknown);
}

Json write_comparison(const Comparison& comparison, Columns columns) {
  JsonArray quantities;
  for (const ComparedQuantity& one : comparison.quantities) {
    quantities.push_back(with_unknown({{"name", one.name},
                                       {"a_ns", one.a_ns},
                                       {"b_ns", one.b_ns},
                                       {"ratio", one.ratio},
                                       {"ci_low", nullable(one.ci_low)},
                                       {"ci_high", nullable(one.ci_high)},
                                       {"p", nullable(one.p)},
                                       {"p_adjusted", nullable(one.p_adjusted)},
                                       {"verdict", one.verdict},
                                       {"note", one.note},
                                       {"samples_needed", nullable(one.samples_needed)}},
                                      one.unknown));
  }
  return with_unknown({{"paired", comparison.paired},
                       {"margin", comparison.margin},
                       {"confidence", comparison.confidence.value()},
                       {"verdict", comparison.verdict},
                       {"quantities", std::move(quantities)},
                       {"left_out", strings(comparison.left_out)},
                       {"a", write_side(comparison.a, columns)},
                       {"b", write_side(comparison.b, columns)}},
                      comparison.unknown);
}

/// Null where nothing is known of the clock.
Json write_clock(const Clock& clock) {
  if (!clock.resolution_ns && !clock.cost_ns && !clock.covariates_cost_ns &&
      !clock.surroundings_cost_ns && !clock.surroundings_every && clock.unknown.empty()) {
    return {};
  }
  return with_unknown({{"resolution_ns", nullable(clock.resolution_ns)},
                       {"cost_ns", nullable(clock.cost_ns)},
                       {"covariates_cost_ns", nullable(clock.covariates_cost_ns)},
                       {"surroundings_cost_ns", nullable(clock.surroundings_cost_ns)},
                       {"surroundings_every", nullable(clock.surroundings_every)}},
                      clock.unknown);
}

Json write_processes(const Processes& processes) {
  return with_unknown({{"count", processes.count},
                       {"medians_ns", integers(processes.medians_ns)},
                       {"within_ns2", number(processes.within_ns2)},
                       {"between_ns2", number(processes.between_ns2)},
                       {"over_processes", processes.over_processes}},
                      processes.unknown);
}

Json write_document(const Document& document, Columns columns);

Json write_points(const std::vector<SweepPoint>& points, Columns columns) {
  JsonArray array;
  for (const SweepPoint& one : points) {
    array.push_back(with_unknown(
        {{"setting", one.setting}, {"result", write_document(one.result, columns)}}, one.unknown));
  }
  return array;
}

Json write_document(const Document& document, Columns columns) {
  JsonArray caveats;
  for (const Caveat& caveat : document.caveats) {
    caveats.push_back(
        with_unknown({{"id", caveat.id}, {"message", caveat.message}, {"advice", caveat.advice}},
                     caveat.unknown));
  }
  JsonArray verdicts;
  for (const Verdict& verdict : document.verdicts) verdicts.push_back(write_verdict(verdict));
  JsonArray findings;
  for (const Finding& finding : document.findings) findings.push_back(write_finding(finding));
  JsonObject object = {
      {"schema", kSchema},
      {"version", kVersion},
      {"kind", document.kind},
      {"created", document.created},
      {"tool", with_unknown({{"version", document.tool.version},
                             {"build", document.tool.build},
                             {"isa", document.tool.isa}},
                            document.tool.unknown)},
      {"environment", write_environment(document.environment)},
      {"configuration", document.configuration},
      {"model", write_model(document.model)},
      {"input", with_unknown({{"kind", document.input.kind},
                              {"name", document.input.name},
                              {"sha256", document.input.sha256}},
                             document.input.unknown)},
      {"timed_region", with_unknown({{"includes", strings(document.timed_region.includes)},
                                     {"excludes", strings(document.timed_region.excludes)}},
                                    document.timed_region.unknown)},
      {"clock", write_clock(document.clock)},
      {"phases", write_phases(document.phases)},
      {"samples", write_samples(document.samples, columns)},
      {"summary", write_summary(document.summary)},
      {"verdicts", std::move(verdicts)},
      {"findings", std::move(findings)},
      {"caveats", std::move(caveats)}};
  if (document.comparison) {
    object.emplace_back("comparison", write_comparison(*document.comparison, columns));
  }
  if (!document.points.empty()) {
    object.emplace_back("points", write_points(document.points, columns));
  }
  if (document.processes) {
    object.emplace_back("processes", write_processes(*document.processes));
  }
  return with_unknown(std::move(object), document.unknown);
}

}  // namespace

Json to_json(const Document& document) { return write_document(document, Columns::kCopied); }

Result<void> write_result(const JsonSink& sink, const Document& document) {
  return write_json(write_document(document, Columns::kViewed), sink);
}

}  // namespace vivace::result
