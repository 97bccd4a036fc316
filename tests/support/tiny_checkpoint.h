// A complete I-JEPA checkpoint of two layers in a temporary folder, with everything that a test may
// want to break exposed: the tensors, the configuration, the preprocessor's file.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/random.h"
#include "core/tensor.h"
#include "model/safetensors.h"
#include "platform/file.h"
#include "support/temporary_folder.h"

namespace vivace::test {

/// 32x32 pixels in patches of 8: 16 tokens of width 32, 2 heads, MLP 64.
class TinyCheckpoint {
 public:
  struct Tensor {
    model::TensorDeclaration declaration;
    std::vector<float> values;
  };

  TinyCheckpoint() {
    constexpr std::int64_t d = 32;
    constexpr std::int64_t f = 64;
    add("embeddings.patch_embeddings.projection.weight", {d, 3, 8, 8});
    add("embeddings.patch_embeddings.projection.bias", {d});
    add("embeddings.position_embeddings", {1, 16, d});
    for (int i = 0; i < 2; ++i) {
      const std::string layer = "encoder.layer." + std::to_string(i) + ".";
      for (const char* name : {"query", "key", "value"}) {
        linear(layer + "attention.attention." + name, d, d);
      }
      linear(layer + "attention.output.dense", d, d);
      linear(layer + "intermediate.dense", f, d);
      linear(layer + "output.dense", d, f);
      linear(layer + "layernorm_before", d, 0);
      linear(layer + "layernorm_after", d, 0);
    }
    linear("layernorm", d, 0);
    config_ = parse_json(R"({"model_type": "ijepa", "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 2, "intermediate_size": 64, "image_size": 32, "patch_size": 8,
        "layer_norm_eps": 1e-6, "hidden_act": "gelu", "qkv_bias": true})")
                  .value();
    preprocessor_ = R"({"size": {"height": 32, "width": 32}, "resample": 2,
        "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]})";
    write();
  }

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path weights() const { return folder() / "model.safetensors"; }
  Json& config() { return config_; }
  std::string& preprocessor() { return preprocessor_; }
  std::vector<Tensor>& tensors() { return tensors_; }
  Tensor& tensor(const std::string& name) {
    return *std::find_if(tensors_.begin(), tensors_.end(),
                         [&](const Tensor& t) { return t.declaration.name == name; });
  }
  void remove(const std::string& name) {
    std::erase_if(tensors_, [&](const Tensor& t) { return t.declaration.name == name; });
  }
  void add(const std::string& name, Shape shape) {
    Tensor tensor{{name, DType::kF32, shape}, {}};
    tensor.values.resize(static_cast<std::size_t>(element_count(shape)));
    const std::uint64_t key = stream_key(7, name);
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
      tensor.values[i] = static_cast<float>(0.3 * random_normal(key, i));
    }
    tensors_.push_back(std::move(tensor));
  }
  /// Writes all three files anew.
  void write() const {
    std::vector<model::TensorDeclaration> declarations;
    for (const Tensor& tensor : tensors_) declarations.push_back(tensor.declaration);
    auto writer = model::SafetensorsWriter::create(weights(), declarations).value();
    for (const Tensor& tensor : tensors_) check(writer.append(tensor.values));
    check(writer.commit());
    check(platform::write_file_atomically(folder() / "config.json", write_json(config_)));
    check(platform::write_file_atomically(folder() / "preprocessor_config.json", preprocessor_));
  }

 private:
  static void check(const Result<void>& done) { VIVACE_CHECK(done.has_value()); }
  /// Weight and bias; `in` 0 makes it a norm.
  void linear(const std::string& name, std::int64_t out, std::int64_t in) {
    add(name + ".weight", in > 0 ? Shape{out, in} : Shape{out});
    add(name + ".bias", {out});
  }

  TemporaryFolder folder_;
  std::vector<Tensor> tensors_;
  Json config_;
  std::string preprocessor_;
};

}  // namespace vivace::test
