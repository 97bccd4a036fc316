// Inputs: which tensors can be a request, and what is said of the others.
#include "pipeline/input.h"

#include <gmock/gmock.h>

#include "model/safetensors.h"
#include "pipeline/pipeline_fixture.h"

namespace vivace::pipeline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class InputTest : public test::PipelineTest {
 protected:
  std::string error(const media::Source& source, ErrorCode code = ErrorCode::kBadData) const {
    const auto made = make_inputs(std::vector{source});
    if (made) return "accepted";
    EXPECT_EQ(made.error().code, code);
    return made.error().message;
  }
  std::string shape_error(DType type, const Shape& shape) const {
    const std::vector<std::byte> data(static_cast<std::size_t>(element_count(shape)) *
                                      size_of(type));
    return error(npy("x.npy", type, shape, data));
  }
};

TEST_F(InputTest, ATensorIsAsManyInputsAsItsFirstExtent) {
  const auto made = inputs({pixels("p.npy", 3), synthetic(10, 20)});
  ASSERT_EQ(made.size(), 4U);
  EXPECT_EQ(made[1].source.name, path("p.npy").string() + "[1]");
  EXPECT_EQ(to_string(made[2].item.shape()), "[3, 32, 32]");
  EXPECT_EQ(made[2].item.f32()[5], values(3)[2 * 3 * 32 * 32 + 5]);
  EXPECT_EQ(made[0].file, made[2].file) << "one mapping";
  EXPECT_EQ(inputs({pixels("one.npy", 1)})[0].source.name, path("one.npy").string());
  EXPECT_EQ(describe_kinds(made), "3 ready tensors, 1 synthetic picture");
}

TEST_F(InputTest, ATensorOutlivesItsSource) {
  std::vector<Input> kept;
  {
    const auto made = inputs({pixels("p.npy", 2)});
    kept.push_back(made[1]);
  }
  std::filesystem::remove(path("p.npy"));
  EXPECT_EQ(kept[0].item.f32()[0], values(2)[3 * 32 * 32]);
}

TEST_F(InputTest, TypesAndShapesThatAreNoPicturesAreNamed) {
  const char* expected = "float32 [B, 3, H, W] (preprocessed) or uint8 [B, H, W, 3] (decoded)";
  EXPECT_THAT(shape_error(DType::kF64, {1, 3, 8, 8}), AllOf(HasSubstr(expected), HasSubstr("F64")));
  EXPECT_THAT(shape_error(DType::kF16, {1, 3, 8, 8}), HasSubstr("got F16 [1, 3, 8, 8]"));
  EXPECT_THAT(shape_error(DType::kF32, {3, 8, 8}), HasSubstr("got F32 [3, 8, 8]"));
  EXPECT_THAT(shape_error(DType::kF32, {1, 4, 8, 8}), HasSubstr("got F32 [1, 4, 8, 8]"));
  EXPECT_THAT(shape_error(DType::kF32, {1, 8, 8, 3}), HasSubstr("got F32 [1, 8, 8, 3]"));
  EXPECT_THAT(shape_error(DType::kU8, {1, 3, 8, 8}), HasSubstr("got U8 [1, 3, 8, 8]"));
  EXPECT_THAT(shape_error(DType::kU8, {8, 8, 3}), HasSubstr("got U8 [8, 8, 3]"));
  EXPECT_THAT(shape_error(DType::kF32, {0, 3, 8, 8}), HasSubstr("got F32 [0, 3, 8, 8]"));
  EXPECT_THAT(shape_error(DType::kF32, {1, 3, 0, 8}), HasSubstr("got F32 [1, 3, 0, 8]"));
  EXPECT_THAT(shape_error(DType::kF32, {}), HasSubstr("got F32 []"));
  EXPECT_THAT(shape_error(DType::kF32, {1, 2, 3, 8, 8}), HasSubstr("video model"));
}

TEST_F(InputTest, ATensorOfASafetensorsFileIsFoundByName) {
  const std::vector<model::TensorDeclaration> tensors = {
      {"pixel_values", DType::kF32, {1, 3, 4, 4}}, {"mask", DType::kU8, {4}}};
  auto writer = model::SafetensorsWriter::create(path("t.safetensors"), tensors).value();
  ASSERT_TRUE(writer.append(std::vector<std::byte>(3 * 4 * 4 * 4 + 4)));
  ASSERT_TRUE(writer.commit());
  media::Source source;
  source.kind = media::Source::Kind::kTensor;
  source.path = path("t.safetensors").string();
  source.tensor_name = "pixel_values";
  source.name = source.path + ":pixel_values";
  EXPECT_EQ(inputs({source}).size(), 1U);

  source.tensor_name = "pixel_value";
  EXPECT_THAT(error(source, ErrorCode::kMissingInput),
              AllOf(HasSubstr("did you mean pixel_values?"), HasSubstr("pixel_values, mask")));
  source.tensor_name = "zzzzzzzz";
  EXPECT_THAT(error(source, ErrorCode::kMissingInput), testing::Not(HasSubstr("did you mean")));
  source.tensor_name = "mask";
  EXPECT_THAT(error(source), HasSubstr("got U8 [4]"));
  source.tensor_name = "";
  EXPECT_THAT(error(source, ErrorCode::kMissingInput),
              AllOf(HasSubstr("which tensor"), HasSubstr("pixel_values, mask"),
                    HasSubstr("FILE.safetensors:NAME")));
}

TEST_F(InputTest, FilesThatAreBrokenOrAbsentAreNamed) {
  media::Source absent;
  absent.kind = media::Source::Kind::kTensor;
  absent.path = absent.name = path("absent.npy").string();
  EXPECT_THAT(error(absent, ErrorCode::kMissingInput), HasSubstr("absent.npy"));
  media::Source broken = file("broken.npy", {1, 2, 3});
  broken.kind = media::Source::Kind::kTensor;
  EXPECT_THAT(error(broken), AllOf(HasSubstr("broken.npy"), HasSubstr("not an .npy file")));
  media::Source header = file("broken.safetensors", {1, 2, 3});
  header.kind = media::Source::Kind::kTensor;
  header.tensor_name = "x";
  EXPECT_THAT(error(header), AllOf(HasSubstr("broken.safetensors"), HasSubstr("at least 8")));
}

}  // namespace
}  // namespace vivace::pipeline
