#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/flags.h"
#include "cli/setup.h"
#include "cli/verbs.h"
#include "core/text.h"
#include "model/safetensors.h"
#include "pipeline/lane.h"
#include "pipeline/npy.h"
#include "platform/clock.h"
#include "platform/file.h"

namespace vivace::cli {
namespace {

/// One tensor of the result while it grows item by item: [B, ...].
struct Output {
  std::string name;
  Shape item_shape;
  std::vector<float> values;
};

/// What a name of --emit stands for, in a given lane.
Result<std::vector<Output>> plan_outputs(const Arguments& arguments,
                                         const pipeline::Engine& engine) {
  const model::VitGeometry& geometry = engine.model().encoder().geometry();
  const std::int64_t n = engine.tokens();
  const std::int64_t d = engine.width();
  std::vector<Output> outputs;
  for (const std::string& name : arguments.list("emit")) {
    if (name == "tokens") {
      outputs.push_back({name, {n, d}, {}});
    } else if (name == "pooled") {
      outputs.push_back({name, {d}, {}});
    } else if (name == "pixels") {
      outputs.push_back({name, {3, engine.size().height, engine.size().width}, {}});
    } else if (name == "layers") {
      for (std::int64_t i = 0; i <= geometry.depth; ++i) {
        outputs.push_back({fmt::format("layers.{:02}", i), {n, d}, {}});
      }
    } else if (name == "logits" && engine.model().has_classifier()) {
      outputs.push_back({name, {engine.model().classes()}, {}});
    } else {
      return fail(ErrorCode::kUnavailable,
                  {.what = fmt::format("this model has no {}", name),
                   .expected = "tokens, pooled, layers, pixels",
                   .got = name,
                   .advice = name == "logits"
                                 ? "logits need a checkpoint with classifier.weight"
                                 : "I-JEPA has no class token; pooled is the mean of the tokens"});
    }
  }
  return outputs;
}

/// Appends the lane's last batch to every output.
void collect(const pipeline::Lane& lane, std::vector<Output>& outputs) {
  const std::size_t layer_values = lane.tokens().size();
  std::size_t layer = 0;
  for (Output& output : outputs) {
    std::span<const float> values = lane.tokens();
    if (output.name == "pooled") values = lane.pooled();
    if (output.name == "logits") values = lane.logits();
    if (output.name == "pixels") values = lane.pixels();
    if (output.name.starts_with("layers.")) {
      values = lane.layers().subspan(layer++ * layer_values, layer_values);
    }
    output.values.insert(output.values.end(), values.begin(), values.end());
  }
}

Shape full_shape(const Output& output, std::int64_t items) {
  Shape shape{items};
  shape.insert(shape.end(), output.item_shape.begin(), output.item_shape.end());
  return shape;
}

Result<void> write_npy(const std::string& path, const Output& output, std::int64_t items) {
  VIVACE_TRY(platform::AtomicFile file, platform::AtomicFile::create(path));
  VIVACE_CHECK_OK(file.write(pipeline::npy_header(DType::kF32, full_shape(output, items))));
  VIVACE_CHECK_OK(file.write(std::as_bytes(std::span(output.values))));
  return file.commit();
}

Result<void> write_safetensors(const std::string& path, std::span<const Output> outputs,
                               std::int64_t items, const std::string& stand_in) {
  std::vector<model::TensorDeclaration> tensors;
  for (const Output& output : outputs) {
    tensors.push_back({output.name, DType::kF32, full_shape(output, items)});
  }
  std::vector<std::pair<std::string, std::string>> metadata;
  if (!stand_in.empty()) metadata.emplace_back("vivace.stand_in", stand_in);
  VIVACE_TRY(model::SafetensorsWriter writer,
             model::SafetensorsWriter::create(path, tensors, metadata));
  for (const Output& output : outputs) VIVACE_CHECK_OK(writer.append(output.values));
  return writer.commit();
}

/// Refuses a file name that cannot hold the result before any work is done.
Result<std::string> output_path(const Arguments& arguments, std::size_t output_count) {
  const auto path = arguments.text("out");
  if (!path) {
    return fail(ErrorCode::kUsage, {.what = "--out is missing",
                                    .expected = "a file ending in .npy or .safetensors",
                                    .got = {},
                                    .advice = "see `vivace embed --help`"});
  }
  const bool npy = path->ends_with(".npy");
  if (!npy && !path->ends_with(".safetensors")) {
    return fail(ErrorCode::kUsage, {.what = "--out",
                                    .expected = "a file ending in .npy or .safetensors",
                                    .got = quote(*path),
                                    .advice = {}});
  }
  if (npy && output_count != 1) {
    return fail(ErrorCode::kUsage,
                {.what = "an .npy file holds one tensor",
                 .expected = "a single output in --emit, or an --out ending in .safetensors",
                 .got = fmt::format("{} outputs", output_count),
                 .advice = {}});
  }
  VIVACE_CHECK_OK(platform::check_writable(*path));
  return *path;
}

/// The likeliest classes of each input, as text.
std::string top_classes(const Output& logits, std::span<const pipeline::Input> inputs,
                        const std::vector<std::string>& labels) {
  constexpr std::size_t kShown = 5;
  const auto classes = static_cast<std::size_t>(logits.item_shape[0]);
  std::string text;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto values = std::span(logits.values).subspan(i * classes, classes);
    std::vector<std::size_t> order(classes);
    for (std::size_t k = 0; k < classes; ++k) order[k] = k;
    const std::size_t shown = std::min(kShown, classes);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown),
                      order.end(),
                      [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
    text += inputs[i].source.name + "\n";
    for (std::size_t k = 0; k < shown; ++k) {
      const std::size_t id = order[k];
      text += fmt::format("  {:>5}  {:>9.4f}  {}\n", id, values[id],
                          id < labels.size() ? labels[id] : "");
    }
  }
  return text;
}

Result<int> run(const Arguments& arguments, Console& console) {
  VIVACE_TRY(const std::vector<pipeline::Input> inputs, collect_inputs(arguments));
  VIVACE_TRY(const auto engine, load_engine(arguments));
  VIVACE_TRY(std::vector<Output> outputs, plan_outputs(arguments, *engine));
  VIVACE_TRY(const std::string path, output_path(arguments, outputs.size()));
  const auto emits = arguments.list("emit");
  const bool with_layers = std::find(emits.begin(), emits.end(), "layers") != emits.end();

  pipeline::Lane lane(engine, thread_count(arguments),
                      [&](const std::string& text) { console.warn(text); });
  Recorder recorder;
  const auto batch = static_cast<std::size_t>(arguments.count("batch"));
  const std::int64_t start_ns = platform::now_ns();
  for (std::size_t i = 0; i < inputs.size(); i += batch) {
    if (console.interrupted().load()) {
      return fail(ErrorCode::kInterrupted, "interrupted; nothing was written");
    }
    lane.set_inputs(std::span(inputs).subspan(i, std::min(batch, inputs.size() - i)));
    VIVACE_CHECK_OK(lane.run(Stage::kRead, Stage::kPostprocess, recorder, with_layers));
    collect(lane, outputs);
    const auto done = static_cast<double>(i + static_cast<std::size_t>(lane.batch()));
    const auto spent_s = static_cast<double>(platform::now_ns() - start_ns) * 1e-9;
    const auto total = static_cast<double>(inputs.size());
    console.progress("embedding", done / total, spent_s / done * (total - done));
  }
  console.end_progress();
  const auto items = static_cast<std::int64_t>(inputs.size());
  const model::ModelFacts& facts = engine->model().facts();
  VIVACE_CHECK_OK(path.ends_with(".npy")
                      ? write_npy(path, outputs[0], items)
                      : write_safetensors(path, outputs, items, facts.stand_in ? "true" : ""));
  if (facts.stand_in) console.warn("the weights are a stand-in: these embeddings mean nothing");
  if (arguments.enabled("quiet")) return 0;
  for (const Output& output : outputs) {
    if (output.name == "logits") {
      VIVACE_CHECK_OK(console.print(top_classes(output, inputs, facts.labels)));
    }
  }
  std::string text = fmt::format("wrote {}:", path);
  for (const Output& output : outputs) {
    text += fmt::format(" {} {}", output.name, to_string(full_shape(output, items)));
    if (&output != &outputs.back()) text += ",";
  }
  VIVACE_CHECK_OK(console.print(text + "\n"));
  return 0;
}

}  // namespace

Verb embed_verb() {
  return {.name = "embed",
          .summary = "images or ready tensors to embeddings",
          .description =
              "Writes one row per input, in the order of the inputs: tokens [B, N, D], pooled "
              "[B, D] (the mean of the tokens), logits [B, C] of a classifier, layers.NN [B, N, D] "
              "(00 is what enters the first block, then each block's output), pixels [B, 3, H, W] "
              "(the model's input). One output may go to .npy, several go to .safetensors.",
          .positional = "INPUT...",
          .flags = {"model", "input", "emit", "out", "threads", "batch", "resolution", "backend",
                    "device", "precision", "seed", "max-pixels", "quiet", "verbose", "no-progress",
                    "help"},
          .defaults = {},
          .example = "vivace embed --model ijepa-vits16 photos/ --emit pooled -o pooled.npy",
          .exit_codes = "",
          .run = run};
}

}  // namespace vivace::cli
