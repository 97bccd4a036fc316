// I-JEPA in Hugging Face's layout: its configuration, its tensor names, its optional classifier.
// Names and defaults: huggingface/transformers:src/transformers/models/ijepa.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "model/checkpoint.h"
#include "model/vit.h"

namespace vivace::model {

/// What config.json says and tensors cannot: heads, eps, image size.
struct IjepaConfig {
  std::int64_t heads = 12;
  float layer_norm_eps = 1e-12f;
  Size2 image{224, 224};
  bool qkv_bias = true;
  std::vector<std::string> labels;  ///< id2label in order of id; empty where there is none
};

/// Error: kBadData or kUnavailable, naming the field.
Result<IjepaConfig> parse_ijepa_config(const Json& config);

struct Ijepa {
  VitGeometry geometry;
  VitWeights weights;
  std::unique_ptr<ops::Linear> classifier;  // [labels, D]; null in an encoder alone
  std::vector<std::string> labels;
  std::int64_t parameters = 0;  ///< of what the encoder and classifier use
};

/// Reads and packs the weights. A tensor that is missing, unknown or of a wrong shape is an error
/// that names it; `embeddings.mask_token` and `pooler.dense.*` are known and unused.
Result<Ijepa> load_ijepa(const Checkpoint& checkpoint, const Json& config,
                         const ops::Backend& backend);

}  // namespace vivace::model
