#include "pipeline/lane.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/check.h"
#include "core/text.h"

namespace vivace::pipeline {
namespace {

using Kind = media::Source::Kind;

bool is_ready(const Input& input) {
  return input.source.kind == Kind::kTensor && input.item.type() == DType::kF32;
}

}  // namespace

Lane::Lane(std::shared_ptr<const Engine> engine, int thread_count, Warn warn)
    : engine_(std::move(engine)), workspace_(thread_count), warn_(std::move(warn)) {}

void Lane::set_inputs(std::span<const Input> inputs) {
  inputs_ = inputs;
  if (items_.size() < inputs.size()) items_.resize(inputs.size());
  // Synthetic pictures and ready pixels exist before a request does.
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const media::Source& source = inputs[i].source;
    if (source.kind == Kind::kSynthetic && items_[i].synthetic != source.name) {
      media::make_synthetic_image(source.synthetic_size, engine_->options().seed, items_[i].image);
      items_[i].synthetic = source.name;
    } else if (source.kind != Kind::kSynthetic) {
      items_[i].synthetic.clear();
    }
  }
}

Result<void> Lane::run(Stage first, Stage last, Recorder& recorder, bool with_layers) {
  VIVACE_CHECK(!inputs_.empty());
  for (const Stage stage : kLaneStages) {
    if (stage < first || stage > last) continue;
    const Recorder::Scope scope(recorder, stage);
    VIVACE_CHECK_OK(run_stage(stage, with_layers));
  }
  return {};
}

Result<void> Lane::run_stage(Stage stage, bool with_layers) {
  switch (stage) {
    case Stage::kRead:
      return read();
    case Stage::kDecode:
      return decode();
    case Stage::kPreprocess:
      return preprocess();
    case Stage::kContextEncode:
      encode(with_layers);
      return {};
    case Stage::kPostprocess:
      postprocess();
      return {};
    default:
      VIVACE_CHECK(!"a stage of kLaneStages");
      return {};
  }
}

Result<void> Lane::read() {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    if (input.source.kind == Kind::kStdin) {
      items_[i].bytes.assign(input.bytes->begin(), input.bytes->end());
    } else if (input.source.kind == Kind::kFile) {
      VIVACE_CHECK_OK(media::read_source(input.source, items_[i].bytes));
    }
  }
  return {};
}

Result<void> Lane::decode() {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    Item& item = items_[i];
    if (input.source.kind == Kind::kTensor && input.item.type() == DType::kU8) {
      const auto values = input.item.u8();
      item.image.height = input.item.extent(0);
      item.image.width = input.item.extent(1);
      item.image.rgb.assign(values.begin(), values.end());
      continue;
    }
    if (input.source.kind != Kind::kFile && input.source.kind != Kind::kStdin) continue;
    auto report =
        media::decode_image(item.bytes, engine_->options().limits, decode_scratch_, item.image);
    if (!report) return in_input(std::move(report).error(), input);
    if (!warn_ || input.source.kind != Kind::kFile) continue;
    const auto warning = media::extension_warning(input.source.path, report->format);
    if (warning && warned_.insert(input.source.path).second) warn_(*warning);
  }
  return {};
}

std::string Lane::resolution_advice(Size2 given) const {
  // Never a size that would be refused in its turn.
  if (!engine_->model().encoder().check_size(given)) return {};
  return fmt::format("give --resolution {}x{} to interpolate the position table", given.height,
                     given.width);
}

Result<void> Lane::preprocess() {
  const Size2 size = engine_->size();
  const auto item_values = static_cast<std::size_t>(3 * size.height * size.width);
  pixels_.resize(inputs_.size() * item_values);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    const std::span<float> out = std::span(pixels_).subspan(i * item_values, item_values);
    const bool ready = is_ready(input);
    Size2 given{input.item.rank() == 3 ? input.item.extent(1) : 0,
                input.item.rank() == 3 ? input.item.extent(2) : 0};
    if (!ready) {
      VIVACE_TRY(const media::Preprocessor* preprocessor, engine_->preprocessor());
      auto output = preprocessor->output_size(items_[i].image.size());
      if (!output) return in_input(std::move(output).error(), input);
      given = *output;
      if (given == size) {
        auto done = preprocessor->run(items_[i].image, preprocess_scratch_, out);
        if (!done) return in_input(std::move(done).error(), input);
      }
    }
    if (given != size) {
      return in_input(
          Error{ErrorCode::kBadData,
                format_message({.what = "the input's size does not fit the model",
                                .expected = fmt::format("{}x{} pixels", size.height, size.width),
                                .got = fmt::format("{}x{}", given.height, given.width),
                                .advice = resolution_advice(given)})},
          input);
    }
    if (ready) std::memcpy(out.data(), input.item.data(), out.size_bytes());
  }
  return {};
}

void Lane::encode(bool with_layers) {
  const model::Vit& encoder = engine_->model().encoder();
  const auto values = static_cast<std::size_t>(batch() * engine_->tokens() * engine_->width());
  tokens_.resize(values);
  layers_.resize(with_layers ? values * static_cast<std::size_t>(encoder.geometry().depth + 1) : 0);
  encoder.prepare(workspace_, engine_->size());
  encoder.encode(workspace_, pixels_.data(), batch(), engine_->size(), tokens_.data(),
                 with_layers ? layers_.data() : nullptr);
  workspace_.scratch.reset();
}

void Lane::postprocess() {
  const model::Model& model = engine_->model();
  pooled_.resize(static_cast<std::size_t>(batch() * engine_->width()));
  model.pool(workspace_, tokens_.data(), batch(), engine_->size(), pooled_.data());
  logits_.resize(static_cast<std::size_t>(batch() * model.classes()));
  if (model.has_classifier()) model.classify(workspace_, pooled_.data(), batch(), logits_.data());
  workspace_.scratch.reset();
}

tl::unexpected<Error> Lane::in_input(Error error, const Input& input) const {
  return tl::unexpected(with_context(std::move(error), input.source.name));
}

}  // namespace vivace::pipeline
