// The spine of one request: read, decode, preprocess, encode, postprocess. A lane runs one request
// at a time and keeps every buffer, so that requests after the first of a shape allocate nothing in
// code of ours (codecs allocate inside their libraries).
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "media/decode.h"
#include "media/preprocess.h"
#include "model/vit.h"
#include "pipeline/engine.h"
#include "pipeline/input.h"
#include "record/recorder.h"
#include "record/stage.h"

namespace vivace::pipeline {

/// The stages a lane runs, in order.
inline constexpr Stage kLaneStages[] = {Stage::kRead, Stage::kDecode, Stage::kPreprocess,
                                        Stage::kContextEncode, Stage::kPostprocess};

class Lane {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// `warn` receives each warning about an input once ("a.png is a JPEG file").
  Lane(std::shared_ptr<const Engine> engine, int thread_count, Warn warn = {});

  /// The items of the next request; they must outlive it.
  void set_inputs(std::span<const Input> inputs);

  /// Runs the stages from `first` to `last`, both of kLaneStages, and stamps them. An error names
  /// the input. `with_layers` keeps every block's output (embed --emit layers).
  Result<void> run(Stage first, Stage last, Recorder& recorder, bool with_layers = false);

  // The results of the last request.
  std::int64_t batch() const { return static_cast<std::int64_t>(inputs_.size()); }
  std::span<const float> pixels() const { return pixels_; }  // [B, 3, H, W]
  std::span<const float> tokens() const { return tokens_; }  // [B, N, D]
  std::span<const float> layers() const { return layers_; }  // [depth + 1, B, N, D]
  std::span<const float> pooled() const { return pooled_; }  // [B, D]
  std::span<const float> logits() const { return logits_; }  // [B, C]; empty without classifier

  const Engine& engine() const { return *engine_; }
  int thread_count() const { return workspace_.threads.thread_count(); }

 private:
  struct Item {
    std::vector<std::uint8_t> bytes;
    media::Image image;
    std::string synthetic;  // the name of the synthetic picture that `image` holds
  };
  Result<void> run_stage(Stage stage, bool with_layers);
  Result<void> read();
  Result<void> decode();
  Result<void> preprocess();
  void encode(bool with_layers);
  void postprocess();
  std::string resolution_advice(Size2 given) const;
  tl::unexpected<Error> in_input(Error error, const Input& input) const;

  std::shared_ptr<const Engine> engine_;
  model::Workspace workspace_;
  Warn warn_;
  std::set<std::string> warned_;
  std::span<const Input> inputs_;
  std::vector<Item> items_;
  media::DecodeScratch decode_scratch_;
  media::PreprocessScratch preprocess_scratch_;
  std::vector<float> pixels_;
  std::vector<float> tokens_;
  std::vector<float> layers_;
  std::vector<float> pooled_;
  std::vector<float> logits_;
};

}  // namespace vivace::pipeline
