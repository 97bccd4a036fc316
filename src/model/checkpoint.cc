#include "model/checkpoint.h"

#include <fmt/format.h>

#include "core/text.h"

namespace vivace::model {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSingleFile = "model.safetensors";
constexpr std::string_view kIndexFile = "model.safetensors.index.json";

tl::unexpected<Error> bad(const fs::path& path, std::string_view what, std::string expected = {},
                          std::string got = {}) {
  return fail(ErrorCode::kBadData, {.what = fmt::format("{}: {}", path.string(), what),
                                    .expected = std::move(expected),
                                    .got = std::move(got),
                                    .advice = {}});
}

/// Why `folder` is no checkpoint folder, as helpfully as can be said.
tl::unexpected<Error> no_weights(const fs::path& folder) {
  std::error_code ignored;
  ErrorParts parts;
  parts.what = fmt::format("no weights in {}", quote(folder.string(), 400));
  parts.expected = fmt::format("{} or {}", kSingleFile, kIndexFile);
  if (fs::exists(folder / "pytorch_model.bin", ignored)) {
    parts.got = "pytorch_model.bin";
    parts.advice = "save the model with save_pretrained(..., safe_serialization=True)";
  } else {
    parts.got = "neither";
    parts.advice =
        "give the folder that holds config.json and the weights, or write a stand-in "
        "with `vivace init`";
  }
  return fail(ErrorCode::kMissingInput, parts);
}

}  // namespace

Result<Checkpoint> Checkpoint::open(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) {
    return fail(ErrorCode::kMissingInput,
                {.what = fmt::format("no checkpoint at {}", quote(folder.string(), 400)),
                 .expected = "a folder with config.json and model.safetensors",
                 .got = "nothing there",
                 .advice = "check --model, or write a stand-in with `vivace init`"});
  }
  if (!fs::is_directory(status)) {
    return fail(ErrorCode::kMissingInput,
                {.what = fmt::format("{} is no checkpoint folder", quote(folder.string(), 400)),
                 .expected = "a folder with config.json and model.safetensors",
                 .got = "a file",
                 .advice = "give the folder that the file lies in"});
  }
  Checkpoint checkpoint;
  checkpoint.folder_ = folder;
  if (fs::exists(folder / kSingleFile, error)) {
    VIVACE_CHECK_OK(checkpoint.add_file(folder / kSingleFile));
  } else if (fs::exists(folder / kIndexFile, error)) {
    VIVACE_CHECK_OK(checkpoint.open_sharded(folder / kIndexFile));
  } else {
    return no_weights(folder);
  }
  return checkpoint;
}

Result<void> Checkpoint::add_file(const fs::path& path) {
  VIVACE_TRY(SafetensorsFile file, SafetensorsFile::open(path));
  for (std::size_t i = 0; i < file.tensors().size(); ++i) {
    const TensorEntry& entry = file.tensors()[i];
    if (entry.shape.size() > TensorView::kRankMax) {
      return bad(path, fmt::format("tensor {}", quote(entry.name)),
                 fmt::format("at most {} extents", TensorView::kRankMax),
                 std::to_string(entry.shape.size()));
    }
    const auto [place, is_new] = places_.try_emplace(entry.name, Place{files_.size(), i});
    if (!is_new) {
      return bad(path, fmt::format("tensor {} is also in {}", quote(entry.name),
                                   paths_[place->second.file].filename().string()));
    }
  }
  files_.push_back(std::move(file));
  paths_.push_back(path);
  return {};
}

Result<void> Checkpoint::open_sharded(const fs::path& index_path) {
  VIVACE_TRY(const Json index, read_config(kIndexFile));
  const Json* map = index.find("weight_map");
  if (map == nullptr || !map->is_object() || map->as_object().empty()) {
    return bad(index_path, "no usable \"weight_map\"", "an object of tensor names to file names",
               map == nullptr ? "none" : std::string(map->kind_name()));
  }
  std::map<std::string, std::vector<std::string>> tensors_of_file;
  for (const auto& [tensor, file] : map->as_object()) {
    // A name with a folder in it could reach outside the checkpoint.
    const bool plain = file.is_string() && !file.as_string().empty() &&
                       fs::path(file.as_string()).filename() == fs::path(file.as_string()) &&
                       file.as_string() != ".." && file.as_string() != ".";
    if (!plain) {
      return bad(index_path, fmt::format("the file of tensor {}", quote(tensor)),
                 "the name of a file in the same folder",
                 file.is_string() ? quote(file.as_string()) : std::string(file.kind_name()));
    }
    tensors_of_file[file.as_string()].push_back(tensor);
  }
  for (const auto& [file, tensors] : tensors_of_file) {
    const fs::path path = folder_ / file;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
      return fail(ErrorCode::kMissingInput,
                  {.what = fmt::format("{} names a file that is absent", index_path.string()),
                   .expected = file,
                   .got = "no such file",
                   .advice = "fetch the missing shard"});
    }
    VIVACE_CHECK_OK(add_file(path));
    for (const std::string& tensor : tensors) {
      const auto place = places_.find(tensor);
      if (place == places_.end() || place->second.file != files_.size() - 1) {
        return bad(path, fmt::format("tensor {} is not in this file, where {} says it is",
                                     quote(tensor), kIndexFile));
      }
    }
    if (tensors.size() != files_.back().tensors().size()) {
      for (const TensorEntry& entry : files_.back().tensors()) {
        if (map->find(entry.name) == nullptr) {
          return bad(path,
                     fmt::format("tensor {} is not named by {}", quote(entry.name), kIndexFile));
        }
      }
    }
  }
  return {};
}

std::optional<TensorView> Checkpoint::find(std::string_view name) const {
  const auto place = places_.find(name);
  if (place == places_.end()) return std::nullopt;
  const SafetensorsFile& file = files_[place->second.file];
  return file.view(file.tensors()[place->second.entry]);
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> names;
  names.reserve(places_.size());
  for (const auto& [name, place] : places_) names.push_back(name);
  return names;
}

std::string Checkpoint::metadata(std::string_view key) const {
  for (const SafetensorsFile& file : files_) {
    for (const auto& [name, value] : file.metadata()) {
      if (name == key) return value;
    }
  }
  return {};
}

std::uint64_t Checkpoint::weights_bytes() const {
  std::uint64_t bytes = 0;
  for (const SafetensorsFile& file : files_) {
    for (const TensorEntry& entry : file.tensors()) bytes += entry.bytes;
  }
  return bytes;
}

Result<Json> Checkpoint::read_config(std::string_view file_name) const {
  const fs::path path = folder_ / file_name;
  VIVACE_TRY(const std::string text, platform::read_text(path));
  auto json = parse_json(text);
  if (!json) return tl::unexpected(with_context(std::move(json).error(), path.string()));
  if (!json->is_object())
    return bad(path, "not a configuration", "an object", std::string(json->kind_name()));
  return std::move(*json);
}

}  // namespace vivace::model
