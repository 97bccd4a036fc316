// The tensors of a checkpoint folder by name, whichever files they lie in: `model.safetensors`, or
// the sharded form that `model.safetensors.index.json` names.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/tensor.h"
#include "model/safetensors.h"

namespace vivace::model {

class Checkpoint {
 public:
  /// `folder` as Hugging Face's save_pretrained writes it. Errors name the file and what to do.
  static Result<Checkpoint> open(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  std::optional<TensorView> find(std::string_view name) const;
  /// Sorted.
  std::vector<std::string> names() const;
  /// The first value under this key in a file's metadata, or "".
  std::string metadata(std::string_view key) const;
  /// Bytes of all tensors.
  std::uint64_t weights_bytes() const;
  /// The files that hold the tensors, in the order of their names.
  const std::vector<std::filesystem::path>& files() const { return paths_; }

  /// config.json, or another JSON file of the folder.
  Result<Json> read_config(std::string_view file_name) const;

 private:
  Result<void> add_file(const std::filesystem::path& path);
  Result<void> open_sharded(const std::filesystem::path& index_path);

  struct Place {
    std::size_t file = 0;
    std::size_t entry = 0;
  };
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> paths_;
  std::vector<SafetensorsFile> files_;
  std::map<std::string, Place, std::less<>> places_;
};

}  // namespace vivace::model
