#include "model/ijepa.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/text.h"
#include "model/tensor_reader.h"

namespace vivace::model {
namespace {

constexpr std::int64_t kSideMax = 65535;
constexpr std::int64_t kDepthMax = 1024;

tl::unexpected<Error> bad_field(std::string_view field, std::string expected, const Json& got) {
  std::string shown(got.kind_name());
  if (got.is_string()) shown = quote(got.as_string());
  if (got.is_integer()) shown = std::to_string(got.as_integer());
  if (got.is_number() && !got.is_integer()) shown = fmt::format("{}", got.as_number());
  return fail(ErrorCode::kBadData, {.what = fmt::format("config.json: \"{}\"", field),
                                    .expected = std::move(expected),
                                    .got = std::move(shown),
                                    .advice = {}});
}

Result<std::int64_t> integer_field(const Json& config, std::string_view field,
                                   std::int64_t fallback, std::int64_t maximum) {
  const Json* value = config.find(field);
  if (value == nullptr || value->is_null()) return fallback;
  if (!value->is_integer() || value->as_integer() < 1 || value->as_integer() > maximum) {
    return bad_field(field, fmt::format("a whole number from 1 to {}", maximum), *value);
  }
  return value->as_integer();
}

/// An int, or [height, width].
Result<Size2> size_field(const Json& config, std::string_view field, Size2 fallback) {
  const Json* value = config.find(field);
  if (value == nullptr || value->is_null()) return fallback;
  const auto side = [](const Json& json) {
    return json.is_integer() && json.as_integer() >= 1 && json.as_integer() <= kSideMax;
  };
  if (side(*value)) return Size2{value->as_integer(), value->as_integer()};
  if (value->is_array() && value->as_array().size() == 2 && side(value->as_array()[0]) &&
      side(value->as_array()[1])) {
    return Size2{value->as_array()[0].as_integer(), value->as_array()[1].as_integer()};
  }
  return bad_field(field, fmt::format("1 to {} pixels, or [height, width]", kSideMax), *value);
}

/// Fields that have one value in all that this engine runs.
Result<void> check_fixed_fields(const Json& config) {
  if (const Json* type = config.find("model_type");
      type == nullptr || !type->is_string() || type->as_string() != "ijepa") {
    return fail(ErrorCode::kBadData,
                {.what = "config.json: \"model_type\"",
                 .expected = "\"ijepa\"",
                 .got = type == nullptr     ? "none"
                        : type->is_string() ? quote(type->as_string())
                                            : std::string(type->kind_name()),
                 .advice = "this version runs I-JEPA checkpoints in Hugging Face's layout"});
  }
  if (const Json* act = config.find("hidden_act");
      act != nullptr && !(act->is_string() && act->as_string() == "gelu")) {
    return bad_field("hidden_act", "\"gelu\" (the exact erf form)", *act);
  }
  if (const Json* range = config.find("is_decoder");
      range != nullptr && range->is_bool() && range->as_bool()) {
    return bad_field("is_decoder", "false", *range);
  }
  return {};
}

Result<std::vector<std::string>> label_field(const Json& config) {
  const Json* map = config.find("id2label");
  std::vector<std::string> labels;
  if (map == nullptr || map->is_null()) return labels;
  if (!map->is_object()) return bad_field("id2label", "an object of ids to names", *map);
  labels.resize(map->as_object().size());
  std::vector<bool> seen(labels.size(), false);
  for (const auto& [id, label] : map->as_object()) {
    std::size_t index = 0;
    const auto [end, problem] = std::from_chars(id.data(), id.data() + id.size(), index);
    if (problem != std::errc() || end != id.data() + id.size() || index >= labels.size() ||
        seen[index] || !label.is_string()) {
      return fail(ErrorCode::kBadData,
                  {.what = "config.json: \"id2label\"",
                   .expected = fmt::format("names under the ids 0 to {}", labels.size() - 1),
                   .got = fmt::format("id {}", quote(id)),
                   .advice = {}});
    }
    seen[index] = true;
    labels[index] = label.as_string();
  }
  return labels;
}

/// Says so where config.json and the tensors disagree about a size.
void compare_size(TensorReader& reader, const Json& config, std::string_view field,
                  std::int64_t found, std::string_view tensor) {
  const Json* value = config.find(field);
  if (value == nullptr || value->is_null()) return;
  if (value->is_integer() && value->as_integer() == found) return;
  reader.note(fmt::format(
      "config.json: \"{}\" and the tensors disagree (expected {} as {} says, "
      "got {})",
      field, found, tensor,
      value->is_integer() ? std::to_string(value->as_integer()) : std::string(value->kind_name())));
}

/// What a layer's modules are called.
struct LayerNames {
  std::string_view layers;  ///< before the layer's index
  std::string_view query;
  std::string_view key;
  std::string_view value;
  std::string_view projection;
  std::string_view mlp_in;
  std::string_view mlp_out;
};
constexpr LayerNames kSavedNames = {"encoder.layer.",
                                    "attention.attention.query",
                                    "attention.attention.key",
                                    "attention.attention.value",
                                    "attention.output.dense",
                                    "intermediate.dense",
                                    "output.dense"};
/// The modules' own names since transformers 5, written by save_original_format=False.
constexpr LayerNames kModuleNames = {"layers.",          "attention.q_proj", "attention.k_proj",
                                     "attention.v_proj", "attention.o_proj", "mlp.fc1",
                                     "mlp.fc2"};

NormWeights take_norm(TensorReader& reader, const std::string& name, std::int64_t width) {
  return {reader.take_f32(name + ".weight", {width}), reader.take_f32(name + ".bias", {width})};
}

std::unique_ptr<ops::Linear> take_linear(TensorReader& reader, const ops::Backend& backend,
                                         std::initializer_list<std::string> names, std::int64_t out,
                                         std::int64_t in, bool with_bias) {
  std::vector<TensorView> weights;
  std::vector<TensorView> biases;
  for (const std::string& name : names) {
    weights.push_back(reader.take(name + ".weight", {out, in}));
    biases.push_back(with_bias ? reader.take(name + ".bias", {out}) : TensorView());
  }
  // After a problem the model will be refused: packing would be wasted or impossible.
  return reader.ok() ? backend.pack_linear(weights, biases) : nullptr;
}

VitLayer take_layer(TensorReader& reader, const ops::Backend& backend, const LayerNames& names,
                    const std::string& layer_name, const VitGeometry& geometry, bool qkv_bias) {
  const std::int64_t d = geometry.width;
  const auto at = [&](std::string_view module) { return fmt::format("{}.{}", layer_name, module); };
  VitLayer layer;
  layer.norm_before = take_norm(reader, at("layernorm_before"), d);
  layer.qkv = take_linear(reader, backend, {at(names.query), at(names.key), at(names.value)}, d, d,
                          qkv_bias);
  layer.projection = take_linear(reader, backend, {at(names.projection)}, d, d, true);
  layer.norm_after = take_norm(reader, at("layernorm_after"), d);
  layer.mlp_in = take_linear(reader, backend, {at(names.mlp_in)}, geometry.mlp_width, d, true);
  layer.mlp_out = take_linear(reader, backend, {at(names.mlp_out)}, d, geometry.mlp_width, true);
  return layer;
}

/// One more than the highest index of the tensors "PREFIX{i}.": the number of layers.
std::int64_t count_layers(const Checkpoint& checkpoint, std::string_view prefix) {
  std::int64_t count = 0;
  for (const std::string& name : checkpoint.names()) {
    if (!name.starts_with(prefix)) continue;
    std::int64_t index = -1;
    const char* begin = name.data() + prefix.size();
    const auto [end, problem] = std::from_chars(begin, name.data() + name.size(), index);
    if (problem == std::errc() && *end == '.' && index >= 0 && index < kDepthMax) {
      count = std::max(count, index + 1);
    }
  }
  return count;
}

/// The names that this checkpoint has: published files and save_pretrained have the first.
const LayerNames& names_in(const Checkpoint& checkpoint, const std::string& prefix) {
  const bool modules = count_layers(checkpoint, prefix + std::string(kModuleNames.layers)) > 0;
  return modules ? kModuleNames : kSavedNames;
}

/// Sizes from the shapes of the first tensors.
Result<VitGeometry> read_geometry(const Checkpoint& checkpoint, TensorReader& reader,
                                  const IjepaConfig& config, const Json& json,
                                  const std::string& prefix, TensorView& projection) {
  constexpr std::int64_t kAny = TensorReader::kAny;
  VitGeometry geometry;
  geometry.heads = config.heads;
  geometry.layer_norm_eps = config.layer_norm_eps;
  geometry.image = config.image;
  projection = reader.take(prefix + "embeddings.patch_embeddings.projection.weight",
                           {kAny, kAny, kAny, kAny});
  if (projection.is_null()) return geometry;
  geometry.width = projection.extent(0);
  geometry.channels = projection.extent(1);
  geometry.patch = {projection.extent(2), projection.extent(3)};
  const LayerNames& names = names_in(checkpoint, prefix);
  const std::string layers = prefix + std::string(names.layers);
  geometry.depth = count_layers(checkpoint, layers);
  if (geometry.depth == 0) {
    reader.note(fmt::format("there is no tensor under {}", quote(layers)));
    return geometry;
  }
  const std::string mlp_name = fmt::format("{}0.{}.weight", layers, names.mlp_in);
  const auto mlp = checkpoint.find(mlp_name);
  if (!mlp || mlp->rank() != 2 || mlp->extent(0) < 1) {
    // Every layer would be held against a width of nothing.
    reader.note(fmt::format("tensor {} (expected shape [any, {}], got {})", quote(mlp_name),
                            geometry.width, mlp ? to_string(mlp->shape()) : "none"));
    return geometry;
  }
  geometry.mlp_width = mlp->extent(0);

  compare_size(reader, json, "hidden_size", geometry.width, "the patch projection");
  compare_size(reader, json, "num_channels", geometry.channels, "the patch projection");
  compare_size(reader, json, "num_hidden_layers", geometry.depth, "the highest layer");
  compare_size(reader, json, "intermediate_size", geometry.mlp_width, "layer 0");
  VIVACE_TRY(const Size2 patch, size_field(json, "patch_size", geometry.patch));
  if (patch != geometry.patch) {
    reader.note(
        fmt::format("config.json: \"patch_size\" and the tensors disagree (expected {}x{}, "
                    "got {}x{})",
                    geometry.patch.height, geometry.patch.width, patch.height, patch.width));
  }
  if (geometry.channels != 3) {
    reader.note(
        fmt::format("the patch projection (expected 3 channels, got {})", geometry.channels));
  }
  if (geometry.width % geometry.heads != 0) {
    reader.note(
        fmt::format("config.json: \"num_attention_heads\" (expected a divisor of the width "
                    "{}, got {})",
                    geometry.width, geometry.heads));
  }
  if (geometry.image.height % geometry.patch.height != 0 ||
      geometry.image.width % geometry.patch.width != 0) {
    reader.note(fmt::format(
        "config.json: \"image_size\" (expected multiples of the patch {}x{}, "
        "got {}x{})",
        geometry.patch.height, geometry.patch.width, geometry.image.height, geometry.image.width));
  }
  return geometry;
}

/// The projection as a matrix: a convolution whose stride is its kernel is a product.
std::unique_ptr<ops::Linear> pack_projection(TensorReader& reader, const ops::Backend& backend,
                                             const VitGeometry& geometry,
                                             const TensorView& projection,
                                             const std::string& name) {
  const TensorView bias = reader.take(name + ".bias", {geometry.width});
  if (!reader.ok()) return nullptr;
  const TensorView matrix(
      projection.data(), projection.type(),
      {geometry.width, geometry.channels * geometry.patch.height * geometry.patch.width});
  return backend.pack_linear(std::span(&matrix, 1), std::span(&bias, 1));
}

/// The table [N, D]; N follows from "image_size", which may be what is wrong.
std::vector<float> take_positions(const Checkpoint& checkpoint, TensorReader& reader,
                                  const std::string& prefix, const VitGeometry& geometry) {
  const std::string name = prefix + "embeddings.position_embeddings";
  const std::int64_t tokens = geometry.tokens(geometry.image);
  const auto found = checkpoint.find(name);
  if (found && found->rank() == 3 && found->extent(1) != tokens) {
    reader.note(
        fmt::format("config.json: \"image_size\" {}x{} in patches of {}x{} makes {} tokens "
                    "and the position table has {}",
                    geometry.image.height, geometry.image.width, geometry.patch.height,
                    geometry.patch.width, tokens, found->extent(1)));
  }
  return reader.take_f32(name, {1, tokens, geometry.width});
}

void take_classifier(const Checkpoint& checkpoint, TensorReader& reader,
                     const ops::Backend& backend, const IjepaConfig& config, Ijepa& model) {
  const auto weight = checkpoint.find("classifier.weight");
  if (!weight) return;
  const std::int64_t classes = weight->rank() == 2 ? weight->extent(0) : TensorReader::kAny;
  model.classifier =
      take_linear(reader, backend, {"classifier"}, classes, model.geometry.width, true);
  model.labels = config.labels;
  if (!model.labels.empty() && static_cast<std::int64_t>(model.labels.size()) != classes) {
    reader.note(
        fmt::format("config.json: \"id2label\" (expected {} names as the classifier has "
                    "rows, got {})",
                    classes, model.labels.size()));
  }
}

}  // namespace

Result<IjepaConfig> parse_ijepa_config(const Json& config) {
  VIVACE_CHECK_OK(check_fixed_fields(config));
  IjepaConfig result;
  VIVACE_TRY(result.heads, integer_field(config, "num_attention_heads", 12, 4096));
  VIVACE_TRY(result.image, size_field(config, "image_size", Size2{224, 224}));
  VIVACE_TRY(result.labels, label_field(config));
  if (const Json* eps = config.find("layer_norm_eps"); eps != nullptr) {
    if (!eps->is_number() || !(eps->as_number() > 0) || !(eps->as_number() < 1)) {
      return bad_field("layer_norm_eps", "a number between 0 and 1", *eps);
    }
    result.layer_norm_eps = static_cast<float>(eps->as_number());
  }
  if (const Json* bias = config.find("qkv_bias"); bias != nullptr) {
    if (!bias->is_bool()) return bad_field("qkv_bias", "true or false", *bias);
    result.qkv_bias = bias->as_bool();
  }
  return result;
}

Result<Ijepa> load_ijepa(const Checkpoint& checkpoint, const Json& json,
                         const ops::Backend& backend) {
  auto config = parse_ijepa_config(json);
  if (!config) {
    return tl::unexpected(with_context(std::move(config).error(), checkpoint.folder().string()));
  }
  // IJepaForImageClassification keeps its encoder under a prefix.
  const std::string prefix =
      checkpoint.find("ijepa.embeddings.patch_embeddings.projection.weight") ? "ijepa." : "";
  TensorReader reader(checkpoint);
  for (const char* unused : {"embeddings.mask_token", "pooler.dense.weight", "pooler.dense.bias"}) {
    reader.ignore(prefix + unused);
  }
  Ijepa model;
  TensorView projection;
  VIVACE_TRY(model.geometry, read_geometry(checkpoint, reader, *config, json, prefix, projection));
  // Without sizes every further complaint would be noise.
  VIVACE_CHECK_OK(reader.problems());
  const VitGeometry& geometry = model.geometry;
  const std::string patch = prefix + "embeddings.patch_embeddings.projection";
  model.weights.patch = pack_projection(reader, backend, geometry, projection, patch);
  model.weights.position = take_positions(checkpoint, reader, prefix, geometry);
  const LayerNames& names = names_in(checkpoint, prefix);
  for (std::int64_t i = 0; i < geometry.depth; ++i) {
    const std::string name = fmt::format("{}{}{}", prefix, names.layers, i);
    model.weights.layers.push_back(
        take_layer(reader, backend, names, name, geometry, config->qkv_bias));
  }
  model.weights.norm = take_norm(reader, prefix + "layernorm", geometry.width);
  take_classifier(checkpoint, reader, backend, *config, model);
  VIVACE_CHECK_OK(reader.finish());
  model.parameters = reader.parameters();
  return model;
}

}  // namespace vivace::model
