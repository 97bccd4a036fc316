#include "cli/subject.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/version.h"
#include "core/text.h"
#include "ops/backend.h"
#include "pipeline/digest.h"
#include "platform/clock.h"
#include "platform/host.h"
#include "system/open.h"
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

Result<void> fill_model(const pipeline::Engine& engine, const Arguments& arguments,
                        result::Document& document) {
  const model::ModelFacts& facts = engine.model().facts();
  result::Model model;
  model.name = arguments.value("model");
  model.family = facts.family;
  model.parameters = facts.parameters;
  model.flops = static_cast<std::int64_t>(
      total_flops(engine.model().costs(arguments.count("batch"), engine.size())));
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

}  // namespace

std::span<const std::string> subject_flags() {
  static const std::vector<std::string> flags = {
      "model",   "input",   "system", "threads",   "batch", "resolution", "include",
      "exclude", "backend", "device", "precision", "seed",  "max-pixels", "subtract-startup"};
  return flags;
}

void drop_model_flags(JsonObject& configuration) {
  static const std::set<std::string_view> kOfModels = {
      "model",   "input",  "threads",   "resolution", "include", "exclude",
      "backend", "device", "precision", "max-pixels", "inputs"};
  std::erase_if(configuration, [](const auto& flag) { return kOfModels.contains(flag.first); });
}

Result<Subject> SubjectOpener::open(const Arguments& arguments) {
  if (arguments.given("system") && arguments.given("model")) {
    return fail(ErrorCode::kUsage, {.what = "--system and --model are both given",
                                    .expected = "one of them",
                                    .got = {},
                                    .advice = "a worker names its own model in its command"});
  }
  VIVACE_TRY(Subject subject,
             arguments.given("system") ? open_uri(arguments) : open_model(arguments));
  return subject;
}

Result<Subject> SubjectOpener::open_uri(const Arguments& arguments) {
  for (const std::string_view flag : {"include", "exclude", "resolution", "threads", "input"}) {
    if (!arguments.given(flag)) continue;
    return fail(ErrorCode::kUsage, {.what = fmt::format("--{} says nothing to --system", flag),
                                    .expected = {},
                                    .got = {},
                                    .advice = "put it into the command that is measured"});
  }
  if (!arguments.positionals().empty()) {
    return fail(ErrorCode::kUsage, {.what = "--system takes no input here",
                                    .expected = "flags only",
                                    .got = quote(arguments.positionals().front()),
                                    .advice = "put it into the command that is measured"});
  }
  const std::string uri = arguments.value("system");
  system::OpenOptions options;
  options.seed = static_cast<std::uint64_t>(arguments.count("seed"));
  options.batch = arguments.count("batch");
  options.subtract_startup = arguments.enabled("subtract-startup");
  VIVACE_TRY(system::OpenedSystem opened, system::open_system(uri, options));
  Subject subject;
  fill_environment(subject.head);
  subject.head.configuration = effective_flags(arguments);
  drop_model_flags(subject.head.configuration);
  subject.head.input.kind = opened.kind;
  subject.head.input.name = opened.name;
  subject.head.timed_region.includes = std::move(opened.includes);
  subject.head.timed_region.excludes = std::move(opened.excludes);
  subject.load_ns = opened.load_ns;
  subject.system = std::move(opened.system);
  return subject;
}

Result<Subject> SubjectOpener::open_model(const Arguments& arguments) {
  if (arguments.enabled("subtract-startup")) {
    return fail(ErrorCode::kUsage, {.what = "--subtract-startup is for --system exec:COMMAND",
                                    .expected = {},
                                    .got = {},
                                    .advice = "leave it out"});
  }
  VIVACE_TRY(const system::TimedStages timed, timed_stages(arguments));
  VIVACE_TRY(std::vector<pipeline::Input> inputs, collect_inputs(arguments, console_));
  // What an engine is made of; everything else belongs to the lane.
  const std::string key = fmt::format("{}\n{}\n{}\n{}", arguments.text("model").value_or(""),
                                      arguments.text("resolution").value_or(""),
                                      arguments.value("seed"), arguments.value("max-pixels"));
  auto found = engines_.find(key);
  if (found == engines_.end()) {
    VIVACE_TRY(LoadedEngine loaded, load_engine(arguments, console_));
    found = engines_.emplace(key, std::move(loaded)).first;
  }
  const auto& engine = found->second.engine;

  Subject subject;
  subject.load_ns = found->second.load_ns;
  fill_environment(subject.head);
  subject.head.configuration = effective_flags(arguments);
  for (auto& [name, value] : subject.head.configuration) {
    if (name == "resolution") {
      value = fmt::format("{}x{}", engine->size().height, engine->size().width);
    }
  }
  VIVACE_CHECK_OK(fill_model(*engine, arguments, subject.head));
  VIVACE_CHECK_OK(fill_input(inputs, subject.head));
  for (const Stage stage : pipeline::kLaneStages) {
    auto& region = subject.head.timed_region;
    (timed.contains(stage) ? region.includes : region.excludes).emplace_back(name_of(stage));
  }
  Console& console = console_;
  auto lane = std::make_unique<pipeline::Lane>(
      engine, thread_count(arguments), [&console](const std::string& text) { console.warn(text); });
  subject.system = std::make_unique<system::PipelineSystem>(std::move(lane), std::move(inputs),
                                                            arguments.count("batch"), timed);
  return subject;
}

}  // namespace vivace::cli
