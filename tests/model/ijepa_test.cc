// Loading I-JEPA: what config.json and the tensors must agree on, and what is said when they do
// not.
#include "model/ijepa.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/model.h"
#include "support/tiny_checkpoint.h"

namespace vivace::model {
namespace {

using test::TinyCheckpoint;
using testing::AllOf;
using testing::HasSubstr;

std::string load_error(const TinyCheckpoint& tiny) {
  tiny.write();
  const auto model = Model::load(tiny.folder());
  if (model) return "accepted";
  EXPECT_EQ(model.error().code, ErrorCode::kBadData);
  EXPECT_THAT(model.error().message, HasSubstr(tiny.folder().string()));
  return model.error().message;
}

std::vector<float> encode(const Model& model, Size2 size, std::int64_t batch, int threads) {
  const VitGeometry& geometry = model.encoder().geometry();
  std::vector<float> pixels(static_cast<std::size_t>(batch * 3 * size.height * size.width));
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 25.0f;
  }
  std::vector<float> tokens(
      static_cast<std::size_t>(batch * geometry.tokens(size) * geometry.width));
  Workspace workspace(threads);
  model.encoder().prepare(workspace, size);
  model.encoder().encode(workspace, pixels.data(), batch, size, tokens.data(), nullptr);
  return tokens;
}

double worst_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) || std::isnan(b[i])) return HUGE_VAL;
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return worst;
}

TEST(IjepaConfig, DefaultsAreTheReferences) {
  const auto config = parse_ijepa_config(parse_json(R"({"model_type": "ijepa"})").value());
  ASSERT_TRUE(config);
  EXPECT_EQ(config->heads, 12);
  EXPECT_EQ(config->layer_norm_eps, 1e-12f);
  EXPECT_EQ(config->image, (Size2{224, 224}));
  EXPECT_TRUE(config->qkv_bias);
  EXPECT_TRUE(config->labels.empty());
}

TEST(IjepaConfig, NullMeansTheDefaultAndPairsAreHeightAndWidth) {
  const auto config = parse_ijepa_config(
      parse_json(R"({"model_type": "ijepa", "num_attention_heads": null, "image_size": [32, 48],
                     "id2label": {"1": "b", "0": "a"}, "is_decoder": false})")
          .value());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->heads, 12);
  EXPECT_EQ(config->image, (Size2{32, 48}));
  EXPECT_THAT(config->labels, testing::ElementsAre("a", "b"));
}

TEST(IjepaConfig, EveryFieldOutOfRangeIsNamed) {
  const std::pair<const char*, const char*> fields[] = {
      {"model_type", "null"},
      {"model_type", "3"},
      {"model_type", "\"vit\""},
      {"model_type", "\"vjepa2\""},
      {"hidden_act", "\"gelu_new\""},
      {"hidden_act", "\"relu\""},
      {"hidden_act", "null"},
      {"hidden_act", "1"},
      {"is_decoder", "true"},
      {"num_attention_heads", "0"},
      {"num_attention_heads", "-1"},
      {"num_attention_heads", "2.5"},
      {"num_attention_heads", "\"2\""},
      {"num_attention_heads", "99999999999"},
      {"image_size", "0"},
      {"image_size", "-32"},
      {"image_size", "[32]"},
      {"image_size", "[32, 32, 32]"},
      {"image_size", "[0, 32]"},
      {"image_size", "\"32\""},
      {"image_size", "1e300"},
      {"image_size", "65536"},
      {"image_size", "{}"},
      {"layer_norm_eps", "0"},
      {"layer_norm_eps", "-1e-6"},
      {"layer_norm_eps", "1"},
      {"layer_norm_eps", "\"1e-6\""},
      {"layer_norm_eps", "null"},
      {"qkv_bias", "1"},
      {"qkv_bias", "null"},
      {"qkv_bias", "\"true\""},
      {"id2label", "[]"},
      {"id2label", "\"a\""},
      {"id2label", R"({"a": "x"})"},
      {"id2label", R"({"1": "x"})"},
      {"id2label", R"({"-1": "x"})"},
      {"id2label", R"({"0": 1})"},
      {"id2label", R"({"0": "x", "00": "y"})"},
      {"id2label", R"({"0 ": "x"})"},
      {"id2label", R"({"": "x"})"},
      {"id2label", R"({"99999999999999999999": "x"})"}};
  for (const auto& [field, value] : fields) {
    Json config = parse_json(R"({"model_type": "ijepa"})").value();
    config.set(field, parse_json(value).value());
    const auto parsed = parse_ijepa_config(config);
    ASSERT_FALSE(parsed) << field << " = " << value;
    EXPECT_EQ(parsed.error().code, ErrorCode::kBadData);
    EXPECT_THAT(parsed.error().message,
                AllOf(HasSubstr(field), HasSubstr("expected"), HasSubstr("got")));
  }
  EXPECT_FALSE(parse_ijepa_config(Json(JsonObject{})));
}

TEST(IjepaLoad, TheTinyOneLoads) {
  const TinyCheckpoint tiny;
  const auto model = Model::load(tiny.folder());
  ASSERT_TRUE(model) << model.error().message;
  const VitGeometry& geometry = (*model)->encoder().geometry();
  EXPECT_EQ(geometry.width, 32);
  EXPECT_EQ(geometry.depth, 2);
  EXPECT_EQ(geometry.heads, 2);
  EXPECT_EQ(geometry.mlp_width, 64);
  EXPECT_EQ(geometry.patch, (Size2{8, 8}));
  const ModelFacts& facts = (*model)->facts();
  std::int64_t parameters = 0;
  for (const auto& tensor : const_cast<TinyCheckpoint&>(tiny).tensors()) {
    parameters += element_count(tensor.declaration.shape);
  }
  EXPECT_EQ(facts.parameters, parameters);
  EXPECT_EQ(facts.weights_bytes, static_cast<std::uint64_t>(4 * parameters));
  EXPECT_EQ(facts.weights_type, "F32");
  EXPECT_EQ(facts.family, "ijepa");
  EXPECT_FALSE(facts.stand_in);
  EXPECT_GT((*model)->packed_bytes(), static_cast<std::size_t>(4 * parameters) / 2);
}

TEST(IjepaLoad, SizesThatDisagreeWithTheTensorsAreNamed) {
  const std::pair<const char*, Json> fields[] = {{"hidden_size", 64},
                                                 {"hidden_size", "32"},
                                                 {"num_hidden_layers", 3},
                                                 {"num_hidden_layers", 1},
                                                 {"num_channels", 1},
                                                 {"intermediate_size", 128},
                                                 {"patch_size", 16},
                                                 {"patch_size", Json(JsonArray{8, 16})},
                                                 {"num_attention_heads", 5},
                                                 {"image_size", 36},
                                                 {"image_size", Json(JsonArray{32, 33})}};
  for (const auto& [field, value] : fields) {
    TinyCheckpoint tiny;
    tiny.config().set(field, value);
    EXPECT_THAT(load_error(tiny), AllOf(HasSubstr(field), HasSubstr("expected"), HasSubstr("got")))
        << field << write_json(value);
  }
}

TEST(IjepaLoad, AnImageSizeThatThePositionsDoNotHaveIsNamed) {
  TinyCheckpoint tiny;
  tiny.config().set("image_size", 40);
  EXPECT_THAT(load_error(tiny), AllOf(HasSubstr("position_embeddings"),
                                      HasSubstr("expected [1, 25, 32], got [1, 16, 32]"),
                                      HasSubstr("\"image_size\" 40x40")));
}

TEST(IjepaLoad, AMissingTensorIsNamedWithItsShape) {
  TinyCheckpoint tiny;
  tiny.remove("encoder.layer.1.attention.attention.key.bias");
  EXPECT_THAT(load_error(tiny), AllOf(HasSubstr("\"encoder.layer.1.attention.attention.key.bias\""),
                                      HasSubstr("is missing"), HasSubstr("expected shape [32]")));
}

TEST(IjepaLoad, EveryTensorIsNeeded) {
  const TinyCheckpoint names;
  for (const auto& tensor : const_cast<TinyCheckpoint&>(names).tensors()) {
    const std::string& name = tensor.declaration.name;
    TinyCheckpoint tiny;
    tiny.remove(name);
    const std::string message = load_error(tiny);
    EXPECT_THAT(message, HasSubstr(name));
    EXPECT_THAT(message, testing::Not(HasSubstr("[0"))) << "no shape of nothing is asked for";
  }
}

TEST(IjepaLoad, AWrongShapeIsNamedWithBoth) {
  TinyCheckpoint tiny;
  tiny.remove("encoder.layer.0.output.dense.weight");
  tiny.add("encoder.layer.0.output.dense.weight", {64, 32});
  EXPECT_THAT(load_error(tiny), AllOf(HasSubstr("\"encoder.layer.0.output.dense.weight\""),
                                      HasSubstr("expected [32, 64], got [64, 32]")));
  for (const Shape& shape : {Shape{32}, Shape{32, 3, 64}, Shape{32, 3, 8, 0}, Shape{}}) {
    TinyCheckpoint other;
    other.remove("embeddings.patch_embeddings.projection.weight");
    other.add("embeddings.patch_embeddings.projection.weight", shape);
    EXPECT_THAT(load_error(other), AllOf(HasSubstr("expected [any, any, any, any]"),
                                         HasSubstr("got " + to_string(shape))));
  }
}

TEST(IjepaLoad, AnMlpOfNothingIsNamed) {
  for (const Shape& shape : {Shape{0, 32}, Shape{64}}) {
    TinyCheckpoint tiny;
    tiny.remove("encoder.layer.0.intermediate.dense.weight");
    tiny.add("encoder.layer.0.intermediate.dense.weight", shape);
    EXPECT_THAT(load_error(tiny), AllOf(HasSubstr("encoder.layer.0.intermediate.dense.weight"),
                                        HasSubstr("got " + to_string(shape))));
  }
}

TEST(IjepaLoad, AWrongTypeIsNamed) {
  TinyCheckpoint tiny;
  auto& tensor = tiny.tensor("layernorm.weight");
  tensor.declaration.type = DType::kI32;  // as wide as float
  EXPECT_THAT(load_error(tiny), AllOf(HasSubstr("\"layernorm.weight\""),
                                      HasSubstr("expected F32, F16 or BF16, got I32")));
}

TEST(IjepaLoad, AnUnknownTensorIsNamedWithTheNearest) {
  TinyCheckpoint tiny;
  tiny.add("encoder.layer.1.layernorm_befor.weight", {32});
  EXPECT_THAT(load_error(tiny), AllOf(HasSubstr("\"encoder.layer.1.layernorm_befor.weight\""),
                                      HasSubstr("not part of this model"),
                                      HasSubstr("\"encoder.layer.1.layernorm_before.weight\"")));
}

TEST(IjepaLoad, ManyProblemsAreCounted) {
  TinyCheckpoint tiny;
  for (int i = 0; i < 20; ++i) tiny.add("stray." + std::to_string(i), {1});
  EXPECT_THAT(load_error(tiny), HasSubstr("and 15 more"));
}

TEST(IjepaLoad, KnownTensorsThatAreNotUsedAreIgnored) {
  TinyCheckpoint tiny;
  const auto plain = Model::load(tiny.folder()).value();
  tiny.add("embeddings.mask_token", {1, 1, 32});
  tiny.add("pooler.dense.weight", {32, 32});
  tiny.add("pooler.dense.bias", {32});
  tiny.write();
  const auto model = Model::load(tiny.folder());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->facts().parameters, plain->facts().parameters) << "not counted";
}

TEST(IjepaLoad, AModelWithoutLayersIsRefused) {
  TinyCheckpoint tiny;
  std::erase_if(tiny.tensors(),
                [](const auto& t) { return t.declaration.name.starts_with("encoder."); });
  EXPECT_THAT(load_error(tiny), HasSubstr("encoder.layer."));
}

TEST(IjepaLoad, WithoutBiasesTheyMustBeAbsent) {
  TinyCheckpoint tiny;
  tiny.config().set("qkv_bias", false);
  EXPECT_THAT(load_error(tiny), HasSubstr("query.bias"));
  // A bias of zero and none are the same function.
  TinyCheckpoint zero;
  for (auto& tensor : zero.tensors()) {
    const std::string& name = tensor.declaration.name;
    if (name.find("attention.attention") != std::string::npos && name.ends_with(".bias")) {
      std::fill(tensor.values.begin(), tensor.values.end(), 0.0f);
    }
  }
  zero.write();
  std::erase_if(tiny.tensors(), [](const auto& t) {
    const std::string& name = t.declaration.name;
    return name.find("attention.attention") != std::string::npos && name.ends_with(".bias");
  });
  tiny.write();
  const auto without = Model::load(tiny.folder());
  ASSERT_TRUE(without) << without.error().message;
  const auto with = Model::load(zero.folder()).value();
  EXPECT_LE(worst_difference(encode(**without, {32, 32}, 1, 1), encode(*with, {32, 32}, 1, 1)),
            1e-6);
}

/// The checkpoint as IJepaForImageClassification saves it.
void make_classifier(TinyCheckpoint& tiny, std::int64_t classes) {
  for (auto& tensor : tiny.tensors()) {
    tensor.declaration.name = "ijepa." + tensor.declaration.name;
  }
  tiny.add("classifier.weight", {classes, 32});
  tiny.add("classifier.bias", {classes});
}

TEST(IjepaLoad, AClassifierComesWithAPrefix) {
  TinyCheckpoint tiny;
  const auto plain = Model::load(tiny.folder()).value();
  make_classifier(tiny, 3);
  tiny.config().set("id2label", JsonObject{{"0", "x"}, {"1", "y"}, {"2", "z"}});
  tiny.write();
  const auto model = Model::load(tiny.folder());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->classes(), 3);
  EXPECT_THAT((*model)->facts().labels, testing::ElementsAre("x", "y", "z"));
  EXPECT_FALSE(plain->has_classifier());

  // The classifier is a product with the mean of the tokens.
  const std::vector<float> tokens = encode(**model, {32, 32}, 1, 1);
  EXPECT_EQ(worst_difference(tokens, encode(*plain, {32, 32}, 1, 1)), 0);
  Workspace workspace(1);
  std::vector<float> pooled(32);
  std::vector<float> logits(3);
  (*model)->pool(workspace, tokens.data(), 1, {32, 32}, pooled.data());
  (*model)->classify(workspace, pooled.data(), 1, logits.data());
  const auto& weight = tiny.tensor("classifier.weight").values;
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = tiny.tensor("classifier.bias").values[c];
    for (std::size_t d = 0; d < 32; ++d) {
      double mean = 0;
      for (std::size_t n = 0; n < 16; ++n) mean += tokens[n * 32 + d];
      sum += mean / 16 * weight[c * 32 + d];
    }
    EXPECT_NEAR(logits[c], sum, 1e-5);
  }
}

TEST(IjepaLoad, LabelsMustBeAsManyAsClasses) {
  TinyCheckpoint tiny;
  make_classifier(tiny, 3);
  tiny.config().set("id2label", JsonObject{{"0", "x"}, {"1", "y"}});
  EXPECT_THAT(load_error(tiny),
              AllOf(HasSubstr("id2label"), HasSubstr("expected 3"), HasSubstr("got 2")));
}

TEST(IjepaLoad, AClassifierOfAWrongShapeIsNamed) {
  TinyCheckpoint tiny;
  make_classifier(tiny, 3);
  tiny.remove("classifier.weight");
  tiny.add("classifier.weight", {3, 31});
  EXPECT_THAT(load_error(tiny), AllOf(HasSubstr("classifier.weight"), HasSubstr("[3, 31]")));
  tiny.remove("classifier.weight");
  tiny.add("classifier.weight", {96});
  EXPECT_THAT(load_error(tiny), AllOf(HasSubstr("classifier.weight"), HasSubstr("[96]")));
}

/// Sixteen bits that round a float towards zero: the test needs them to be exact, not nearest.
std::uint16_t to_bf16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return static_cast<std::uint16_t>(bits >> 16);
}
/// Of values whose eleven leading bits are all they have.
std::uint16_t to_f16(float value) {
  if (value == 0) return 0;
  int exponent = 0;
  const float mantissa = std::frexp(std::abs(value), &exponent);  // [0.5, 1)
  const auto fraction = static_cast<int>(std::ldexp(mantissa, 11)) - 1024;
  return static_cast<std::uint16_t>((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 | fraction);
}

TEST(IjepaLoad, TheModulesOwnNamesAreKnownToo) {
  TinyCheckpoint tiny;
  const auto saved = Model::load(tiny.folder()).value();
  const std::pair<std::string, std::string> renamed[] = {
      {"attention.attention.query", "attention.q_proj"},
      {"attention.attention.key", "attention.k_proj"},
      {"attention.attention.value", "attention.v_proj"},
      {"attention.output.dense", "attention.o_proj"},
      {"intermediate.dense", "mlp.fc1"},
      {"output.dense", "mlp.fc2"},
      {"encoder.layer.", "layers."}};
  for (auto& tensor : tiny.tensors()) {
    std::string& name = tensor.declaration.name;
    for (const auto& [from, to] : renamed) {
      if (const auto at = name.find(from); at != std::string::npos) {
        name.replace(at, from.size(), to);
      }
    }
  }
  tiny.write();
  const auto modules = Model::load(tiny.folder());
  ASSERT_TRUE(modules) << modules.error().message;
  EXPECT_EQ(worst_difference(encode(**modules, {32, 32}, 2, 1), encode(*saved, {32, 32}, 2, 1)), 0);
  tiny.remove("layers.1.mlp.fc2.weight");
  EXPECT_THAT(load_error(tiny), HasSubstr("layers.1.mlp.fc2.weight"));
}

TEST(IjepaLoad, HalfPrecisionWeightsLoadExactly) {
  for (const DType type : {DType::kF16, DType::kBF16}) {
    // Weights that both types hold exactly, so that the outputs must be equal to the last bit.
    TinyCheckpoint tiny;
    for (auto& tensor : tiny.tensors()) {
      for (float& value : tensor.values) {
        value = std::round(value * 64) / 64;
        value = std::clamp(value, -1.0f, 1.0f);
      }
    }
    tiny.write();
    const auto full = Model::load(tiny.folder()).value();
    const std::vector<float> want = encode(*full, {32, 32}, 2, 1);

    std::vector<TensorDeclaration> declarations;
    for (const auto& tensor : tiny.tensors()) {
      declarations.push_back(tensor.declaration);
      declarations.back().type = type;
    }
    auto writer = SafetensorsWriter::create(tiny.weights(), declarations).value();
    for (const auto& tensor : tiny.tensors()) {
      std::vector<std::uint16_t> words;
      for (const float value : tensor.values) {
        words.push_back(type == DType::kF16 ? to_f16(value) : to_bf16(value));
        const float back =
            type == DType::kF16 ? float_from_f16(words.back()) : float_from_bf16(words.back());
        ASSERT_EQ(back, value);
      }
      ASSERT_TRUE(writer.append(std::as_bytes(std::span(words))));
    }
    ASSERT_TRUE(writer.commit());
    const auto half = Model::load(tiny.folder());
    ASSERT_TRUE(half) << half.error().message;
    EXPECT_EQ((*half)->facts().weights_type, name_of(type));
    EXPECT_EQ(worst_difference(encode(**half, {32, 32}, 2, 1), want), 0);
  }
}

TEST(IjepaLoad, CostsFollowTheShapes) {
  const TinyCheckpoint tiny;
  const auto model = Model::load(tiny.folder()).value();
  double flops = 0;
  for (const OperatorCost& cost : model->costs(2, {32, 32})) {
    EXPECT_GT(cost.flops, 0) << cost.name;
    EXPECT_GT(cost.bytes, 0) << cost.name;
    if (cost.name == "qkv") {
      EXPECT_EQ(cost.calls, 2);
      EXPECT_EQ(cost.flops, 2.0 * 2 * (2 * 16) * 32 * 96);
    }
    if (cost.name == "attention") {
      EXPECT_EQ(cost.flops, 2.0 * 4 * (2 * 16) * 16 * 32);
    }
    flops += cost.flops;
  }
  // Twice the items, twice the work, attention included.
  double one = 0;
  for (const OperatorCost& cost : model->costs(1, {32, 32})) one += cost.flops;
  EXPECT_DOUBLE_EQ(flops, 2 * one);
}

}  // namespace
}  // namespace vivace::model
