#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
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

/// One tensor of the result: [B, ...].
struct Output {
  std::string name;
  Shape item_shape;
  std::vector<float> values;  // of all items so far, unless they are streamed
};

constexpr std::string_view kStandardOutput = "-";

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

/// What the lane's last batch has for each output, in their order.
std::vector<std::span<const float>> last_values(const pipeline::Lane& lane,
                                                std::span<const Output> outputs) {
  const std::size_t layer_values = lane.tokens().size();
  std::size_t layer = 0;
  std::vector<std::span<const float>> all;
  for (const Output& output : outputs) {
    std::span<const float> values = lane.tokens();
    if (output.name == "pooled") values = lane.pooled();
    if (output.name == "logits") values = lane.logits();
    if (output.name == "pixels") values = lane.pixels();
    if (output.name.starts_with("layers.")) {
      values = lane.layers().subspan(layer++ * layer_values, layer_values);
    }
    all.push_back(values);
  }
  return all;
}

Shape full_shape(const Output& output, std::int64_t items) {
  Shape shape{items};
  shape.insert(shape.end(), output.item_shape.begin(), output.item_shape.end());
  return shape;
}

/// Where the numbers go: an .npy file or standard output (one tensor), or a .safetensors file.
class Sink {
 public:
  static Result<Sink> create(const std::string& path, std::span<const Output> outputs,
                             std::int64_t items, bool stand_in, Console& console) {
    Sink sink(console);
    std::string header = pipeline::npy_header(DType::kF32, full_shape(outputs[0], items));
    if (path == kStandardOutput) {
      // Goes out with the first numbers: an input that fails before them leaves nothing behind.
      sink.header_ = std::move(header);
    } else if (path.ends_with(".npy")) {
      VIVACE_TRY(platform::AtomicFile file, platform::AtomicFile::create(path));
      VIVACE_CHECK_OK(file.write(header));
      sink.npy_.emplace(std::move(file));
    } else {
      std::vector<model::TensorDeclaration> tensors;
      for (const Output& output : outputs) {
        tensors.push_back({output.name, DType::kF32, full_shape(output, items)});
      }
      std::vector<std::pair<std::string, std::string>> metadata;
      if (stand_in) metadata.emplace_back("vivace.stand_in", "true");
      VIVACE_TRY(model::SafetensorsWriter writer,
                 model::SafetensorsWriter::create(path, tensors, metadata));
      sink.safetensors_.emplace(std::move(writer));
    }
    return sink;
  }

  Result<void> append(std::span<const float> values) {
    if (safetensors_) return safetensors_->append(values);
    const auto bytes = std::as_bytes(values);
    if (npy_) return npy_->write(bytes);
    VIVACE_CHECK_OK(console_->write(std::exchange(header_, {})));
    return console_->write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  Result<void> commit() {
    if (safetensors_) return safetensors_->commit();
    return npy_ ? npy_->commit() : console_->print("");
  }

 private:
  explicit Sink(Console& console) : console_(&console) {}

  Console* console_;
  std::string header_;  // of standard output, until it is written
  std::optional<platform::AtomicFile> npy_;
  std::optional<model::SafetensorsWriter> safetensors_;
};

tl::unexpected<Error> bad_out(std::string what, std::string expected, std::string got) {
  return fail(ErrorCode::kUsage, {.what = std::move(what),
                                  .expected = std::move(expected),
                                  .got = std::move(got),
                                  .advice = "see `vivace embed --help`"});
}

/// Refuses a file name that cannot hold the result before any work is done.
Result<std::string> output_path(const Arguments& arguments, const Console& console) {
  constexpr const char* kNames = "a file ending in .npy or .safetensors, or - for .npy";
  const auto path = arguments.text("out");
  if (!path) return bad_out("--out is missing", kNames, {});
  const bool standard = *path == kStandardOutput;
  if (!standard && !path->ends_with(".npy") && !path->ends_with(".safetensors")) {
    return bad_out("--out cannot hold tensors", kNames, quote(*path));
  }
  if (standard && console.output_is_terminal()) {
    return bad_out("--out - writes binary numbers", "a pipe or a file", "a terminal");
  }
  const auto emits = arguments.list("emit");
  if (!path->ends_with(".safetensors") && (emits.size() != 1 || emits[0] == "layers")) {
    return bad_out("an .npy file holds one tensor",
                   "one output in --emit, or an --out ending in .safetensors", join(emits, ","));
  }
  if (!standard) VIVACE_CHECK_OK(check_output("out", *path));
  return *path;
}

/// A result never replaces what it was made from.
Result<void> check_not_an_input(const std::string& path, std::span<const pipeline::Input> inputs) {
  std::error_code ignored;
  for (const pipeline::Input& input : inputs) {
    if (!std::filesystem::is_regular_file(path, ignored) || input.source.path.empty() ||
        !std::filesystem::equivalent(path, input.source.path, ignored)) {
      continue;
    }
    return bad_out("--out is one of the inputs", "another file", quote(path));
  }
  return {};
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

/// Runs every input. One output goes to the sink batch by batch; several are kept until the end,
/// because a .safetensors file holds one tensor after the other.
Result<void> embed_all(const Arguments& arguments, Console& console,
                       std::span<const pipeline::Input> inputs, pipeline::Lane& lane, Sink& sink,
                       std::vector<Output>& outputs) {
  const bool stream = outputs.size() == 1;
  const bool keep = !stream || outputs[0].name == "logits";
  for (Output& output : outputs) {
    if (keep) {
      output.values.reserve(inputs.size() *
                            static_cast<std::size_t>(element_count(output.item_shape)));
    }
  }
  const auto emits = arguments.list("emit");
  const bool with_layers = std::find(emits.begin(), emits.end(), "layers") != emits.end();
  Recorder recorder;
  const auto batch = static_cast<std::size_t>(arguments.count("batch"));
  const std::int64_t start_ns = platform::now_ns();
  for (std::size_t i = 0; i < inputs.size(); i += batch) {
    if (console.interrupted().load()) {
      return fail(ErrorCode::kInterrupted, "interrupted; nothing was written");
    }
    lane.set_inputs(inputs.subspan(i, std::min(batch, inputs.size() - i)));
    VIVACE_CHECK_OK(lane.run(Stage::kRead, Stage::kPostprocess, recorder, with_layers));
    const auto last = last_values(lane, outputs);
    for (std::size_t k = 0; keep && k < outputs.size(); ++k) {
      outputs[k].values.insert(outputs[k].values.end(), last[k].begin(), last[k].end());
    }
    if (stream) VIVACE_CHECK_OK(sink.append(last[0]));
    const auto done = static_cast<double>(i + static_cast<std::size_t>(lane.batch()));
    const auto spent_s = static_cast<double>(platform::now_ns() - start_ns) * 1e-9;
    const auto total = static_cast<double>(inputs.size());
    console.progress("embedding", done / total, spent_s / done * (total - done));
  }
  console.end_progress();
  for (std::size_t k = 0; !stream && k < outputs.size(); ++k) {
    VIVACE_CHECK_OK(sink.append(outputs[k].values));
    if (outputs[k].name != "logits") outputs[k].values = {};
  }
  return sink.commit();
}

std::string summary_line(std::string_view path, std::span<const Output> outputs,
                         std::int64_t items) {
  std::string text = fmt::format("wrote {}:", path);
  for (const Output& output : outputs) {
    text += fmt::format(" {} {}", output.name, to_string(full_shape(output, items)));
    if (&output != &outputs.back()) text += ",";
  }
  return text;
}

Result<int> run(const Arguments& arguments, Console& console) {
  VIVACE_TRY(const std::string path, output_path(arguments, console));
  VIVACE_TRY(const std::vector<pipeline::Input> inputs, collect_inputs(arguments, console));
  VIVACE_CHECK_OK(check_not_an_input(path, inputs));
  VIVACE_TRY(const LoadedEngine loaded, load_engine(arguments, console));
  const auto& engine = loaded.engine;
  VIVACE_TRY(std::vector<Output> outputs, plan_outputs(arguments, *engine));
  const auto items = static_cast<std::int64_t>(inputs.size());
  const model::ModelFacts& facts = engine->model().facts();
  VIVACE_TRY(Sink sink, Sink::create(path, outputs, items, facts.stand_in, console));
  pipeline::Lane lane(engine, thread_count(arguments),
                      [&](const std::string& text) { console.warn(text); });
  VIVACE_CHECK_OK(embed_all(arguments, console, inputs, lane, sink, outputs));
  if (facts.stand_in) console.warn("the weights are a stand-in: these embeddings mean nothing");
  const std::string done = summary_line(path, outputs, items);
  if (path == kStandardOutput || arguments.enabled("quiet")) {
    console.note(done);
    return 0;
  }
  for (const Output& output : outputs) {
    if (output.name == "logits") {
      VIVACE_CHECK_OK(console.print(top_classes(output, inputs, facts.labels)));
    }
  }
  VIVACE_CHECK_OK(console.print(done + "\n"));
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
              "(the model's input). One output may go to .npy, or with --out - to standard output; "
              "several go to .safetensors.",
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
