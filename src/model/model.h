// A loaded model: the one door from the pipeline to the families.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "model/vit.h"
#include "ops/backend.h"
#include "record/cost.h"

namespace vivace::model {

/// Facts that results carry beside the figures.
struct ModelFacts {
  std::string family;  ///< "ijepa"
  std::filesystem::path folder;
  std::vector<std::filesystem::path> weight_files;
  std::string weights_type;  ///< "F32", or "F16, F32" where they differ
  std::int64_t parameters = 0;
  std::uint64_t weights_bytes = 0;  ///< as stored
  bool stand_in = false;            ///< written by `vivace init`: right sizes, no knowledge
  std::vector<std::string> labels;
};

/// Where the results of one call go; null leaves one out. `tokens` is always needed.
struct EncodeOutputs {
  float* tokens = nullptr;  ///< [B, N, D]
  float* layers = nullptr;  ///< [depth + 1, B, N, D]
};

/// Immutable after load; shared by concurrent calls, each with its own Workspace.
class Model {
 public:
  /// A Hugging Face folder. Errors name the file, field or tensor.
  static Result<std::shared_ptr<const Model>> load(const std::filesystem::path& folder,
                                                   const ops::Backend& backend);
  /// The same on the CPU: callers above this folder need not know the operators.
  static Result<std::shared_ptr<const Model>> load(const std::filesystem::path& folder);

  const ModelFacts& facts() const { return facts_; }
  const Vit& encoder() const { return *encoder_; }
  bool has_classifier() const { return classifier_ != nullptr; }
  /// Classes of the classifier; 0 without one.
  std::int64_t classes() const { return classifier_ != nullptr ? classifier_->out_features() : 0; }
  /// Bytes of the packed weights in memory.
  std::size_t packed_bytes() const;

  /// tokens [B, N, D] -> pooled [B, D], the mean over the tokens.
  void pool(Workspace& workspace, const float* tokens, std::int64_t batch, Size2 size,
            float* pooled) const;
  /// pooled [B, D] -> logits [B, classes()]. Requires a classifier.
  void classify(Workspace& workspace, const float* pooled, std::int64_t batch, float* logits) const;

  /// Operators of a whole request, stage by stage.
  std::vector<OperatorCost> costs(std::int64_t batch, Size2 size) const;

 private:
  ModelFacts facts_;
  std::unique_ptr<Vit> encoder_;
  std::unique_ptr<ops::Linear> classifier_;
};

}  // namespace vivace::model
