// The public API over the pipeline. Exceptions of third parties end in the pipeline; std::bad_alloc
// alone may pass.
#include "vivace/vivace.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "pipeline/lane.h"
#include "platform/host.h"

namespace vivace {
namespace {

using pipeline::Input;
using pipeline::kLaneStages;

constexpr std::size_t kStages = std::size(kLaneStages);

ModelInfo info_of(const pipeline::Engine& engine) {
  const model::ModelFacts& facts = engine.model().facts();
  ModelInfo info;
  info.family = facts.family;
  info.parameters = facts.parameters;
  info.tokens = engine.tokens();
  info.width = engine.width();
  info.depth = engine.model().encoder().geometry().depth;
  info.classes = engine.model().classes();
  info.resolution = {engine.size().height, engine.size().width};
  info.flops = total_flops(engine.model().costs(1, engine.size()));
  info.stand_in = facts.stand_in;
  info.labels = facts.labels;
  return info;
}

}  // namespace

std::string version() { return VIVACE_VERSION; }

struct Model::State {
  std::shared_ptr<const pipeline::Engine> engine;
  ModelInfo info;
};

Result<Model> Model::load(const std::filesystem::path& folder, const ModelOptions& options) {
  pipeline::EngineOptions engine_options;
  if (options.resolution) {
    engine_options.resolution = Size2{options.resolution->height, options.resolution->width};
  }
  engine_options.limits.pixels_max = options.pixels_max;
  auto state = std::make_shared<State>();
  VIVACE_TRY(state->engine, pipeline::Engine::load(folder, engine_options));
  state->info = info_of(*state->engine);
  return Model(std::move(state));
}

Model::Model(std::shared_ptr<const State> state) : state_(std::move(state)) {}
Model::Model(const Model&) = default;
Model& Model::operator=(const Model&) = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

const ModelInfo& Model::info() const { return state_->info; }

struct Session::State {
  State(const std::shared_ptr<const pipeline::Engine>& engine, int threads, bool with_layers)
      : lane(engine, threads > 0 ? threads : platform::usable_cpu_count()), layers(with_layers) {}

  /// Runs the inputs that were set, all stages.
  Result<Embedding> run();

  pipeline::Lane lane;
  bool layers;
  Recorder recorder;
  std::vector<Input> inputs;
  std::array<StageTime, kStages> times;
};

Result<Embedding> Session::State::run() {
  recorder.reset();
  lane.set_inputs(inputs);
  VIVACE_CHECK_OK(lane.run(kLaneStages[0], kLaneStages[kStages - 1], recorder, layers));
  for (std::size_t i = 0; i < kStages; ++i) {
    times[i] = {name_of(kLaneStages[i]),
                recorder.times()[static_cast<std::size_t>(kLaneStages[i])]};
  }
  Embedding embedding;
  embedding.batch = lane.batch();
  embedding.token_count = lane.engine().tokens();
  embedding.width = lane.engine().width();
  embedding.tokens = lane.tokens();
  embedding.pooled = lane.pooled();
  embedding.logits = lane.logits();
  embedding.pixels = lane.pixels();
  embedding.layers = lane.layers();
  embedding.stages = times;
  return embedding;
}

Session::Session(const Model& model, const SessionOptions& options)
    : state_(std::make_unique<State>(model.state_->engine, options.threads, options.layers)) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Result<Embedding> Session::embed_files(std::span<const std::filesystem::path> files) {
  if (files.empty()) return fail(ErrorCode::kUsage, "there is no file to embed");
  state_->inputs.resize(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    Input& input = state_->inputs[i];
    input = Input{};
    input.source.kind = media::Source::Kind::kFile;
    input.source.name = input.source.path = files[i].string();
  }
  return state_->run();
}

Result<Embedding> Session::embed_file(const std::filesystem::path& file) {
  return embed_files(std::span(&file, 1));
}

Result<Embedding> Session::embed_rgb(std::span<const std::uint8_t> rgb, std::int64_t batch,
                                     Resolution size) {
  constexpr std::int64_t kSideMax = 65535;
  const bool sane = batch >= 1 && size.height >= 1 && size.width >= 1 && size.height <= kSideMax &&
                    size.width <= kSideMax && batch <= (std::int64_t{1} << 24);
  const std::int64_t item = sane ? size.height * size.width * 3 : 0;
  if (!sane || rgb.size() != static_cast<std::size_t>(item) * static_cast<std::size_t>(batch)) {
    return fail(ErrorCode::kUsage,
                {.what = "the pictures do not have the size that was said",
                 .expected = fmt::format("{} x {} x {} x 3 values", batch, size.height, size.width),
                 .got = fmt::format("{}", rgb.size()),
                 .advice = {}});
  }
  state_->inputs.resize(static_cast<std::size_t>(batch));
  for (std::int64_t i = 0; i < batch; ++i) {
    Input& input = state_->inputs[static_cast<std::size_t>(i)];
    input.source.kind = media::Source::Kind::kTensor;
    input.source.name.assign("rgb");
    input.item = TensorView(rgb.data() + i * item, DType::kU8, {size.height, size.width, 3});
  }
  return state_->run();
}

Result<Embedding> Session::embed_pixels(std::span<const float> pixels) {
  const Size2 size = state_->lane.engine().size();
  const auto item = static_cast<std::size_t>(3 * size.height * size.width);
  if (pixels.empty() || pixels.size() % item != 0) {
    return fail(ErrorCode::kUsage, {.what = "the pixels are no whole number of items",
                                    .expected = fmt::format("a multiple of 3 x {} x {} values",
                                                            size.height, size.width),
                                    .got = fmt::format("{}", pixels.size()),
                                    .advice = {}});
  }
  state_->inputs.resize(pixels.size() / item);
  for (std::size_t i = 0; i < state_->inputs.size(); ++i) {
    Input& input = state_->inputs[i];
    input.source.kind = media::Source::Kind::kTensor;
    input.source.name.assign("pixels");
    input.item = TensorView(pixels.data() + i * item, DType::kF32, {3, size.height, size.width});
  }
  return state_->run();
}

}  // namespace vivace
