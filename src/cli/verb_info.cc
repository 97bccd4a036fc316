#include <map>
#include <vector>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/flags.h"
#include "cli/setup.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "core/text.h"
#include "core/units.h"
#include "model/safetensors.h"
#include "ops/backend.h"
#include "platform/file.h"
#include "platform/host.h"

namespace vivace::cli {
namespace {

std::string machine_text(const platform::HostFacts& host) {
  std::string text = "machine\n";
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<16}{}\n", name, value);
  };
  line("cpu", host.cpu);
  line("architecture", host.architecture);
  line("cpus",
       fmt::format(
           "{} usable of {} online{}", platform::usable_cpu_count(), host.cores_online,
           host.cpu_quota > 0 ? fmt::format(" (quota {:.2f})", host.cpu_quota) : std::string()));
  line("isa", join(host.isa, " "));
  line("memory", format_bytes(static_cast<double>(host.memory_bytes)));
  line("kernel", host.kernel);
  line("governor", host.governor);
  line("container", host.container);
  line("virtualization", host.virtualization);
  line("fingerprint", platform::fingerprint_of(host));
  line("backends", fmt::format("cpu ({})", ops::cpu_backend().target()));
  return text;
}

Json machine_json(const platform::HostFacts& host) {
  JsonArray isa;
  for (const std::string& name : host.isa) isa.emplace_back(name);
  return JsonObject{{"fingerprint", platform::fingerprint_of(host)},
                    {"cpu", host.cpu},
                    {"architecture", host.architecture},
                    {"cores", host.cores_available},
                    {"cores_online", host.cores_online},
                    {"isa", std::move(isa)},
                    {"memory_bytes", static_cast<std::int64_t>(host.memory_bytes)},
                    {"kernel", host.kernel},
                    {"governor", host.governor},
                    {"container", host.container},
                    {"virtualization", host.virtualization},
                    {"cpu_quota", host.cpu_quota},
                    {"target", std::string(ops::cpu_backend().target())}};
}

std::string model_text(const pipeline::Engine& engine, std::int64_t batch) {
  const model::Model& model = engine.model();
  const model::ModelFacts& facts = model.facts();
  const model::VitGeometry& geometry = model.encoder().geometry();
  std::string text = fmt::format("\nmodel {}{}\n", facts.folder.string(),
                                 facts.stand_in ? "  (stand-in: no knowledge)" : "");
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<16}{}\n", name, value);
  };
  const Size2 grid = geometry.grid(engine.size());
  line("family", facts.family);
  line("parameters", fmt::format("{} ({})", format_quantity(static_cast<double>(facts.parameters)),
                                 facts.parameters));
  line("encoder",
       fmt::format("{} layers, width {}, {} heads of {}, mlp {}", geometry.depth, geometry.width,
                   geometry.heads, geometry.head_dim(), geometry.mlp_width));
  line("input", fmt::format("3x{}x{}, patches of {}x{}", engine.size().height, engine.size().width,
                            geometry.patch.height, geometry.patch.width));
  line("tokens", fmt::format("{} ({}x{})", engine.tokens(), grid.height, grid.width));
  line("weights",
       fmt::format("{} {} on disk, {} packed",
                   format_bytes(static_cast<double>(facts.weights_bytes)), facts.weights_type,
                   format_bytes(static_cast<double>(model.packed_bytes()))));
  if (model.has_classifier()) line("classes", std::to_string(model.classes()));

  const std::vector<OperatorCost> costs = model.costs(batch, engine.size());
  text += fmt::format("\ncost of a request (batch {})\n  {:<16}{:<16}{:>6}{:>12}{:>12}{:>9}\n",
                      batch, "stage", "operator", "calls", "FLOPs", "bytes", "FLOP/B");
  std::map<Stage, OperatorCost> stages;
  for (const OperatorCost& cost : costs) {
    OperatorCost& sum = stages[cost.stage];
    sum.flops += cost.flops;
    sum.bytes += cost.bytes;
    text += fmt::format("  {:<16}{:<16}{:>6}{:>12}{:>12}{:>9.1f}\n", name_of(cost.stage), cost.name,
                        cost.calls, format_quantity(cost.flops), format_bytes(cost.bytes),
                        cost.flops / cost.bytes);
  }
  for (const auto& [stage, sum] : stages) {
    text += fmt::format("  {:<16}{:<16}{:>6}{:>12}{:>12}{:>9.1f}\n", name_of(stage), "all", "",
                        format_quantity(sum.flops), format_bytes(sum.bytes), sum.flops / sum.bytes);
  }
  text +=
      "  FLOPs are 2 x multiply-adds; bytes are the unavoidable ones: weights once,\n"
      "  activations in and out. Reading, decoding and resizing are not counted.\n";
  return text;
}

Json model_json(const pipeline::Engine& engine, std::int64_t batch) {
  const model::ModelFacts& facts = engine.model().facts();
  const model::VitGeometry& geometry = engine.model().encoder().geometry();
  JsonArray operators;
  for (const OperatorCost& cost : engine.model().costs(batch, engine.size())) {
    operators.emplace_back(JsonObject{{"name", cost.name},
                                      {"stage", std::string(name_of(cost.stage))},
                                      {"calls", cost.calls},
                                      {"flops", cost.flops},
                                      {"bytes", cost.bytes}});
  }
  return JsonObject{{"family", facts.family},
                    {"parameters", facts.parameters},
                    {"weights_bytes", static_cast<std::int64_t>(facts.weights_bytes)},
                    {"packed_bytes", engine.model().packed_bytes()},
                    {"weights_type", facts.weights_type},
                    {"stand_in", facts.stand_in},
                    {"tokens", engine.tokens()},
                    {"width", geometry.width},
                    {"depth", geometry.depth},
                    {"heads", geometry.heads},
                    {"mlp_width", geometry.mlp_width},
                    {"classes", engine.model().classes()},
                    {"batch", batch},
                    {"operators", std::move(operators)}};
}

Json header_json() {
  Json json{JsonObject{}};
  json.set("schema", "vivace.info");
  json.set("version", 1);
  json.set("tool", JsonObject{{"version", version_number()}, {"build", build_name()}});
  return json;
}

/// The same facts as text or as JSON, to where the flags say.
Result<int> deliver(const std::string& text, const Json& json, const Arguments& arguments,
                    Console& console) {
  const auto path = arguments.text("json");
  if (path && *path != "-") {
    VIVACE_CHECK_OK(platform::write_file_atomically(*path, write_json(json)));
    console.note(fmt::format("wrote {}", *path));
  }
  const bool as_json = arguments.value("format") == "json" || path.value_or("") == "-";
  VIVACE_CHECK_OK(console.print(as_json ? write_json(json) : text));
  return 0;
}

Result<int> run_tensors(const std::string& path, const Arguments& arguments, Console& console) {
  VIVACE_TRY(const model::SafetensorsFile file, model::SafetensorsFile::open(path));
  std::string text;
  JsonArray tensors;
  for (const model::TensorEntry& entry : file.tensors()) {
    JsonArray shape(entry.shape.begin(), entry.shape.end());
    tensors.emplace_back(JsonObject{{"name", entry.name},
                                    {"dtype", name_of(entry.type)},
                                    {"shape", std::move(shape)},
                                    {"bytes", entry.bytes}});
  }
  for (const model::TensorEntry& entry : file.tensors()) {
    text +=
        fmt::format("{:<5} {:<24} {}\n", name_of(entry.type), to_string(entry.shape), entry.name);
  }
  text += fmt::format("{} tensors, {}\n", file.tensors().size(),
                      format_bytes(static_cast<double>(file.bytes().size())));
  Json json = header_json();
  json.set("tensors", std::move(tensors));
  return deliver(text, json, arguments, console);
}

Result<int> run(const Arguments& arguments, Console& console) {
  const auto json_path = arguments.text("json");
  if (json_path && *json_path != "-") VIVACE_CHECK_OK(check_output("json", *json_path));
  if (const auto tensors = arguments.text("tensors")) {
    if (arguments.given("model")) {
      return fail(ErrorCode::kUsage, {.what = "--tensors and --model are both given",
                                      .expected = "one of them",
                                      .got = {},
                                      .advice = {}});
    }
    return run_tensors(*tensors, arguments, console);
  }
  const platform::HostFacts host = platform::host_facts();
  std::string text = machine_text(host);
  Json json = header_json();
  json.set("machine", machine_json(host));
  if (arguments.given("model")) {
    VIVACE_TRY(const LoadedEngine loaded, load_engine(arguments, console));
    const std::int64_t batch = arguments.count("batch");
    text += model_text(*loaded.engine, batch);
    json.set("model", model_json(*loaded.engine, batch));
  }
  return deliver(text, json, arguments, console);
}

}  // namespace

Verb info_verb() {
  return {.name = "info",
          .summary = "this machine, and what a model costs",
          .description =
              "Prints the machine with its fingerprint and, with --model, the model's parameters, "
              "tokens, FLOPs and bytes per stage and operator.",
          .positional = "",
          .flags = {"model", "batch", "resolution", "tensors", "json", "format", "backend",
                    "device", "precision", "seed", "max-pixels", "quiet", "verbose", "help"},
          .defaults = {},
          .choices = {{"format", {"table", "json"}}},
          .example = "vivace info --model ijepa-vits16",
          .exit_codes = "",
          .run = run};
}

}  // namespace vivace::cli
