// `vivace embed` against the reference implementation's outputs: every tensor of every I-JEPA case,
// and the pixels that the reference's processor makes of the cases' pictures.
#include <algorithm>
#include <cmath>
#include <string>

#include "cli/vivace_program.h"
#include "support/cases.h"

namespace vivace::test {
namespace {

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  const auto cases = cases_folder();
  if (!cases) return {"absent"};
  for (const std::string& name : names_in(*cases)) {
    const fs::path folder = *cases / name;
    if (!name.starts_with("ijepa-") || !fs::exists(folder / "config.json")) continue;
    if (read_json(folder / "case.json").find("kind")->as_string() == "model") names.push_back(name);
  }
  return names;
}

double worst_difference(const std::vector<float>& got, const std::vector<float>& want,
                        std::size_t want_begin = 0) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double gap = std::abs(static_cast<double>(got[i]) - want[want_begin + i]);
    worst = gap <= worst ? worst : gap;  // a NaN wins
  }
  return worst;
}

/// "hidden_03" of a case is "layers.03" of ours.
std::string our_name(const std::string& name) {
  if (name == "last_hidden_state") return "tokens";
  return name.starts_with("hidden_") ? "layers." + name.substr(7) : name;
}

class EmbedParity : public testing::TestWithParam<std::string> {};

TEST_P(EmbedParity, EveryTensorIsWithinItsTolerance) {
  VIVACE_REQUIRE_CASES(cases);
  const fs::path folder = cases / GetParam();
  const Json facts = read_json(folder / "case.json");
  const SafetensorsLite inputs(folder / "inputs.safetensors");
  const SafetensorsLite expected(folder / "expected.safetensors");
  const std::vector<std::int64_t> shape = inputs.shape("pixel_values");
  const bool classifier = facts.find("expected")->find("logits") != nullptr;
  const TemporaryFolder out;
  const std::string file = (out.path() / "out.safetensors").string();
  Words words = {"embed",
                 "--model",
                 folder.string(),
                 "--input",
                 (folder / "inputs.safetensors").string() + ":pixel_values",
                 "--emit",
                 classifier ? "tokens,layers,logits" : "tokens,layers",
                 "--batch",
                 "3",
                 "-j2",
                 "-o",
                 file};
  if (facts.find("call")->find("interpolate_pos_encoding") != nullptr) {
    words.push_back("--resolution=" + std::to_string(shape[2]) + "x" + std::to_string(shape[3]));
  }
  const ProgramResult result = vivace(words);
  ASSERT_EQ(result.status, 0) << result.err;
  const SafetensorsLite got(file);
  int compared = 0;
  for (const auto& [name, about] : facts.find("expected")->as_object()) {
    if (name == "pooler_output") continue;  // of a pooler that the encoder does not use
    ASSERT_EQ(about.find("dtype")->as_string(), "float32");
    ASSERT_EQ(got.shape(our_name(name)), expected.shape(name)) << name;
    EXPECT_LE(worst_difference(got.values<float>(our_name(name)), expected.values<float>(name)),
              about.find("max_abs_tolerance")->as_number())
        << name;
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

TEST(EmbedPixels, OfEveryPictureAreTheReferences) {
  VIVACE_REQUIRE_CASES(cases);
  const TemporaryFolder out;
  const std::string file = (out.path() / "pixels.safetensors").string();
  int pictures = 0;
  for (const std::string& name : case_names()) {
    const fs::path folder = cases / name;
    const Json facts = read_json(folder / "case.json");
    const Json* image = facts.find("image");
    if (image == nullptr) continue;
    const ProgramResult result = vivace({"embed", "--model", folder.string(),
                                         (folder / image->find("file")->as_string()).string(),
                                         "--emit", "pixels", "-o", file});
    ASSERT_EQ(result.status, 0) << result.err;
    const std::vector<float> got = SafetensorsLite(file).values<float>("pixels");
    const std::vector<float> want =
        SafetensorsLite(folder / "inputs.safetensors").values<float>("pixel_values");
    const auto item = static_cast<std::size_t>(image->find("item")->as_integer());
    ASSERT_LE((item + 1) * got.size(), want.size());
    EXPECT_LE(worst_difference(got, want, item * got.size()), 1e-6) << name;
    ++pictures;
  }
  EXPECT_GE(pictures, 3);
}

INSTANTIATE_TEST_SUITE_P(Cases, EmbedParity, testing::ValuesIn(case_names()),
                         [](const auto& chosen) {
                           std::string name = chosen.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace vivace::test
