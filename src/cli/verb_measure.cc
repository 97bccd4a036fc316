#include <memory>
#include <vector>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/flags.h"
#include "cli/setup.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "core/text.h"
#include "core/units.h"
#include "load/measure.h"
#include "pipeline/digest.h"
#include "platform/clock.h"
#include "platform/file.h"
#include "platform/host.h"
#include "report/csv.h"
#include "report/markdown.h"
#include "report/table.h"
#include "system/pipeline_system.h"

namespace vivace::cli {
namespace {

Result<std::vector<Stage>> stages_of(const Arguments& arguments, std::string_view flag) {
  std::vector<Stage> stages;
  if (!arguments.given(flag)) return stages;
  for (const std::string& name : arguments.list(flag)) {
    const auto stage = stage_named(name);
    if (stage) stages.push_back(*stage);  // the parser let no other name through
  }
  return stages;
}

Result<system::TimedStages> timed_stages(const Arguments& arguments) {
  if (arguments.given("include") && arguments.given("exclude")) {
    return fail(ErrorCode::kUsage, {.what = "--include and --exclude are both given",
                                    .expected = "one of them",
                                    .got = {},
                                    .advice = "--include names all stages that are timed"});
  }
  VIVACE_TRY(const std::vector<Stage> include, stages_of(arguments, "include"));
  VIVACE_TRY(const std::vector<Stage> exclude, stages_of(arguments, "exclude"));
  return system::select_stages(include, exclude);
}

Result<std::vector<stats::Probability>> percentiles_of(const Arguments& arguments) {
  std::vector<stats::Probability> percentiles;
  for (const std::string& text : arguments.list("percentiles")) {
    VIVACE_TRY(const stats::Probability p, stats::parse_percentile(text));
    if (std::find(percentiles.begin(), percentiles.end(), p) == percentiles.end()) {
      percentiles.push_back(p);
    }
  }
  return percentiles;
}

void fill_environment(const pipeline::Engine& engine, result::Document& document) {
  char stamp[32];
  document.created = platform::utc_timestamp(stamp);
  document.tool.version = version_number();
  document.tool.build = build_name();
  document.tool.isa = engine.model().encoder().backend().target();
  const platform::HostFacts host = platform::host_facts();
  document.environment.fingerprint = platform::fingerprint_of(host);
  document.environment.cpu = host.cpu;
  document.environment.cores = host.cores_available;
  document.environment.isa = host.isa;
  document.environment.kernel = host.kernel;
  document.environment.governor = host.governor;
  document.environment.container = host.container;
  document.environment.memory_bytes = static_cast<std::int64_t>(host.memory_bytes);
}

Result<void> fill_model(const pipeline::Engine& engine, std::int64_t batch,
                        const Arguments& arguments, result::Document& document) {
  const model::ModelFacts& facts = engine.model().facts();
  result::Model model;
  model.name = arguments.value("model");
  model.family = facts.family;
  model.parameters = facts.parameters;
  model.flops = static_cast<std::int64_t>(total_flops(engine.model().costs(batch, engine.size())));
  model.weights_bytes = static_cast<std::int64_t>(facts.weights_bytes);
  VIVACE_TRY(model.weights_sha256, pipeline::digest_files(facts.weight_files));
  model.stand_in = facts.stand_in;
  document.model = std::move(model);
  if (facts.stand_in) {
    document.caveats.push_back(
        {.id = "model.stand_in",
         .message = "the weights are a stand-in: right sizes and speed, no knowledge",
         .advice = "latencies are those of the real model; embeddings mean nothing",
         .unknown = {}});
  }
  return {};
}

Result<void> fill_input(std::span<const pipeline::Input> inputs, result::Document& document) {
  using Kind = media::Source::Kind;
  const auto has = [&](Kind kind) {
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const pipeline::Input& input) { return input.source.kind == kind; });
  };
  document.input.kind = has(Kind::kSynthetic) ? "synthetic"
                        : has(Kind::kTensor)  ? "tensor"
                                              : "image";
  document.input.name = inputs.size() == 1
                            ? inputs[0].source.name
                            : fmt::format("{} in turn: {} ...", pipeline::describe_kinds(inputs),
                                          inputs[0].source.name);
  VIVACE_TRY(document.input.sha256, pipeline::digest_inputs(inputs));
  if (has(Kind::kSynthetic)) {
    document.caveats.push_back({.id = "input.synthetic",
                                .message = "the input is a synthetic picture; nothing was read or "
                                           "decoded",
                                .advice = "measure on pictures like those the service will see",
                                .unknown = {}});
  }
  return {};
}

void fill_region(const system::TimedStages& timed, result::Document& document) {
  for (const Stage stage : pipeline::kLaneStages) {
    (timed.contains(stage) ? document.timed_region.includes : document.timed_region.excludes)
        .emplace_back(name_of(stage));
  }
}

std::string rendered(const result::Document& document, const Arguments& arguments,
                     const Console& console) {
  const std::string format = arguments.value("format");
  if (format == "json") return write_json(result::to_json(document));
  if (format == "csv") return report::render_csv(document);
  if (format == "md") return report::render_markdown(document);
  report::TableStyle style;
  style.colour = console.colour();
  style.width = console.columns();
  return report::render_table(document, style);
}

load::MeasureHooks hooks_of(Console& console) {
  load::MeasureHooks hooks;
  hooks.stop = &console.interrupted();
  hooks.progress = [&console](const char* phase, std::int64_t done, std::int64_t planned,
                              double left_s) {
    console.progress(phase, static_cast<double>(done) / static_cast<double>(planned), left_s);
  };
  return hooks;
}

Result<int> run(const Arguments& arguments, Console& console) {
  VIVACE_TRY(const system::TimedStages timed, timed_stages(arguments));
  VIVACE_TRY(const std::vector<stats::Probability> percentiles, percentiles_of(arguments));
  const auto json = arguments.text("json");
  if (json && *json != "-") VIVACE_CHECK_OK(check_output("json", *json));
  VIVACE_TRY(std::vector<pipeline::Input> inputs, collect_inputs(arguments, console));

  const std::int64_t batch = arguments.count("batch");
  VIVACE_TRY(const LoadedEngine loaded, load_engine(arguments, console));
  const auto& engine = loaded.engine;

  result::Document document;
  document.kind = "measure";
  fill_environment(*engine, document);
  document.configuration = effective_flags(arguments);
  for (auto& [name, value] : document.configuration) {
    if (name == "resolution") {
      value = fmt::format("{}x{}", engine->size().height, engine->size().width);
    }
  }
  VIVACE_CHECK_OK(fill_model(*engine, batch, arguments, document));
  VIVACE_CHECK_OK(fill_input(inputs, document));
  fill_region(timed, document);

  auto lane = std::make_unique<pipeline::Lane>(
      engine, thread_count(arguments), [&](const std::string& text) { console.warn(text); });
  system::PipelineSystem system(std::move(lane), std::move(inputs), batch, timed);
  const load::MeasurePlan plan{arguments.count("warmup"), arguments.count("samples"),
                               arguments.duration_ns("duration")};
  console.note(fmt::format("measuring: {} requests to warm up, then up to {} or {}", plan.warm_up,
                           plan.samples, format_duration(static_cast<double>(plan.duration_ns))));
  VIVACE_TRY(const load::Measurement measurement, load::measure(system, plan, hooks_of(console)));
  console.end_progress();
  load::fill_document(measurement, loaded.load_ns, percentiles, document);

  // The file first: a closed pipe must not cost the result.
  if (json && *json != "-") {
    VIVACE_CHECK_OK(result::write_result(*json, document));
    console.note(fmt::format("wrote {}", *json));
  }
  VIVACE_CHECK_OK(console.print(json && *json == "-" ? write_json(result::to_json(document))
                                                     : rendered(document, arguments, console)));
  if (measurement.stop_reason == load::StopReason::kInterrupted) {
    return exit_status(ErrorCode::kInterrupted);
  }
  return 0;
}

}  // namespace

Verb measure_verb() {
  return {.name = "measure",
          .summary = "latency of a model on real inputs, with its certainty",
          .description =
              "Runs one request after another over the inputs in turn: file to embedding. Reports "
              "percentiles with 95% intervals, each stage of the request, the cold start, and what "
              "speaks against the figures. The result names what is inside the timed region.",
          .positional = "INPUT...",
          .flags = {"model",   "input",     "threads",     "batch",      "resolution", "warmup",
                    "samples", "duration",  "percentiles", "include",    "exclude",    "backend",
                    "device",  "precision", "seed",        "max-pixels", "json",       "format",
                    "quiet",   "verbose",   "no-progress", "help"},
          .defaults = {},
          .example = "vivace measure --model ijepa-vits16 photo.jpg --threads 2 --json result.json",
          .exit_codes = "  After an interrupt what was measured so far is printed and written.\n",
          .run = run};
}

}  // namespace vivace::cli
