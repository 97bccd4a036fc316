// The document from JSON: one read_ function per structure, in the order of the file.
#include <fmt/format.h>

#include "core/text.h"
#include "result/document.h"
#include "result/field_reader.h"
#include "stats/quantile.h"

namespace vivace::result {
namespace {

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
  reader.object("stages_ns", kOptional, [&](FieldReader& stages) {
    for (const std::string& name : stages.keys()) {
      const auto stage = stage_named(name);
      if (!stage) {
        stages.problem().report(stages.path_of(name),
                                " is no stage of this version; upgrade "
                                "vivace, or remove the stage");
        return;
      }
      StageSamples& one = out.stages.emplace_back();
      one.stage = *stage;
      stages.read(name, kRequired, one.times_ns);
      expect_one_per_sample(stages, name, one.times_ns.size(), count);
    }
  });
  reader.object("covariates", kOptional, [&](FieldReader& covariates) {
    for (const std::string& name : covariates.keys()) {
      CovariateSamples& one = out.covariates.emplace_back();
      one.name = name;
      covariates.read(name, kRequired, one.values);
      expect_one_per_sample(covariates, name, one.values.size(), count);
    }
  });
  out.unknown = reader.unknown();
}

void read_latency_summary(FieldReader& reader, LatencySummary& out) {
  reader.read("n", kRequired, out.n);
  out.n_eff = static_cast<double>(out.n);
  reader.read("n_eff", kOptional, out.n_eff);
  reader.read_rounded("mean", kRequired, out.mean_ns);
  reader.read_nullable_rounded("standard_deviation", kOptional, out.standard_deviation_ns);
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
    quantity.read_nullable("samples_needed", kOptional, one.samples_needed);
    one.unknown = quantity.unknown();
  });
  reader.read("left_out", kOptional, out.left_out);
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
  reader.read_nullable("throughput_ci_low", kOptional, out.throughput_ci_low);
  reader.read_nullable("throughput_ci_high", kOptional, out.throughput_ci_high);
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

void read_clock(FieldReader& reader, Clock& out) {
  reader.read_nullable_rounded("resolution_ns", kRequired, out.resolution_ns);
  reader.read_nullable_rounded("cost_ns", kRequired, out.cost_ns);
  reader.read_nullable("covariates_cost_ns", kOptional, out.covariates_cost_ns);
  reader.read_nullable("surroundings_cost_ns", kOptional, out.surroundings_cost_ns);
  reader.read_nullable("surroundings_every", kOptional, out.surroundings_every);
  out.unknown = reader.unknown();
}

void read_processes(FieldReader& reader, Processes& out) {
  reader.read("count", kRequired, out.count);
  reader.read("medians_ns", kRequired, out.medians_ns);
  reader.read("within_ns2", kRequired, out.within_ns2);
  reader.read("between_ns2", kRequired, out.between_ns2);
  reader.read("over_processes", kRequired, out.over_processes);
  out.unknown = reader.unknown();
}

void read_document(FieldReader& reader, Document& out) {
  for (const std::string_view checked : {"schema", "version"}) reader.find(checked, kRequired);
  reader.read("kind", kRequired, out.kind);
  reader.read("created", kRequired, out.created);
  reader.object("tool", kRequired, [&](FieldReader& tool) { read_tool(tool, out.tool); });
  reader.object("environment", kRequired,
                [&](FieldReader& environment) { read_environment(environment, out.environment); });
  reader.read("configuration", kOptional, out.configuration);
  reader.object("model", kOptional,
                [&](FieldReader& model) { read_model(model, out.model.emplace()); });
  reader.object("input", kOptional, [&](FieldReader& input) { read_input(input, out.input); });
  reader.object("timed_region", kRequired, [&](FieldReader& region) {
    region.read("includes", kRequired, out.timed_region.includes);
    region.read("excludes", kRequired, out.timed_region.excludes);
    out.timed_region.unknown = region.unknown();
  });
  reader.object("clock", kOptional, [&](FieldReader& clock) { read_clock(clock, out.clock); });
  reader.object("phases", kRequired, [&](FieldReader& phases) { read_phases(phases, out.phases); });
  reader.object("samples", kRequired,
                [&](FieldReader& samples) { read_samples(samples, out.samples); });
  reader.object("summary", kOptional,
                [&](FieldReader& summary) { read_summary(summary, out.summary.emplace()); });
  reader.objects("verdicts", kOptional,
                 [&](FieldReader& verdict) { read_verdict(verdict, out.verdicts.emplace_back()); });
  reader.objects("findings", kOptional,
                 [&](FieldReader& finding) { read_finding(finding, out.findings.emplace_back()); });
  reader.object("comparison", kOptional, [&](FieldReader& comparison) {
    read_comparison(comparison, out.comparison.emplace());
  });
  reader.objects("points", kOptional, [&](FieldReader& point) {
    SweepPoint& one = out.points.emplace_back();
    point.read("setting", kRequired, one.setting);
    point.object("result", kRequired, [&](FieldReader& result) {
      if (auto known = check_schema(result.value()); !known) {
        return point.problem().report(std::move(known).error());
      }
      read_document(result, one.result);
    });
    one.unknown = point.unknown();
  });
  reader.object("processes", kOptional, [&](FieldReader& processes) {
    read_processes(processes, out.processes.emplace());
  });
  reader.objects("caveats", kOptional, [&](FieldReader& caveat) {
    Caveat& one = out.caveats.emplace_back();
    caveat.read("id", kRequired, one.id);
    caveat.read("message", kRequired, one.message);
    caveat.read("advice", kOptional, one.advice);
    one.unknown = caveat.unknown();
  });
  out.unknown = reader.unknown();
}

}  // namespace

Result<Document> from_json(Json json) {
  VIVACE_CHECK_OK(check_schema(json));
  Problem problem;
  FieldReader reader(json, "", problem);
  Document document;
  read_document(reader, document);
  if (problem.found()) return tl::unexpected(problem.error());
  return document;
}

}  // namespace vivace::result
