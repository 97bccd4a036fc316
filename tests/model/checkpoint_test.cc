// Checkpoint folders: which files hold the tensors, and what a broken index or configuration says.
#include "model/checkpoint.h"

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/model.h"
#include "support/tiny_checkpoint.h"

namespace vivace::model {
namespace {

namespace fs = std::filesystem;
using test::TinyCheckpoint;
using testing::AllOf;
using testing::HasSubstr;

/// Two shards and their index, with everything to be broken.
class Sharded : public testing::Test {
 protected:
  static constexpr const char* kA = "model-00001-of-00002.safetensors";
  static constexpr const char* kB = "model-00002-of-00002.safetensors";

  void SetUp() override {
    write_shard(kA, {"a", "b"});
    write_shard(kB, {"c"});
    map_ = JsonObject{{"a", kA}, {"b", kA}, {"c", kB}};
  }
  void write_shard(const char* name, const std::vector<std::string>& tensors) {
    std::vector<TensorDeclaration> declarations;
    for (const std::string& tensor : tensors) declarations.push_back({tensor, DType::kF32, {1}});
    auto writer = SafetensorsWriter::create(folder_.path() / name, declarations).value();
    for (const std::string& tensor : tensors) {
      ASSERT_TRUE(writer.append(std::vector<float>{static_cast<float>(tensor[0])}));
    }
    ASSERT_TRUE(writer.commit());
  }
  void write_index(const Json& index) {
    std::ofstream(folder_.path() / "model.safetensors.index.json") << write_json(index);
  }
  Result<Checkpoint> open() {
    Json index{JsonObject{}};
    index.set("metadata", JsonObject{{"total_size", 12}});
    index.set("weight_map", map_);
    write_index(index);
    return Checkpoint::open(folder_.path());
  }
  std::string error(ErrorCode code = ErrorCode::kBadData) {
    const auto checkpoint = open();
    if (checkpoint) return "accepted";
    EXPECT_EQ(checkpoint.error().code, code);
    return checkpoint.error().message;
  }

  test::TemporaryFolder folder_;
  JsonObject map_;
};

TEST_F(Sharded, AllShardsAreOneCheckpoint) {
  const auto checkpoint = open();
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_THAT(checkpoint->names(), testing::ElementsAre("a", "b", "c"));
  EXPECT_EQ(checkpoint->weights_bytes(), 12U);
  EXPECT_EQ(checkpoint->find("c")->f32()[0], 'c');
  EXPECT_FALSE(checkpoint->find("d"));
  ASSERT_EQ(checkpoint->files().size(), 2U);
  EXPECT_EQ(checkpoint->files()[0].filename(), kA);
}

TEST_F(Sharded, AMissingShardIsNamed) {
  fs::remove(folder_.path() / kB);
  EXPECT_THAT(error(ErrorCode::kMissingInput), AllOf(HasSubstr(kB), HasSubstr("absent")));
}

TEST_F(Sharded, NoFileOutsideOfTheFolderIsOpened) {
  for (const char* name : {"../x.safetensors", "/etc/passwd", "sub/x.safetensors", "..", ".", "",
                           "./model-00002-of-00002.safetensors", "a/", "/"}) {
    map_[2].second = name;
    EXPECT_THAT(error(), HasSubstr("a file in the same folder")) << name;
  }
  map_[2].second = 7;
  EXPECT_THAT(error(), HasSubstr("got a whole number"));
}

TEST_F(Sharded, ATensorInAnotherShardIsNamed) {
  map_ = JsonObject{{"a", kA}, {"b", kB}, {"c", kB}};
  EXPECT_THAT(error(), AllOf(HasSubstr("\"b\""), HasSubstr("not in this file")));
  map_ = JsonObject{{"a", kA}, {"b", kA}, {"c", kA}};
  EXPECT_THAT(error(), AllOf(HasSubstr("\"c\""), HasSubstr("not in this file")));
}

TEST_F(Sharded, ATensorThatTheIndexLeavesOutIsNamed) {
  map_ = JsonObject{{"a", kA}, {"c", kB}};
  EXPECT_THAT(error(), AllOf(HasSubstr("\"b\""), HasSubstr("not named by")));
}

TEST_F(Sharded, ATensorInTwoShardsIsNamed) {
  write_shard(kB, {"b", "c"});
  EXPECT_THAT(error(), AllOf(HasSubstr("\"b\""), HasSubstr("also in"), HasSubstr(kA)));
}

TEST_F(Sharded, AnIndexWithoutAMapIsRefused) {
  map_.clear();
  EXPECT_THAT(error(), HasSubstr("weight_map"));
  for (const char* text : {"{}", R"({"weight_map": []})", R"({"weight_map": null})", "[]", "3", "{",
                           "", R"({"weight_map": {"a": "x", "a": "y"}})"}) {
    std::ofstream(folder_.path() / "model.safetensors.index.json") << text;
    const auto checkpoint = Checkpoint::open(folder_.path());
    ASSERT_FALSE(checkpoint) << text;
    EXPECT_EQ(checkpoint.error().code, ErrorCode::kBadData) << text;
    EXPECT_THAT(checkpoint.error().message, HasSubstr("index.json")) << text;
  }
}

TEST_F(Sharded, ABrokenShardIsNamed) {
  std::ofstream(folder_.path() / kB) << "short";
  EXPECT_THAT(error(), HasSubstr(kB));
}

TEST_F(Sharded, OneFileIsPreferred) {
  write_shard("model.safetensors", {"whole"});
  EXPECT_THAT(open().value().names(), testing::ElementsAre("whole"));
}

TEST(Checkpoint, AFolderThatIsNoneSaysSo) {
  const test::TemporaryFolder folder;
  const auto absent = Checkpoint::open(folder.path() / "absent");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kMissingInput);
  EXPECT_THAT(absent.error().message, HasSubstr("vivace init"));
  const auto empty = Checkpoint::open(folder.path());
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("model.safetensors.index.json"));
  std::ofstream(folder.path() / "pytorch_model.bin") << "x";
  EXPECT_THAT(Checkpoint::open(folder.path()).error().message, HasSubstr("safe_serialization"));
  const auto file = Checkpoint::open(folder.path() / "pytorch_model.bin");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("got a file"));
}

TEST(Checkpoint, TooManyExtentsAreRefusedHere) {
  const test::TemporaryFolder folder;
  auto writer = SafetensorsWriter::create(
                    folder.path() / "model.safetensors",
                    std::vector<TensorDeclaration>{{"deep", DType::kF32, {1, 1, 1, 1, 1, 1, 1}}})
                    .value();
  ASSERT_TRUE(writer.append(std::vector<float>{1}));
  ASSERT_TRUE(writer.commit());
  const auto checkpoint = Checkpoint::open(folder.path());
  ASSERT_FALSE(checkpoint);
  EXPECT_THAT(checkpoint.error().message, AllOf(HasSubstr("\"deep\""), HasSubstr("6 extents")));
}

TEST(Checkpoint, AConfigurationIsAnObject) {
  const TinyCheckpoint tiny;
  const auto checkpoint = Checkpoint::open(tiny.folder()).value();
  EXPECT_TRUE(checkpoint.read_config("config.json"));
  for (const char* text : {"[]", "1", "", "{", "{}{}"}) {
    std::ofstream(tiny.folder() / "config.json") << text;
    const auto config = checkpoint.read_config("config.json");
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(config.error().code, ErrorCode::kBadData);
    EXPECT_THAT(config.error().message, HasSubstr("config.json"));
  }
  fs::remove(tiny.folder() / "config.json");
  EXPECT_EQ(checkpoint.read_config("config.json").error().code, ErrorCode::kMissingInput);
  EXPECT_EQ(Model::load(tiny.folder()).error().code, ErrorCode::kMissingInput);
}

}  // namespace
}  // namespace vivace::model
