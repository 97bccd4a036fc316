// Everything about a request that does not change from one to the next: the model, how pictures
// become its input, at which size. Immutable and shared; a Lane runs requests through it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "core/error.h"
#include "core/units.h"
#include "media/decode.h"
#include "media/preprocess.h"
#include "model/model.h"

namespace vivace::pipeline {

struct EngineOptions {
  std::optional<Size2> resolution;  ///< pixels, in place of the checkpoint's own
  media::DecodeLimits limits;
  std::uint64_t seed = 0;  ///< of synthetic pictures
};

class Engine {
 public:
  /// Loads the checkpoint and its preprocessor_config.json. The latter may be absent as long as
  /// only preprocessed tensors are run.
  static Result<std::shared_ptr<const Engine>> load(const std::filesystem::path& folder,
                                                    const EngineOptions& options);

  const model::Model& model() const { return *model_; }
  /// Pixels of the model's input.
  Size2 size() const { return size_; }
  std::int64_t tokens() const { return model_->encoder().geometry().tokens(size_); }
  std::int64_t width() const { return model_->encoder().geometry().width; }
  const EngineOptions& options() const { return options_; }

  /// How pictures become input. Error: kMissingInput where the checkpoint does not say.
  Result<const media::Preprocessor*> preprocessor() const;

 private:
  Result<void> read_preprocessor(const std::filesystem::path& folder);

  std::shared_ptr<const model::Model> model_;
  std::optional<media::Preprocessor> preprocessor_;
  Size2 size_;
  EngineOptions options_;
};

}  // namespace vivace::pipeline
