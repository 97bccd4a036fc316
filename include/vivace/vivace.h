// The library behind the command line: load a model, run it on pixels or on files, get embeddings
// and the time that each stage took.
//
//   auto model = vivace::Model::load("ijepa-vits16");
//   if (!model) { /* model.error().message */ }
//   vivace::Session session(*model, {.threads = 2});
//   auto embedding = session.embed_file("photo.jpg");
//   // embedding->pooled: embedding->batch x embedding->width floats
//
// A Model is immutable: share it between threads. A Session is one thread's: make one for each
// concurrent call. Nothing here throws (but std::bad_alloc), prints or aborts on bad input.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vivace/result.h"

namespace vivace {

/// "0.1.0".
std::string version();

struct Resolution {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

struct ModelOptions {
  /// Pixels of the input; another size than the checkpoint's own interpolates its position table.
  std::optional<Resolution> resolution;
  /// Images with more pixels are refused.
  std::int64_t pixels_max = 178'956'970;
};

struct ModelInfo {
  std::string family;  ///< "ijepa"
  std::int64_t parameters = 0;
  std::int64_t tokens = 0;          ///< N, per item
  std::int64_t width = 0;           ///< D
  std::int64_t depth = 0;           ///< blocks
  std::int64_t classes = 0;         ///< C; 0 without a classifier
  Resolution resolution;            ///< pixels of the input
  double flops = 0;                 ///< of one item, 2 x multiply-adds
  bool stand_in = false;            ///< seeded weights: right sizes, no knowledge
  std::vector<std::string> labels;  ///< of the classes, where the checkpoint names them
};

class Model {
 public:
  /// A Hugging Face folder: config.json, model.safetensors (or shards with their index),
  /// preprocessor_config.json. Errors: kMissingInput, kBadData (names file, field or tensor, what
  /// was expected and found), kUsage (a resolution that does not fit the patches), kUnavailable.
  static Result<Model> load(const std::filesystem::path& folder, const ModelOptions& options = {});

  Model(const Model&);
  Model& operator=(const Model&);
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  const ModelInfo& info() const;

 private:
  friend class Session;
  struct State;
  explicit Model(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

struct StageTime {
  std::string_view stage;  ///< "read", "decode", "preprocess", "context_encode", "postprocess"
  std::int64_t elapsed_ns = 0;
};

/// The results of one call: views into the session, valid until its next call.
struct Embedding {
  std::int64_t batch = 0;             ///< B
  std::int64_t token_count = 0;       ///< N
  std::int64_t width = 0;             ///< D
  std::span<const float> tokens;      ///< [B, N, D], after the final norm
  std::span<const float> pooled;      ///< [B, D], the mean of the tokens
  std::span<const float> logits;      ///< [B, C]; empty without a classifier
  std::span<const float> pixels;      ///< [B, 3, H, W], the model's input
  std::span<const float> layers;      ///< [depth + 1, B, N, D] where asked for: what enters the
                                      ///< first block, then each block's output
  std::span<const StageTime> stages;  ///< in the order of a request
};

struct SessionOptions {
  int threads = 0;      ///< that compute, the calling one included; 0: all this process may use
  bool layers = false;  ///< keep every block's output
};

/// Runs a model, one call at a time. Keeps its buffers: calls after the first of a shape allocate
/// nothing but what the image codecs do.
class Session {
 public:
  explicit Session(const Model& model, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  /// JPEG, PNG or WebP files, one item each. Errors name the file.
  Result<Embedding> embed_files(std::span<const std::filesystem::path> files);
  Result<Embedding> embed_file(const std::filesystem::path& file);

  /// Decoded pictures of one size: uint8 [B, height, width, 3], preprocessed as the checkpoint
  /// says. Error: kUsage when the sizes do not multiply to `rgb.size()`.
  Result<Embedding> embed_rgb(std::span<const std::uint8_t> rgb, std::int64_t batch,
                              Resolution size);

  /// Preprocessed pixels: float32 [B, 3, H, W] with H and W of the model's resolution. Error:
  /// kUsage when `pixels.size()` is no whole number of items.
  Result<Embedding> embed_pixels(std::span<const float> pixels);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vivace
