// I-JEPA against the reference implementation's own outputs: every tensor of every case, through
// the public library.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "core/json.h"
#include "model/safetensors.h"
#include "platform/file.h"
#include "support/cases.h"
#include "vivace/vivace.h"

namespace vivace {
namespace {

namespace fs = std::filesystem;

Json read_case(const fs::path& folder) {
  const auto text = platform::read_text(folder / "case.json");
  return parse_json(text.value()).value();
}

/// Names of the cases "ijepa-*" of kind model.
std::vector<std::string> case_names() {
  std::vector<std::string> names;
  const auto cases = test::cases_folder();
  if (!cases) return {"absent"};
  for (const auto& entry : fs::directory_iterator(*cases)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("ijepa-") || !fs::exists(entry.path() / "case.json")) continue;
    if (read_case(entry.path()).find("kind")->as_string() == "model" &&
        fs::exists(entry.path() / "config.json")) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Parity : public testing::TestWithParam<std::string> {};

/// The session's tensor that a case calls by this name; empty for one it does not have.
std::span<const float> tensor_named(const std::string& name, const Embedding& embedding) {
  if (name == "last_hidden_state") return embedding.tokens;
  if (name == "logits") return embedding.logits;
  if (name.starts_with("hidden_")) {
    const auto index = static_cast<std::size_t>(std::stoi(name.substr(7)));
    return embedding.layers.subspan(index * embedding.tokens.size(), embedding.tokens.size());
  }
  return {};
}

TEST_P(Parity, EveryTensorIsWithinItsTolerance) {
  VIVACE_REQUIRE_CASES(cases);
  const fs::path folder = cases / GetParam();
  const Json facts = read_case(folder);
  const auto inputs = model::SafetensorsFile::open(folder / "inputs.safetensors").value();
  const auto expected = model::SafetensorsFile::open(folder / "expected.safetensors").value();
  const TensorView pixels = inputs.find("pixel_values").value();

  ModelOptions options;
  if (facts.find("call")->find("interpolate_pos_encoding") != nullptr) {
    options.resolution = Resolution{pixels.extent(2), pixels.extent(3)};
  }
  const auto model = Model::load(folder, options);
  ASSERT_TRUE(model) << model.error().message;
  std::vector<float> values(static_cast<std::size_t>(pixels.size()));
  convert_to_f32(pixels, values);

  for (const int threads : {1, 2}) {
    Session session(*model, {.threads = threads, .layers = true});
    const auto embedding = session.embed_pixels(values);
    ASSERT_TRUE(embedding) << embedding.error().message;
    int compared = 0;
    for (const auto& [name, about] : facts.find("expected")->as_object()) {
      const std::span<const float> got = tensor_named(name, *embedding);
      if (name == "pooler_output") continue;  // optional: a pooler that the encoder does not use
      const TensorView want = expected.find(name).value();
      ASSERT_EQ(got.size(), static_cast<std::size_t>(want.size())) << name;
      std::vector<float> reference(got.size());
      convert_to_f32(want, reference);
      const double tolerance = about.find("max_abs_tolerance")->as_number();
      double worst = 0;
      for (std::size_t i = 0; i < got.size(); ++i) {
        worst = std::max(worst, std::abs(static_cast<double>(got[i]) - reference[i]));
      }
      EXPECT_LE(worst, tolerance) << name << " with " << threads << " threads";
      ++compared;
    }
    EXPECT_GE(compared, 3);
  }
}

TEST(ParityOfPictures, EachBecomesTheReferencesPixels) {
  VIVACE_REQUIRE_CASES(cases);
  int pictures = 0;
  for (const std::string& name : case_names()) {
    const fs::path folder = cases / name;
    const Json facts = read_case(folder);
    const Json* image = facts.find("image");
    if (image == nullptr) continue;
    const auto inputs = model::SafetensorsFile::open(folder / "inputs.safetensors").value();
    const TensorView pixels = inputs.find("pixel_values").value();
    std::vector<float> values(static_cast<std::size_t>(pixels.size()));
    convert_to_f32(pixels, values);

    const auto model = Model::load(folder);
    ASSERT_TRUE(model) << model.error().message;
    Session session(*model, {.threads = 1, .layers = false});
    const auto embedding = session.embed_file(folder / image->find("file")->as_string());
    ASSERT_TRUE(embedding) << embedding.error().message;
    const std::size_t item = embedding->pixels.size();
    const auto index = static_cast<std::size_t>(image->find("item")->as_integer());
    ASSERT_LE((index + 1) * item, values.size());
    for (std::size_t i = 0; i < item; ++i) {
      ASSERT_NEAR(embedding->pixels[i], values[index * item + i],
                  image->find("max_abs_tolerance")->as_number())
          << name;
    }
    ++pictures;
  }
  EXPECT_GE(pictures, 3);
}

INSTANTIATE_TEST_SUITE_P(Cases, Parity, testing::ValuesIn(case_names()), [](const auto& chosen) {
  std::string name = chosen.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace vivace
