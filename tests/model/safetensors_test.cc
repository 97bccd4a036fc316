// The safetensors reader against every way to break the format, and the writer against the reader.
#include "model/safetensors.h"

#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace vivace::model {
namespace {

using std::string_literals::operator""s;
using testing::HasSubstr;

std::string file_of(const std::string& header, std::size_t data_bytes) {
  std::string file;
  for (int shift = 0; shift < 64; shift += 8) {
    file += static_cast<char>(std::uint64_t{header.size()} >> shift & 0xff);
  }
  return file + header + std::string(data_bytes, '\1');
}

Result<SafetensorsIndex> parse(const std::string& file) {
  return parse_safetensors(std::as_bytes(std::span(file)));
}

/// {"t": {...}} with these members.
std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return fmt::format(R"({{"t": {{"dtype": {}, "shape": {}, "data_offsets": {}}}}})", dtype, shape,
                     offsets);
}
std::string f32(const std::string& shape, const std::string& offsets) {
  return tensor("\"F32\"", shape, offsets);
}

struct Broken {
  const char* what;
  std::string file;
  const char* message;
};

std::vector<Broken> broken_files() {
  const auto entry = [](const char* name, int begin, int end) {
    return fmt::format(R"("{}": {{"dtype": "U8", "shape": [{}], "data_offsets": [{}, {}]}})", name,
                       end - begin, begin, end);
  };
  const auto two = [&](int a, int b, int c, int d, std::size_t bytes) {
    return file_of("{" + entry("a", a, b) + ", " + entry("b", c, d) + "}", bytes);
  };
  std::string longer = file_of("{}", 0);
  longer[0] = 3;
  std::string huge = file_of("{}", 0);
  huge[3] = 0x7f;
  std::string wrapped = file_of("{}", 0);
  for (int i = 0; i < 8; ++i) wrapped[static_cast<std::size_t>(i)] = '\xff';
  std::string deep = "{\"a\": ";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  return {
      {"empty", "", "at least 8 bytes"},
      {"too short", "\2\0\0\0\0\0\0"s, "at least 8 bytes"},
      {"header after the end", longer, "ends after the file"},
      {"header too long", huge, "too long"},
      {"length wraps around", wrapped, "too long"},
      {"no header", file_of("", 0), "does not start"},
      {"no JSON", file_of("{]", 0), "not valid JSON"},
      {"no object", file_of("[]", 0), "does not start"},
      {"space first", file_of(" {}", 0), "does not start"},
      {"byte order mark", file_of("\xef\xbb\xbf{}", 0), "does not start"},
      {"padded with NUL", file_of("{}\0\0\0"s, 0), "NUL"},
      {"text after", file_of("{} {}", 0), "not valid JSON"},
      {"deep", file_of(deep, 0), "64 levels"},
      {"invalid UTF-8", file_of("{\"\xff\": 1}", 0), "not valid JSON"},
      {"duplicate", file_of("{" + entry("a", 0, 1) + "," + entry("a", 1, 2) + "}", 2),
       "duplicate key \"a\""},
      {"entry no object", file_of(R"({"t": 3})", 0), "an object"},
      {"no dtype", file_of(R"({"t": {"shape": [], "data_offsets": [0, 4]}})", 4), "\"dtype\""},
      {"no shape", file_of(R"({"t": {"dtype": "F32", "data_offsets": [0, 4]}})", 4), "\"shape\""},
      {"no offsets", file_of(R"({"t": {"dtype": "F32", "shape": []}})", 4), "\"data_offsets\""},
      {"unknown member",
       file_of(R"({"t": {"dtype": "F32", "shape": [], "data_offsets": [0, 4], "x": 1}})", 4),
       "unknown member"},
      {"unknown dtype", file_of(tensor("\"F8_E4M3\"", "[4]", "[0, 4]"), 4), "got \"F8_E4M3\""},
      {"lower-case dtype", file_of(tensor("\"f32\"", "[1]", "[0, 4]"), 4), "got \"f32\""},
      {"dtype no text", file_of(tensor("32", "[1]", "[0, 4]"), 4), "unsupported dtype"},
      {"shape no array", file_of(f32("4", "[0, 4]"), 4), "shape of tensor"},
      {"negative extent", file_of(f32("[-1]", "[0, 4]"), 4), "got -1"},
      {"two negatives", file_of(f32("[-1, -1]", "[0, 4]"), 4), "got -1"},
      {"fractional extent", file_of(f32("[1.0]", "[0, 4]"), 4), "whole numbers"},
      {"extent no number", file_of(f32("[\"1\"]", "[0, 4]"), 4), "whole numbers"},
      {"extent beyond 64 bits", file_of(f32("[18446744073709551617]", "[0, 4]"), 4),
       "whole numbers"},
      {"product overflows", file_of(f32("[4294967296, 4294967296, 4294967296]", "[0, 0]"), 0),
       "overflows"},
      {"product wraps to 4", file_of(f32("[4611686018427387905]", "[0, 4]"), 4), "overflows"},
      {"overflow before zero", file_of(f32("[9223372036854775807, 4, 0]", "[0, 0]"), 0),
       "overflows"},
      {"offsets no array", file_of(f32("[1]", "4"), 4), "data_offsets of tensor"},
      {"one offset", file_of(f32("[1]", "[0]"), 4), "an array of 1"},
      {"three offsets", file_of(f32("[1]", "[0, 2, 4]"), 4), "an array of 3"},
      {"negative offset", file_of(f32("[1]", "[-4, 0]"), 4), "data_offsets of tensor"},
      {"fractional offset", file_of(f32("[1]", "[0, 4.0]"), 4), "data_offsets of tensor"},
      {"reversed offsets", file_of(f32("[1]", "[4, 0]"), 4), "ascending"},
      {"outside", file_of(f32("[1]", "[4, 8]"), 4), "cut short"},
      {"far outside", file_of(f32("[1]", "[9223372036854775803, 9223372036854775807]"), 4),
       "outside"},
      {"too small", file_of(f32("[2]", "[0, 4]"), 4), "8 bytes"},
      {"too large", file_of(f32("[1]", "[0, 8]"), 8), "4 bytes"},
      {"overlap", two(0, 4, 3, 8, 8), "overlaps"},
      {"same place", two(0, 4, 0, 4, 4), "overlaps"},
      {"empty inside another", two(0, 4, 2, 2, 4), "overlaps"},
      {"hole in the middle", two(0, 4, 5, 8, 8), "hole before tensor \"b\""},
      {"hole at the start", two(1, 4, 4, 8, 8), "hole before tensor \"a\""},
      {"tail", two(0, 4, 4, 8, 9), "after its last tensor"},
      {"data without tensors", file_of("{}", 1), "after its last tensor"},
      {"metadata no object", file_of(R"({"__metadata__": []})", 0), "__metadata__"},
      {"metadata no text", file_of(R"({"__metadata__": {"a": 1}})", 0), "a string"},
      {"metadata null", file_of(R"({"__metadata__": null})", 0), "__metadata__"},
  };
}

TEST(SafetensorsParse, EveryViolationIsRefusedAndNamed) {
  for (const Broken& broken : broken_files()) {
    const auto index = parse(broken.file);
    ASSERT_FALSE(index) << broken.what;
    EXPECT_EQ(index.error().code, ErrorCode::kBadData) << broken.what;
    EXPECT_THAT(index.error().message, HasSubstr(broken.message)) << broken.what;
    EXPECT_LT(index.error().message.size(), 500U) << broken.what;
  }
}

TEST(SafetensorsParse, WhatTheFormatAllowsIsRead) {
  EXPECT_TRUE(parse(file_of("{}", 0)).value().tensors.empty());
  EXPECT_TRUE(parse(file_of("{}   \n", 0))) << "padded with spaces";
  const auto scalar = parse(file_of(f32("[]", "[0, 4]"), 4));
  ASSERT_TRUE(scalar);
  EXPECT_EQ(scalar->tensors[0].shape, Shape{});
  // In another order than that of the bytes, empty tensors between, metadata.
  const auto index = parse(file_of(
      R"({"b": {"dtype": "I16", "shape": [2], "data_offsets": [4, 8]},
          "__metadata__": {"format": "pt", "": ""},
          "e": {"dtype": "F32", "shape": [0, 9223372036854775807], "data_offsets": [4, 4]},
          "z": {"dtype": "BOOL", "shape": [0], "data_offsets": [8, 8]},
          "a": {"data_offsets": [0, 4], "shape": [1, 1], "dtype": "F32"}})",
      8));
  ASSERT_TRUE(index) << index.error().message;
  ASSERT_EQ(index->tensors.size(), 4U);
  EXPECT_EQ(index->tensors[0].name, "a");
  EXPECT_EQ(index->tensors[1].name, "e");
  EXPECT_EQ(index->tensors[2].name, "b");
  EXPECT_EQ(index->tensors[2].type, DType::kI16);
  EXPECT_EQ(index->tensors[2].begin, index->tensors[0].begin + 4);
  ASSERT_EQ(index->metadata.size(), 2U);
  EXPECT_EQ(index->metadata[0], std::pair("format"s, "pt"s));
}

TEST(SafetensorsParse, AHundredThousandTensorsAreNoTrouble) {
  // Quadratic work on this header would take minutes and run into the test's time limit.
  constexpr int kCount = 100'000;
  std::string header = "{";
  for (int i = 0; i < kCount; ++i) {
    header +=
        fmt::format(R"({}"layer.{}.weight":{{"dtype":"U8","shape":[1],"data_offsets":[{},{}]}})",
                    i > 0 ? "," : "", i, i, i + 1);
  }
  const auto index = parse(file_of(header + "}", kCount));
  ASSERT_TRUE(index) << index.error().message;
  EXPECT_EQ(index->tensors.size(), static_cast<std::size_t>(kCount));
}

/// What a caller may rely on once a file was accepted.
void expect_consistent(const SafetensorsIndex& index, std::size_t file_bytes) {
  std::size_t sum = 0;
  for (const TensorEntry& entry : index.tensors) {
    ASSERT_LE(entry.begin, file_bytes);
    ASSERT_LE(entry.bytes, file_bytes - entry.begin);
    std::size_t bytes = size_of(entry.type);
    for (const std::int64_t extent : entry.shape) {
      ASSERT_GE(extent, 0);
      bytes *= static_cast<std::size_t>(extent);
    }
    ASSERT_EQ(bytes, entry.bytes);
    sum += bytes;
  }
  ASSERT_LE(sum, file_bytes);
}

TEST(SafetensorsParse, NoFlippedBitCrashesOrLies) {
  const std::string good =
      file_of(R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
              R"("b":{"dtype":"BF16","shape":[3],"data_offsets":[8,14]}})",
              14);
  ASSERT_TRUE(parse(good));
  int accepted = 0;
  int refused = 0;
  for (std::size_t byte = 0; byte < good.size() - 14; ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = good;
      flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << bit));
      const auto index = parse(flipped);
      if (!index) {
        EXPECT_EQ(index.error().code, ErrorCode::kBadData);
        ++refused;
        continue;
      }
      expect_consistent(*index, flipped.size());
      ++accepted;
    }
  }
  // Another letter in a name is still a file; most flips are none.
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, accepted);
}

TEST(SafetensorsParse, NoShorterFileIsAccepted) {
  const std::string good = file_of(f32("[2]", "[0, 8]"), 8);
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(parse(good.substr(0, size))) << size;
  }
}

TEST(SafetensorsFile, WhatWasWrittenIsRead) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "m.safetensors";
  const std::vector<TensorDeclaration> tensors = {
      {"weight", DType::kF32, {2, 3}}, {"empty", DType::kF32, {0, 4}}, {"bytes", DType::kU8, {5}}};
  const std::vector<std::pair<std::string, std::string>> metadata = {{"format", "pt"},
                                                                     {"odd \"\n", "\u20ac"}};
  auto writer = SafetensorsWriter::create(path, tensors, metadata).value();
  const std::vector<float> weights = {1, 2, 3, 4, 5, -6.5f};
  ASSERT_TRUE(writer.append(std::span(weights).first(2)));
  ASSERT_TRUE(writer.append(std::span(weights).subspan(2)));
  const std::uint8_t bytes[] = {9, 8, 7, 6, 5};
  EXPECT_FALSE(std::filesystem::exists(path)) << "not before it is whole";
  ASSERT_TRUE(writer.append(std::as_bytes(std::span(bytes))));
  ASSERT_TRUE(writer.commit());

  const auto file = SafetensorsFile::open(path).value();
  EXPECT_THAT(file.names(), testing::UnorderedElementsAre("weight", "empty", "bytes"));
  EXPECT_EQ(file.metadata(), metadata);
  const TensorView view = file.find("weight").value();
  EXPECT_EQ(to_string(view.shape()), "[2, 3]");
  EXPECT_THAT(view.f32(), testing::ElementsAreArray(weights));
  EXPECT_EQ((reinterpret_cast<std::uintptr_t>(view.data()) % 64), 0U) << "data begin on a line";
  EXPECT_THAT(file.find("bytes")->u8(), testing::ElementsAreArray(bytes));
  EXPECT_EQ(file.find("empty")->size(), 0);
  EXPECT_FALSE(file.find("weigh"));
}

TEST(SafetensorsFile, ErrorsCarryThePath) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "broken.safetensors";
  std::ofstream(path) << "short";
  const auto file = SafetensorsFile::open(path);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr(path.string()));
  EXPECT_EQ(SafetensorsFile::open(folder.path() / "absent").error().code, ErrorCode::kMissingInput);
}

TEST(SafetensorsFile, ATensorOfTooManyExtentsIsNotFound) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "m.safetensors";
  std::ofstream(path, std::ios::binary) << file_of(f32("[1, 1, 1, 1, 1, 1, 1]", "[0, 4]"), 4);
  EXPECT_FALSE(SafetensorsFile::open(path).value().find("t"));
}

TEST(SafetensorsWriterDeathTest, TooFewOrTooManyBytesAreABug) {
  const test::TemporaryFolder folder;
  const std::vector<TensorDeclaration> tensors = {{"t", DType::kF32, {1}}};
  const std::vector<float> values = {1, 2};
  const auto path = folder.path() / "m.safetensors";
  EXPECT_DEATH((void)SafetensorsWriter::create(path, tensors)->commit(), "bytes_missing_ == 0");
  EXPECT_DEATH((void)SafetensorsWriter::create(path, tensors)->append(values), "bytes_missing_");
}

}  // namespace
}  // namespace vivace::model
