// What a request is made of: one item of a batch, either something to read and decode or numbers
// that are ready.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/tensor.h"
#include "media/source.h"
#include "model/safetensors.h"
#include "platform/file.h"

namespace vivace::pipeline {

/// A tensor file that stays mapped while inputs point into it.
class TensorFile {
 public:
  /// `source` is of kind kTensor. Errors: kMissingInput, kBadData (names the tensors that are
  /// there).
  static Result<std::shared_ptr<const TensorFile>> open(const media::Source& source);
  const TensorView& tensor() const { return tensor_; }

 private:
  platform::MappedFile npy_;
  model::SafetensorsFile safetensors_;
  TensorView tensor_;
};

/// One item. Cheap to copy.
struct Input {
  media::Source source;
  std::shared_ptr<const TensorFile> file;                  ///< of a kTensor
  std::shared_ptr<const std::vector<std::uint8_t>> bytes;  ///< of a kStdin: it can be read once
  TensorView item;  ///< of a kTensor: [3, H, W] F32, preprocessed, or [H, W, 3] U8, decoded
};

/// One Input for each source, and for a tensor one for each item of its first extent: float32
/// [B, 3, H, W] or uint8 [B, H, W, 3]. Errors: as TensorFile::open(), and kBadData for other types
/// or shapes, saying what was expected.
Result<std::vector<Input>> make_inputs(std::span<const media::Source> sources);

/// "2 images", "3 ready tensors": what kinds there are.
std::string describe_kinds(std::span<const Input> inputs);

}  // namespace vivace::pipeline
