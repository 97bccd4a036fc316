#include "pipeline/engine.h"

#include <fmt/format.h>

#include "core/json.h"
#include "core/text.h"
#include "platform/file.h"

namespace vivace::pipeline {
namespace {

constexpr const char* kPreprocessorFile = "preprocessor_config.json";

}  // namespace

Result<std::shared_ptr<const Engine>> Engine::load(const std::filesystem::path& folder,
                                                   const EngineOptions& options) {
  auto engine = std::make_shared<Engine>();
  engine->options_ = options;
  VIVACE_TRY(engine->model_, model::Model::load(folder));
  const model::Vit& encoder = engine->model_->encoder();
  engine->size_ = options.resolution.value_or(encoder.geometry().image);
  VIVACE_CHECK_OK(encoder.check_size(engine->size_));
  VIVACE_CHECK_OK(engine->read_preprocessor(folder));
  return std::shared_ptr<const Engine>(std::move(engine));
}

Result<void> Engine::read_preprocessor(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kPreprocessorFile;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  VIVACE_TRY(const std::string text, platform::read_text(path));
  const auto in_file = [&](Error error) {
    return tl::unexpected(with_context(std::move(error), path.string()));
  };
  auto json = parse_json(text);
  if (!json) return in_file(std::move(json).error());
  auto config = media::parse_preprocess_config(*json);
  if (!config) return in_file(std::move(config).error());
  auto preprocessor = media::Preprocessor::create(*config, options_.resolution);
  // A resolution that is no size is the flag's fault, not the file's.
  if (!preprocessor && options_.resolution) {
    return tl::unexpected(std::move(preprocessor).error());
  }
  if (!preprocessor) return in_file(std::move(preprocessor).error());
  preprocessor_ = std::move(*preprocessor);
  const auto output = preprocessor_->output_size();
  if (output && *output != size_) {
    return fail(
        ErrorCode::kBadData,
        {.what = fmt::format("{}: its pictures do not fit the model", path.string()),
         .expected = fmt::format("{}x{} pixels as config.json says", size_.height, size_.width),
         .got = fmt::format("{}x{}", output->height, output->width),
         .advice = fmt::format("choose one with --resolution {}x{}", size_.height, size_.width)});
  }
  return {};
}

Result<const media::Preprocessor*> Engine::preprocessor() const {
  if (preprocessor_) return &*preprocessor_;
  return fail(ErrorCode::kMissingInput,
              {.what = fmt::format("the checkpoint {} does not say how pictures are prepared",
                                   quote(model_->facts().folder.string(), 400)),
               .expected = kPreprocessorFile,
               .got = "no such file",
               .advice = "copy it from where the checkpoint is published, or give preprocessed "
                         "tensors (float32 [B, 3, H, W])"});
}

}  // namespace vivace::pipeline
