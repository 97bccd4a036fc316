// Inputs as the command line has them.
#include "media/source.h"

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/sha256.h"

namespace vivace::media {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Sources : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("vivace_sources_" + std::to_string(::getpid()) + "_" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text = "x") const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return path(name);
  }

  static Result<std::vector<Source>> expand(std::vector<std::string> inputs) {
    return expand_inputs(inputs);
  }
  // The names, or the message.
  static std::vector<std::string> names(std::vector<std::string> inputs) {
    const auto sources = expand_inputs(inputs);
    if (!sources) return {sources.error().message};
    std::vector<std::string> out;
    for (const Source& source : *sources) out.push_back(source.name);
    return out;
  }
  static void expect_error(const std::string& input, ErrorCode code, const std::string& says) {
    const auto sources = expand({input});
    ASSERT_FALSE(sources) << input;
    EXPECT_EQ(sources.error().code, code) << sources.error().message;
    EXPECT_THAT(sources.error().message, HasSubstr(says));
  }

  std::filesystem::path folder_;
};

TEST_F(Sources, FilesKeepTheirOrder) {
  const std::string a = write("a.png");
  const std::string b = write("b.dat");
  EXPECT_THAT(names({b, a, b}), ElementsAre(b, a, b));
}

TEST_F(Sources, AFolderGivesItsPicturesSortedByBytes) {
  for (const char* name :
       {"z.png", "a.JPG", "B.webp", "a10.jpeg", "a9.jpg", "notes.txt", ".h.png", "sub/inner.png"}) {
    write(name);
  }
  std::filesystem::create_directories(folder_ / "dir.png");
  // A pipe would be waited for.
  ASSERT_EQ(mkfifo(path("pipe.jpg").c_str(), 0600), 0);
  EXPECT_THAT(
      names({folder_.string()}),
      ElementsAre(path("B.webp"), path("a.JPG"), path("a10.jpeg"), path("a9.jpg"), path("z.png")));
}

TEST_F(Sources, AFolderWithoutPicturesIsAnError) {
  write("notes.txt");
  expect_error(folder_.string(), ErrorCode::kMissingInput, "holds no pictures");
}

TEST_F(Sources, AGlobGivesTheFilesThatMatch) {
  write("b1.dat");
  write("a1.png");
  write("c.txt");
  std::filesystem::create_directories(folder_ / "d1");
  EXPECT_THAT(names({path("?1*")}), ElementsAre(path("a1.png"), path("b1.dat")));
  expect_error(path("*.webp"), ErrorCode::kMissingInput, "matches no file");
}

TEST_F(Sources, AnExistingNameIsNoGlob) {
  write("x1.png");
  const std::string odd = write("x[1].png");
  EXPECT_THAT(names({odd}), ElementsAre(odd));
}

TEST_F(Sources, AListNamesFiles) {
  const std::string a = write("a.png");
  const std::string b = write("b b.png");
  const std::string list = write("list.txt", "# two\n\n" + b + "\r\n   \n" + a);
  EXPECT_THAT(names({"@" + list}), ElementsAre(b, a));
  const std::string marked = write("marked.txt", "\xef\xbb\xbf" + a + "\n");
  EXPECT_THAT(names({"@" + marked}), ElementsAre(a));
  const std::string broken = write("broken.txt", a + "\n" + path("none.png") + "\n");
  expect_error("@" + broken, ErrorCode::kMissingInput, "line 2");
  expect_error("@" + write("empty.txt", "# nothing\n"), ErrorCode::kMissingInput, "names no files");
  expect_error("@" + path("none.txt"), ErrorCode::kMissingInput, "none.txt");
}

TEST_F(Sources, StandardInputIsReadOnce) {
  const auto sources = expand({"-"});
  ASSERT_TRUE(sources);
  EXPECT_EQ(sources->front().kind, Source::Kind::kStdin);
  const auto twice = expand({"-", "-"});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::kUsage);
}

TEST_F(Sources, SyntheticPicturesHaveASize) {
  const auto sources = expand({"synthetic", "synthetic:12x34", "synthetic:56x78x1"});
  ASSERT_TRUE(sources) << sources.error().message;
  EXPECT_EQ((*sources)[0].synthetic_size, (Size2{480, 640}));
  EXPECT_EQ((*sources)[1].synthetic_size, (Size2{12, 34}));
  EXPECT_EQ((*sources)[2].synthetic_size, (Size2{56, 78}));
  for (const Source& source : *sources) EXPECT_EQ(source.kind, Source::Kind::kSynthetic);
  expect_error("synthetic:12x34x16", ErrorCode::kUnavailable, "video inputs");
  for (const char* wrong : {"synthetic:", "synthetic:0x5", "synthetic:axb", "synthetic:1x2x3x4",
                            "synthetic:-3x5", "synthetic:999999x999999"}) {
    EXPECT_FALSE(expand({wrong})) << wrong;
  }
}

TEST_F(Sources, TensorsArePassedOn) {
  const auto sources = expand({"a/b.npy", "c.safetensors:x.y", "D.NPY"});
  ASSERT_TRUE(sources);
  for (const Source& source : *sources) EXPECT_EQ(source.kind, Source::Kind::kTensor);
  EXPECT_EQ((*sources)[0].path, "a/b.npy");
  EXPECT_EQ((*sources)[1].path, "c.safetensors");
  EXPECT_EQ((*sources)[1].tensor_name, "x.y");
}

TEST_F(Sources, WhatIsNotThereIsNamed) {
  expect_error(path("none.png"), ErrorCode::kMissingInput, "none.png");
  expect_error("https://example.org/a.png", ErrorCode::kUnavailable, "network");
  expect_error("HTTP://example.org/a.png", ErrorCode::kUnavailable, "network");
  expect_error("", ErrorCode::kUsage, "empty");
}

TEST_F(Sources, ReadGivesAllBytes) {
  std::string text(200'000, 'a');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7);
  std::vector<std::uint8_t> bytes;
  for (const std::size_t size : {std::size_t{200'000}, std::size_t{0}, std::size_t{65536}}) {
    const auto sources = expand({write("f.bin", text.substr(0, size))});
    ASSERT_TRUE(read_source(sources->front(), bytes));
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()), text.substr(0, size));
  }
}

TEST_F(Sources, WhatHasNoSizeIsReadToItsEnd) {
  Source source;
  source.name = source.path = "/proc/self/maps";
  std::vector<std::uint8_t> bytes;
  ASSERT_TRUE(read_source(source, bytes));
  EXPECT_THAT(std::string(bytes.begin(), bytes.end()), HasSubstr("["));
}

TEST_F(Sources, ReadSaysWhyItCannot) {
  std::vector<std::uint8_t> bytes;
  Source source;
  source.name = source.path = path("gone.png");
  auto result = read_source(source, bytes);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kMissingInput);
  EXPECT_THAT(result.error().message, HasSubstr("No such file"));
  source.name = source.path = folder_.string();
  result = read_source(source, bytes);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kMissingInput);
  EXPECT_THAT(result.error().message, HasSubstr("directory"));
  const std::string huge = write("huge.png");
  std::filesystem::resize_file(huge, (std::uint64_t{1} << 30) + 1);  // sparse
  source.name = source.path = huge;
  result = read_source(source, bytes);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kBadData);
}

TEST_F(Sources, AForbiddenFileSaysSo) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const std::string file = write("locked.png");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  Source source;
  source.name = source.path = file;
  std::vector<std::uint8_t> bytes;
  const auto result = read_source(source, bytes);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kMissingInput);
  EXPECT_THAT(result.error().message, HasSubstr("ermission"));
}

TEST(Synthetic, IsTheSameEverywhere) {
  Image image;
  make_synthetic_image({48, 64}, 0, image);
  EXPECT_EQ(vivace::test::sha256_hex(image.rgb),
            "18709c62aae73144b1617e6014c764db6be6d578ec8b2ea1d8b337b4ccc25e38");
  Image other;
  make_synthetic_image({48, 64}, 1, other);
  EXPECT_NE(image.rgb, other.rgb);
}

}  // namespace
}  // namespace vivace::media
