// The document as JSON and back: one write_ and one read_ function per structure, in the order of
// the file. What a reader does not know is appended behind what it knows.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/text.h"
#include "result/document.h"
#include "result/field_reader.h"
#include "stats/quantile.h"

namespace vivace::result {
namespace {

// Writing ---------------------------------------------------------------------------------------

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

Json write_samples(const Samples& samples) {
  JsonObject stages;
  for (const StageSamples& one : samples.stages) {
    stages.emplace_back(name_of(one.stage), integers(one.times_ns));
  }
  JsonObject covariates;
  for (const CovariateSamples& one : samples.covariates) {
    JsonArray values;
    values.reserve(one.values.size());
    for (const double value : one.values) values.push_back(number(value));
    covariates.emplace_back(one.name, std::move(values));
  }
  return with_unknown({{"latency_ns", integers(samples.latency_ns)},
                       {"start_ns", integers(samples.start_ns)},
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

Json write_side(const ComparedSide& side) {
  return with_unknown({{"label", side.label},
                       {"fingerprint", side.fingerprint},
                       {"n", side.n},
                       {"latency_ns", write_latency_summary(side.latency)},
                       {"samples", write_samples(side.samples)}},
                      side.unknown);
}

Json write_comparison(const Comparison& comparison) {
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
                                       {"note", one.note}},
                                      one.unknown));
  }
  return with_unknown({{"paired", comparison.paired},
                       {"margin", comparison.margin},
                       {"confidence", comparison.confidence.value()},
                       {"verdict", comparison.verdict},
                       {"quantities", std::move(quantities)},
                       {"a", write_side(comparison.a)},
                       {"b", write_side(comparison.b)}},
                      comparison.unknown);
}

// Reading ---------------------------------------------------------------------------------------

constexpr Need kRequired = Need::kRequired;
constexpr Need kOptional = Need::kOptional;

/// `n` and `n_eff` stand in where another version did not write a percentile's own.
std::vector<Percentile> read_percentiles(FieldReader& parent, std::int64_t n) {
  std::vector<Percentile> percentiles;
  parent.objects("percentiles", kRequired, [&](FieldReader& reader) {
    Percentile one;
    reader.read_percent("p", kRequired, one.p);
    reader.read("value", kRequired, one.value_ns);
    reader.read_nullable("ci_low", kRequired, one.ci_low_ns);
    reader.read_nullable("ci_high", kRequired, one.ci_high_ns);
    reader.read_fraction("confidence", kRequired, one.confidence);
    reader.read_nullable("rank_low", kRequired, one.rank_low);
    reader.read_nullable("rank_high", kRequired, one.rank_high);
    one.n_eff = static_cast<double>(n);
    reader.read("n_eff", kOptional, one.n_eff);
    one.samples_needed = stats::minimum_n(one.p, one.confidence, stats::Sides::kBoth);
    reader.read("samples_needed", kOptional, one.samples_needed);
    one.unknown = reader.unknown();
    percentiles.push_back(std::move(one));
  });
  return percentiles;
}

void read_tool(FieldReader& reader, Tool& out) {
  reader.read("version", kRequired, out.version);
  reader.read("build", kOptional, out.build);
  reader.read("isa", kOptional, out.isa);
  out.unknown = reader.unknown();
}

void read_environment(FieldReader& reader, Environment& out) {
  reader.read("fingerprint", kRequired, out.fingerprint);
  reader.read("cpu", kOptional, out.cpu);
  reader.read("cores", kOptional, out.cores);
  reader.read("isa", kOptional, out.isa);
  reader.read("kernel", kOptional, out.kernel);
  reader.read("governor", kOptional, out.governor);
  reader.read("container", kOptional, out.container);
  reader.read("memory_bytes", kOptional, out.memory_bytes);
  reader.read("device", kOptional, out.device);
  out.unknown = reader.unknown();
}

void read_model(FieldReader& reader, Model& out) {
  reader.read("name", kOptional, out.name);
  reader.read("family", kRequired, out.family);
  reader.read_nullable("parameters", kOptional, out.parameters);
  reader.read_nullable("flops", kOptional, out.flops);
  reader.read_nullable("weights_bytes", kOptional, out.weights_bytes);
  reader.read("weights_sha256", kOptional, out.weights_sha256);
  reader.read("stand_in", kOptional, out.stand_in);
  out.unknown = reader.unknown();
}

void read_input(FieldReader& reader, Input& out) {
  reader.read("kind", kRequired, out.kind);
  reader.read("name", kOptional, out.name);
  reader.read("sha256", kOptional, out.sha256);
  out.unknown = reader.unknown();
}

void read_phases(FieldReader& reader, Phases& out) {
  reader.object("cold_start", kOptional, [&](FieldReader& cold) {
    cold.read_nullable("load_ns", kOptional, out.cold_start.load_ns);
    cold.read_nullable("first_inference_ns", kOptional, out.cold_start.first_inference_ns);
    out.cold_start.unknown = cold.unknown();
  });
  reader.object("warm_up", kOptional, [&](FieldReader& warm) {
    warm.read("method", kOptional, out.warm_up.method);
    warm.read("discarded", kRequired, out.warm_up.discarded);
    out.warm_up.fixed = out.warm_up.discarded;
    warm.read("fixed", kOptional, out.warm_up.fixed);
    warm.read_nullable("steady", kOptional, out.warm_up.steady);
    warm.read("latency_ns", kOptional, out.warm_up.latency_ns);
    out.warm_up.unknown = warm.unknown();
  });
  reader.object("sampling", kRequired, [&](FieldReader& sampling) {
    sampling.read("count", kRequired, out.sampling.count);
    sampling.read("stop_reason", kOptional, out.sampling.stop_reason);
    out.sampling.unknown = sampling.unknown();
  });
  out.unknown = reader.unknown();
}

/// Stages and covariates have one value for each latency.
void expect_one_per_sample(FieldReader& reader, std::string_view key, std::size_t got,
                           std::size_t want) {
  if (got == want) return;
  reader.problem().report(
      reader.path_of(key),
      fmt::format(" is wrong (expected {} values, one per sample, got {})", want, got));
}

void read_samples(FieldReader& reader, Samples& out) {
  reader.read("latency_ns", kRequired, out.latency_ns);
  const std::size_t count = out.latency_ns.size();
  reader.read("start_ns", kOptional, out.start_ns);
  if (!out.start_ns.empty()) expect_one_per_sample(reader, "start_ns", out.start_ns.size(), count);
  JsonObject names;
  reader.read("stages_ns", kOptional, names);
  reader.object("stages_ns", kOptional, [&](FieldReader& stages) {
    for (const auto& [name, values] : names) {
      const auto stage = stage_named(name);
      if (!stage) {
        stages.problem().report(stages.path_of(name),
                                " is no stage of this version; upgrade "
                                "vivace, or remove the stage");
        return;
      }
      StageSamples one{.stage = *stage, .times_ns = {}};
      stages.read(name, kRequired, one.times_ns);
      expect_one_per_sample(stages, name, one.times_ns.size(), count);
      out.stages.push_back(std::move(one));
    }
  });
  names.clear();
  reader.read("covariates", kOptional, names);
  reader.object("covariates", kOptional, [&](FieldReader& covariates) {
    for (const auto& [name, values] : names) {
      CovariateSamples one{.name = name, .values = {}};
      covariates.read(name, kRequired, one.values);
      expect_one_per_sample(covariates, name, one.values.size(), count);
      out.covariates.push_back(std::move(one));
    }
  });
  out.unknown = reader.unknown();
}

void read_latency_summary(FieldReader& reader, LatencySummary& out) {
  reader.read("n", kRequired, out.n);
  out.n_eff = static_cast<double>(out.n);
  reader.read("n_eff", kOptional, out.n_eff);
  reader.read_rounded("mean", kRequired, out.mean_ns);
  const Json* deviation = reader.find("standard_deviation", kOptional);
  if (deviation != nullptr && !deviation->is_null()) {
    std::int64_t rounded = 0;
    reader.read_rounded("standard_deviation", kRequired, rounded);
    out.standard_deviation_ns = rounded;
  }
  reader.read_rounded("mad", kOptional, out.mad_ns);
  reader.read("min", kRequired, out.min_ns);
  reader.read("max", kRequired, out.max_ns);
  out.percentiles = read_percentiles(reader, out.n);
  out.unknown = reader.unknown();
}

void read_stage_summary(FieldReader& reader, std::int64_t n, StageSummary& out) {
  std::string name;
  reader.read("stage", kRequired, name);
  const auto stage = stage_named(name);
  if (!stage) reader.problem().report(reader.path_of("stage"), "the name of a stage", Json(name));
  out.stage = stage.value_or(Stage::kUnattributed);
  reader.read_rounded("mean_ns", kRequired, out.mean_ns);
  reader.read("share", kRequired, out.share);
  out.percentiles = read_percentiles(reader, n);
  out.unknown = reader.unknown();
}

void read_steadiness(FieldReader& reader, Steadiness& out) {
  reader.read("class", kRequired, out.name);
  reader.read("change_points", kOptional, out.change_points);
  reader.read("segment_medians_ns", kOptional, out.segment_medians_ns);
  reader.read_nullable("trend_p", kOptional, out.trend_p);
  reader.read_nullable("trend_change", kOptional, out.trend_change);
  reader.read("outliers", kOptional, out.outliers);
  reader.read("bimodal", kOptional, out.bimodal);
  reader.read_nullable("root_n_dip", kOptional, out.root_n_dip);
  reader.read_nullable("lower_mode_ns", kOptional, out.lower_mode_ns);
  reader.read_nullable("upper_mode_ns", kOptional, out.upper_mode_ns);
  reader.read_nullable("upper_share", kOptional, out.upper_share);
  out.unknown = reader.unknown();
}

void read_verdict(FieldReader& reader, Verdict& out) {
  reader.read("id", kRequired, out.id);
  reader.read("target", kOptional, out.target);
  reader.read("verdict", kRequired, out.verdict);
  reader.read("message", kOptional, out.message);
  reader.read("n", kOptional, out.n);
  reader.read("over", kOptional, out.over);
  reader.read("n_eff", kOptional, out.n_eff);
  reader.read_fraction("confidence", kOptional, out.confidence);
  reader.read_nullable("further_samples", kOptional, out.further_samples);
  reader.read("try", kOptional, out.advice);
  out.unknown = reader.unknown();
}

void read_finding(FieldReader& reader, Finding& out) {
  reader.read("id", kRequired, out.id);
  reader.read("message", kOptional, out.message);
  reader.read("evidence", kOptional, out.evidence);
  reader.read("threshold", kOptional, out.threshold);
  reader.read("gain", kOptional, out.gain);
  reader.read("try", kOptional, out.advice);
  out.unknown = reader.unknown();
}

void read_side(FieldReader& reader, ComparedSide& out) {
  reader.read("label", kRequired, out.label);
  reader.read("fingerprint", kOptional, out.fingerprint);
  reader.read("n", kRequired, out.n);
  reader.object("latency_ns", kRequired,
                [&](FieldReader& latency) { read_latency_summary(latency, out.latency); });
  reader.object("samples", kOptional,
                [&](FieldReader& samples) { read_samples(samples, out.samples); });
  out.unknown = reader.unknown();
}

void read_comparison(FieldReader& reader, Comparison& out) {
  reader.read("paired", kRequired, out.paired);
  reader.read("margin", kRequired, out.margin);
  reader.read_fraction("confidence", kRequired, out.confidence);
  reader.read("verdict", kRequired, out.verdict);
  reader.objects("quantities", kRequired, [&](FieldReader& quantity) {
    ComparedQuantity& one = out.quantities.emplace_back();
    quantity.read("name", kRequired, one.name);
    quantity.read("a_ns", kRequired, one.a_ns);
    quantity.read("b_ns", kRequired, one.b_ns);
    quantity.read("ratio", kRequired, one.ratio);
    quantity.read_nullable("ci_low", kOptional, one.ci_low);
    quantity.read_nullable("ci_high", kOptional, one.ci_high);
    quantity.read_nullable("p", kOptional, one.p);
    quantity.read_nullable("p_adjusted", kOptional, one.p_adjusted);
    quantity.read("verdict", kRequired, one.verdict);
    quantity.read("note", kOptional, one.note);
    one.unknown = quantity.unknown();
  });
  reader.object("a", kRequired, [&](FieldReader& side) { read_side(side, out.a); });
  reader.object("b", kRequired, [&](FieldReader& side) { read_side(side, out.b); });
  out.unknown = reader.unknown();
}

void read_summary(FieldReader& reader, Summary& out) {
  reader.object("latency_ns", kRequired,
                [&](FieldReader& latency) { read_latency_summary(latency, out.latency); });
  reader.objects("stages", kOptional, [&](FieldReader& stage) {
    read_stage_summary(stage, out.latency.n, out.stages.emplace_back());
  });
  reader.read_nullable("throughput_per_s", kOptional, out.throughput_per_s);
  reader.object("steadiness", kOptional, [&](FieldReader& steadiness) {
    read_steadiness(steadiness, out.steadiness.emplace());
  });
  out.unknown = reader.unknown();
}

/// Refuses what this version cannot read whole, before anything else is looked at.
Result<void> check_schema(const Json& json) {
  const Json* schema = json.find("schema");
  if (schema == nullptr || !schema->is_string() || schema->as_string() != kSchema) {
    const std::string got = schema == nullptr     ? "no schema"
                            : schema->is_string() ? quote(schema->as_string(), 60)
                                                  : std::string(schema->kind_name());
    return fail(ErrorCode::kBadData,
                {.what = "not a result file of vivace",
                 .expected = fmt::format("an object with \"schema\": \"{}\"", kSchema),
                 .got = json.is_object() ? got : std::string(json.kind_name()),
                 .advice = "name a file that --json wrote"});
  }
  const Json* version = json.find("version");
  if (version == nullptr || !version->is_integer() || version->as_integer() < 1) {
    return fail(ErrorCode::kBadData,
                {.what = "the result file has no format version",
                 .expected = "a whole number from 1",
                 .got = version == nullptr ? "none" : std::string(version->kind_name()),
                 .advice = "write it again"});
  }
  if (version->as_integer() > kVersion) {
    return fail(
        ErrorCode::kBadData,
        {.what = fmt::format("the result file has format version {} of {}", version->as_integer(),
                             kSchema),
         .expected = fmt::format("at most version {}, the newest that this vivace knows", kVersion),
         .got = std::to_string(version->as_integer()),
         .advice = "read it with the vivace that wrote it, or a newer one"});
  }
  return {};
}

}  // namespace

Json to_json(const Document& document) {
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
      {"clock", with_unknown({{"resolution_ns", document.clock.resolution_ns},
                              {"cost_ns", document.clock.cost_ns},
                              {"covariates_cost_ns", nullable(document.clock.covariates_cost_ns)}},
                             document.clock.unknown)},
      {"phases", write_phases(document.phases)},
      {"samples", write_samples(document.samples)},
      {"summary", write_summary(document.summary)},
      {"verdicts", std::move(verdicts)},
      {"findings", std::move(findings)},
      {"caveats", std::move(caveats)}};
  if (document.comparison) {
    object.emplace_back("comparison", write_comparison(*document.comparison));
  }
  return with_unknown(std::move(object), document.unknown);
}

Result<Document> from_json(const Json& json) {
  VIVACE_CHECK_OK(check_schema(json));
  Problem problem;
  FieldReader reader(json, "", problem);
  Document document;
  for (const std::string_view checked : {"schema", "version"}) reader.find(checked, kRequired);
  reader.read("kind", kRequired, document.kind);
  reader.read("created", kRequired, document.created);
  reader.object("tool", kRequired, [&](FieldReader& tool) { read_tool(tool, document.tool); });
  reader.object("environment", kRequired, [&](FieldReader& environment) {
    read_environment(environment, document.environment);
  });
  reader.read("configuration", kOptional, document.configuration);
  reader.object("model", kOptional,
                [&](FieldReader& model) { read_model(model, document.model.emplace()); });
  reader.object("input", kOptional, [&](FieldReader& input) { read_input(input, document.input); });
  reader.object("timed_region", kRequired, [&](FieldReader& region) {
    region.read("includes", kRequired, document.timed_region.includes);
    region.read("excludes", kRequired, document.timed_region.excludes);
    document.timed_region.unknown = region.unknown();
  });
  reader.object("clock", kOptional, [&](FieldReader& clock) {
    clock.read_rounded("resolution_ns", kRequired, document.clock.resolution_ns);
    clock.read_rounded("cost_ns", kRequired, document.clock.cost_ns);
    clock.read_nullable("covariates_cost_ns", kOptional, document.clock.covariates_cost_ns);
    document.clock.unknown = clock.unknown();
  });
  reader.object("phases", kRequired,
                [&](FieldReader& phases) { read_phases(phases, document.phases); });
  reader.object("samples", kRequired,
                [&](FieldReader& samples) { read_samples(samples, document.samples); });
  reader.object("summary", kOptional,
                [&](FieldReader& summary) { read_summary(summary, document.summary.emplace()); });
  reader.objects("verdicts", kOptional, [&](FieldReader& verdict) {
    read_verdict(verdict, document.verdicts.emplace_back());
  });
  reader.objects("findings", kOptional, [&](FieldReader& finding) {
    read_finding(finding, document.findings.emplace_back());
  });
  reader.object("comparison", kOptional, [&](FieldReader& comparison) {
    read_comparison(comparison, document.comparison.emplace());
  });
  reader.objects("caveats", kOptional, [&](FieldReader& caveat) {
    Caveat& one = document.caveats.emplace_back();
    caveat.read("id", kRequired, one.id);
    caveat.read("message", kRequired, one.message);
    caveat.read("advice", kOptional, one.advice);
    one.unknown = caveat.unknown();
  });
  document.unknown = reader.unknown();
  if (problem.found()) return tl::unexpected(problem.error());
  return document;
}

}  // namespace vivace::result
