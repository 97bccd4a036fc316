// Stand-in checkpoints: the same bytes everywhere, the published sizes, and no harm to real
// weights.
#include "model/init.h"

#include <cmath>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/model.h"
#include "platform/file.h"
#include "support/sha256.h"
#include "support/tiny_checkpoint.h"

namespace vivace::model {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr Preset kSmall{"small", 64, 2, 4, 128, 8, 32, ""};

std::string digest(const fs::path& path) {
  const auto file = platform::MappedFile::open(path).value();
  return test::sha256_hex(
      {reinterpret_cast<const std::uint8_t*>(file.bytes().data()), file.bytes().size()});
}

TEST(StandIn, BytesDependOnTheSeedAndNotOnThreads) {
  const test::TemporaryFolder folder;
  const auto write = [&](const char* name, std::uint64_t seed, int threads) {
    const auto done = write_stand_in(kSmall, seed, folder.path() / name, threads);
    EXPECT_TRUE(done) << done.error().message;
    return digest(folder.path() / name / "model.safetensors");
  };
  const std::string one = write("one", 0, 1);
  EXPECT_EQ(write("three", 0, 3), one);
  EXPECT_NE(write("other", 1, 1), one);
  for (const char* file : {"config.json", "preprocessor_config.json"}) {
    EXPECT_EQ(digest(folder.path() / "one" / file), digest(folder.path() / "other" / file));
  }
}

TEST(StandIn, BytesOfAPublishedSizeAreGolden) {
  // A result names the weights by their digest: it must never change for a preset and a seed.
  const test::TemporaryFolder folder;
  ASSERT_TRUE(write_stand_in(find_preset("ijepa-vits16").value(), 0, folder.path(), 2));
  EXPECT_EQ(digest(folder.path() / "model.safetensors"),
            "7289fe9a35ac01ee704f61a6436218fd34547599366365ca25f42675c9460e1b");
  EXPECT_EQ(digest(folder.path() / "config.json"),
            "dd4f21cbccf81fde6336b3dcee0929b50e10d83dade22641a585e256e167b744");
  EXPECT_EQ(digest(folder.path() / "preprocessor_config.json"),
            "f60fa42fc24ec72a7507696c9f2d456a0d3ca9925c80ff0d6f4fee83010c404b");
}

TEST(StandIn, WeightsAreAsTheReferenceInitialisesThem) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(write_stand_in(kSmall, 3, folder.path(), 1));
  const auto file = SafetensorsFile::open(folder.path() / "model.safetensors").value();
  for (const TensorEntry& entry : file.tensors()) {
    if (entry.name == "embeddings.position_embeddings") continue;
    const auto values = file.view(entry).f32();
    if (entry.name.ends_with(".bias")) {
      EXPECT_THAT(values, testing::Each(0.0f)) << entry.name;
    } else if (entry.name.find("layernorm") != std::string::npos) {
      EXPECT_THAT(values, testing::Each(1.0f)) << entry.name;
    } else {
      const auto n = static_cast<double>(values.size());
      double sum = 0;
      double square = 0;
      for (const float value : values) {
        sum += value;
        square += static_cast<double>(value) * value;
      }
      // Five standard errors; the seed is fixed.
      EXPECT_NEAR(sum / n, 0, 5 * 0.02 / std::sqrt(n)) << entry.name;
      EXPECT_NEAR(std::sqrt(square / n), 0.02, 5 * 0.02 / std::sqrt(2 * n)) << entry.name;
    }
  }
}

TEST(StandIn, PositionsAreTheAuthorsSineAndCosine) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(write_stand_in(kSmall, 0, folder.path(), 1));
  const auto file = SafetensorsFile::open(folder.path() / "model.safetensors").value();
  const auto table = file.find("embeddings.position_embeddings")->f32();
  ASSERT_EQ(table.size(), 16U * 64);
  // numpy: omega = 1 / 10000**(arange(D/4) / (D/4)); [sin(w o), cos(w o), sin(h o), cos(h o)].
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      for (std::size_t i = 0; i < 64; ++i) {
        const double omega = 1.0 / std::pow(10000.0, static_cast<double>(i % 16) / 16.0);
        const double angle = static_cast<double>(i < 32 ? column : row) * omega;
        const double want = i / 16 % 2 == 0 ? std::sin(angle) : std::cos(angle);
        ASSERT_NEAR(table[(row * 4 + column) * 64 + i], want, 1e-7)
            << row << ' ' << column << ' ' << i;
      }
    }
  }
}

TEST(StandIn, TheFolderIsACheckpointThatSaysWhatItIs) {
  const test::TemporaryFolder folder;
  const fs::path out = folder.path() / "a" / "b";
  double last = 0;
  ASSERT_TRUE(write_stand_in(kSmall, 0, out, 2, [&](double share) {
    EXPECT_GT(share, last);
    last = share;
  }));
  EXPECT_DOUBLE_EQ(last, 1);
  const auto model = Model::load(out);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_TRUE((*model)->facts().stand_in);
  EXPECT_EQ((*model)->encoder().geometry().heads, 4);
  EXPECT_EQ((*model)->encoder().geometry().layer_norm_eps, 1e-6f);
}

TEST(StandIn, RealWeightsAreNeverReplaced) {
  const test::TinyCheckpoint real;
  const std::string before = digest(real.weights());
  const auto done = write_stand_in(kSmall, 0, real.folder(), 1);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kCannotCreate);
  EXPECT_THAT(done.error().message, HasSubstr("no stand-in"));
  EXPECT_EQ(digest(real.weights()), before);
  // Nor a file that cannot be read as weights, nor a sharded or a pickled checkpoint.
  for (const char* name :
       {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"}) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() / name) << "{}";
    const auto refused = write_stand_in(kSmall, 0, folder.path(), 1);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::kCannotCreate);
    EXPECT_THAT(refused.error().message, HasSubstr("no stand-in"));
    EXPECT_FALSE(fs::exists(folder.path() / "config.json"));
  }
}

TEST(StandIn, AFormerStandInIsReplaced) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(write_stand_in(kSmall, 0, folder.path(), 1));
  const std::string before = digest(folder.path() / "model.safetensors");
  ASSERT_TRUE(write_stand_in(kSmall, 1, folder.path(), 1));
  EXPECT_NE(digest(folder.path() / "model.safetensors"), before);
}

TEST(StandIn, AnInterruptionLeavesNothing) {
  const test::TemporaryFolder folder;
  int asked = 0;
  const auto done =
      write_stand_in(kSmall, 0, folder.path() / "a" / "b", 1, {}, [&] { return ++asked > 5; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kInterrupted);
  EXPECT_TRUE(fs::is_empty(folder.path())) << "neither a file nor the folders made for it";
  // A folder that was there stays, with what is in it.
  ASSERT_TRUE(write_stand_in(kSmall, 0, folder.path(), 1));
  const std::string before = digest(folder.path() / "model.safetensors");
  ASSERT_FALSE(write_stand_in(kSmall, 1, folder.path(), 1, {}, [] { return true; }));
  EXPECT_EQ(digest(folder.path() / "model.safetensors"), before);
  EXPECT_TRUE(Model::load(folder.path()));
}

TEST(StandIn, APlaceThatCannotBeAFolderIsAnError) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  for (const char* name : {"file", "file/inside"}) {
    const auto done = write_stand_in(kSmall, 0, folder.path() / name, 1);
    ASSERT_FALSE(done) << name;
    EXPECT_EQ(done.error().code, ErrorCode::kCannotCreate);
  }
}

TEST(Presets, AreFoundByNameOrSuggested) {
  EXPECT_EQ(presets().size(), 6U);
  for (const Preset& preset : presets()) {
    EXPECT_EQ(find_preset(preset.name)->width, preset.width);
    EXPECT_EQ(preset.width % preset.heads, 0);
    EXPECT_EQ(preset.image % preset.patch, 0);
    EXPECT_EQ(preset.width % 4, 0) << "sine and cosine of two coordinates";
  }
  const auto wrong = find_preset("ijepa-vith-14");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kUsage);
  EXPECT_THAT(wrong.error().message, HasSubstr("did you mean ijepa-vith14?"));
  EXPECT_FALSE(find_preset(""));
}

}  // namespace
}  // namespace vivace::model
