#include "model/init.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "core/json.h"
#include "core/random.h"
#include "core/tensor.h"
#include "core/text.h"
#include "model/safetensors.h"
#include "platform/file.h"
#include "platform/thread_pool.h"

namespace vivace::model {
namespace {

namespace fs = std::filesystem;

constexpr std::array kPresets = {
    Preset{"ijepa-vits16", 384, 12, 6, 1536, 16, 224, ""},
    Preset{"ijepa-vitb16", 768, 12, 12, 3072, 16, 224, ""},
    Preset{"ijepa-vitl16", 1024, 24, 16, 4096, 16, 224, ""},
    Preset{"ijepa-vith14", 1280, 32, 16, 5120, 14, 224, "facebook/ijepa_vith14_1k"},
    Preset{"ijepa-vith16-448", 1280, 32, 16, 5120, 16, 448, "facebook/ijepa_vith16_1k"},
    Preset{"ijepa-vitg16", 1408, 40, 16, 6144, 16, 224, "facebook/ijepa_vitg16_22k"},
};
constexpr double kInitializerRange = 0.02;

/// How a tensor's values come about.
enum class Fill { kNormal, kZero, kOne, kSinCos };

struct Plan {
  TensorDeclaration tensor;
  Fill fill;
};

std::vector<Plan> plan_tensors(const Preset& preset) {
  const std::int64_t d = preset.width;
  const std::int64_t grid = preset.image / preset.patch;
  std::vector<Plan> plans;
  const auto add = [&](std::string name, Shape shape, Fill fill) {
    plans.push_back({{std::move(name), DType::kF32, std::move(shape)}, fill});
  };
  const auto linear = [&](const std::string& name, std::int64_t out, std::int64_t in) {
    add(name + ".bias", {out}, Fill::kZero);
    add(name + ".weight", {out, in}, Fill::kNormal);
  };
  const auto norm = [&](const std::string& name) {
    add(name + ".bias", {d}, Fill::kZero);
    add(name + ".weight", {d}, Fill::kOne);
  };
  const std::string patch = "embeddings.patch_embeddings.projection";
  add(patch + ".bias", {d}, Fill::kZero);
  add(patch + ".weight", {d, 3, preset.patch, preset.patch}, Fill::kNormal);
  add("embeddings.position_embeddings", {1, grid * grid, d}, Fill::kSinCos);
  for (std::int64_t i = 0; i < preset.depth; ++i) {
    const std::string layer = fmt::format("encoder.layer.{}.", i);
    for (const char* role : {"key", "query", "value"}) {
      linear(layer + "attention.attention." + role, d, d);
    }
    linear(layer + "attention.output.dense", d, d);
    linear(layer + "intermediate.dense", preset.mlp_width, d);
    norm(layer + "layernorm_after");
    norm(layer + "layernorm_before");
    linear(layer + "output.dense", d, preset.mlp_width);
  }
  norm("layernorm");
  return plans;
}

/// [grid * grid, D]: the first half of D for the column w, the second for the row h, each
/// [sin | cos] of position * 10000^(-k / (D/4)) (facebookresearch/ijepa:src/models/
/// vision_transformer.py, get_2d_sincos_pos_embed; "w goes first").
std::vector<float> sin_cos_table(std::int64_t grid, std::int64_t width) {
  const std::int64_t quarter = width / 4;
  constexpr double kLog10000 = 9.2103403719761827361;
  std::vector<double> omega(static_cast<std::size_t>(quarter));
  for (std::int64_t k = 0; k < quarter; ++k) {
    omega[static_cast<std::size_t>(k)] =
        portable_exp(-kLog10000 * (static_cast<double>(k) / static_cast<double>(quarter)));
  }
  std::vector<float> table;
  table.reserve(static_cast<std::size_t>(grid * grid * width));
  for (std::int64_t row = 0; row < grid; ++row) {
    for (std::int64_t column = 0; column < grid; ++column) {
      for (const std::int64_t place : {column, row}) {
        for (const double w : omega) {
          table.push_back(static_cast<float>(portable_sin(static_cast<double>(place) * w)));
        }
        for (const double w : omega) {
          table.push_back(static_cast<float>(portable_cos(static_cast<double>(place) * w)));
        }
      }
    }
  }
  return table;
}

Json config_json(const Preset& preset) {
  Json config{JsonObject{}};
  config.set("architectures", JsonArray{"IJepaModel"});
  config.set("attention_probs_dropout_prob", 0.0);
  config.set("dtype", "float32");
  config.set("hidden_act", "gelu");
  config.set("hidden_dropout_prob", 0.0);
  config.set("hidden_size", preset.width);
  config.set("image_size", preset.image);
  config.set("initializer_range", kInitializerRange);
  config.set("intermediate_size", preset.mlp_width);
  config.set("layer_norm_eps", 1e-6);
  config.set("model_type", "ijepa");
  config.set("num_attention_heads", preset.heads);
  config.set("num_channels", 3);
  config.set("num_hidden_layers", preset.depth);
  config.set("patch_size", preset.patch);
  config.set("pooler_act", "tanh");
  config.set("pooler_output_size", preset.width);
  config.set("qkv_bias", true);
  return config;
}

Json preprocessor_json(const Preset& preset) {
  const JsonArray half{0.5, 0.5, 0.5};
  Json config{JsonObject{}};
  config.set("do_normalize", true);
  config.set("do_rescale", true);
  config.set("do_resize", true);
  config.set("image_mean", half);
  config.set("image_processor_type", "ViTImageProcessor");
  config.set("image_std", half);
  config.set("resample", 2);
  config.set("rescale_factor", 1.0 / 255.0);
  config.set("size", JsonObject{{"height", preset.image}, {"width", preset.image}});
  return config;
}

/// Fills `values` with the places [begin, begin + size) of a stream, in parallel: every place is a
/// function of the key and its index alone.
void fill_normal(platform::ThreadPool& threads, std::uint64_t key, std::uint64_t begin,
                 std::span<float> values) {
  constexpr std::size_t kPiece = 1 << 14;
  threads.parallel_for((values.size() + kPiece - 1) / kPiece, [&](std::size_t piece, int) {
    const std::size_t from = piece * kPiece;
    const std::size_t to = std::min(from + kPiece, values.size());
    for (std::size_t i = from; i < to; ++i) {
      values[i] = static_cast<float>(kInitializerRange * random_normal(key, begin + i));
    }
  });
}

Result<void> append_tensor(SafetensorsWriter& writer, const Plan& plan, const Preset& preset,
                           std::uint64_t seed, platform::ThreadPool& threads,
                           std::vector<float>& buffer) {
  if (plan.fill == Fill::kSinCos) {
    return writer.append(sin_cos_table(preset.image / preset.patch, preset.width));
  }
  const auto count = static_cast<std::uint64_t>(element_count(plan.tensor.shape));
  const std::uint64_t key = stream_key(seed, plan.tensor.name);
  for (std::uint64_t begin = 0; begin < count; begin += buffer.size()) {
    const std::span<float> values =
        std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), count - begin));
    if (plan.fill == Fill::kNormal) {
      fill_normal(threads, key, begin, values);
    } else {
      std::fill(values.begin(), values.end(), plan.fill == Fill::kOne ? 1.0f : 0.0f);
    }
    VIVACE_CHECK_OK(writer.append(values));
  }
  return {};
}

/// A checkpoint that somebody trained is never replaced by one that knows nothing.
Result<void> check_replaceable(const fs::path& folder) {
  std::error_code ignored;
  std::string found;
  for (const char* name :
       {"model.safetensors.index.json", "pytorch_model.bin", "model.safetensors"}) {
    if (found.empty() && fs::exists(folder / name, ignored)) found = name;
  }
  if (found.empty()) return {};
  if (found == "model.safetensors") {
    const auto file = SafetensorsFile::open(folder / found);
    for (std::size_t i = 0; file && i < file->metadata().size(); ++i) {
      if (file->metadata()[i].first == kStandInKey) return {};
    }
  }
  return fail(
      ErrorCode::kCannotCreate,
      {.what = fmt::format("{} holds weights that are no stand-in", quote(folder.string(), 400)),
       .expected = "a new or empty folder, or a former stand-in",
       .got = found,
       .advice = "choose another --out"});
}

/// Takes away, unless kept, the folders that were made for an output that did not come about.
class NewFolders {
 public:
  explicit NewFolders(fs::path folder) {
    std::error_code ignored;
    for (; !folder.empty() && !fs::exists(folder, ignored); folder = folder.parent_path()) {
      absent_.push_back(folder);
    }
  }
  ~NewFolders() {
    std::error_code ignored;  // a folder that is not empty, or never was made, is left alone
    for (const fs::path& folder : absent_) fs::remove(folder, ignored);
  }
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;
  void keep() { absent_.clear(); }

 private:
  std::vector<fs::path> absent_;  // innermost first
};

}  // namespace

std::span<const Preset> presets() { return kPresets; }

Result<Preset> find_preset(std::string_view name) {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) {
    if (preset.name == name) return preset;
    names.emplace_back(preset.name);
  }
  const std::string near = nearest_name(name, names);
  return fail(ErrorCode::kUsage,
              {.what = "no such preset",
               .expected = join(names, ", "),
               .got = quote(name),
               .advice = near.empty() ? std::string() : "did you mean " + near + "?"});
}

Result<void> write_stand_in(const Preset& preset, std::uint64_t seed, const fs::path& folder,
                            int thread_count, const std::function<void(double)>& progress,
                            const std::function<bool()>& stop) {
  VIVACE_CHECK_OK(check_replaceable(folder));
  NewFolders made(folder);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder)) {
    return fail(ErrorCode::kCannotCreate,
                fmt::format("cannot create the folder {}: {}", quote(folder.string(), 400),
                            error ? error.message() : "a file is in its place"));
  }
  const std::vector<Plan> plans = plan_tensors(preset);
  std::vector<TensorDeclaration> tensors;
  double total = 0;
  for (const Plan& plan : plans) {
    tensors.push_back(plan.tensor);
    total += static_cast<double>(element_count(plan.tensor.shape));
  }
  // "format": transformers refuses a file that does not say for which framework it was saved.
  const std::vector<std::pair<std::string, std::string>> metadata = {
      {"format", "pt"},
      {std::string(kStandInKey), fmt::format("preset {} seed {}", preset.name, seed)}};
  platform::ThreadPool threads(thread_count);
  std::vector<float> buffer(std::size_t{1} << 20);
  VIVACE_TRY(SafetensorsWriter writer,
             SafetensorsWriter::create(folder / "model.safetensors", tensors, metadata));
  double done = 0;
  for (const Plan& plan : plans) {
    if (stop && stop()) return fail(ErrorCode::kInterrupted, "interrupted; nothing was written");
    VIVACE_CHECK_OK(append_tensor(writer, plan, preset, seed, threads, buffer));
    done += static_cast<double>(element_count(plan.tensor.shape));
    if (progress) progress(done / total);
  }
  VIVACE_CHECK_OK(writer.commit());
  VIVACE_CHECK_OK(platform::write_file_atomically(folder / "preprocessor_config.json",
                                                  write_json(preprocessor_json(preset))));
  made.keep();
  // Last: a folder with a configuration is a whole checkpoint.
  return platform::write_file_atomically(folder / "config.json", write_json(config_json(preset)));
}

}  // namespace vivace::model
