// .npy: bytes as numpy.save wrote them, every way to break a header, and headers of ours.
#include "pipeline/npy.h"

#include <cstring>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vivace::pipeline {
namespace {

using std::string_literals::operator""s;
using testing::HasSubstr;

Result<TensorView> parse(const std::string& file) {
  return parse_npy(std::as_bytes(std::span(file)));
}

/// A file of this version with this header and so many bytes of data.
std::string file_of(const std::string& header, std::size_t data_bytes, char version = 1) {
  std::string file = "\x93NUMPY"s + version + '\0';
  const int length_bytes = version == 1 ? 2 : 4;
  for (int i = 0; i < length_bytes; ++i) {
    file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  }
  return file + header + std::string(data_bytes, '\0');
}

std::string header(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

/// numpy.lib.format.write_array of [[1.5, -2], [0.25, 3]] as float32, NumPy 2.
std::string numpy_file(char version) {
  const std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  const std::size_t padded = version == 1 ? 118 : 116;
  return file_of(text + std::string(padded - text.size() - 1, ' ') + "\n", 0, version) +
         "\x00\x00\xc0?\x00\x00\x00\xc0\x00\x00\x80>\x00\x00@@"s;
}

TEST(Npy, EveryVersionOfNumpysIsRead) {
  for (const char version : {'\1', '\2', '\3'}) {
    const std::string file = numpy_file(version);
    ASSERT_EQ(file.size(), 144U);
    const auto view = parse(file);
    ASSERT_TRUE(view) << view.error().message;
    EXPECT_EQ(to_string(view->shape()), "[2, 2]");
    EXPECT_THAT(view->f32(), testing::ElementsAre(1.5f, -2.0f, 0.25f, 3.0f));
  }
}

TEST(Npy, ScalarsVectorsAndNothingAreRead) {
  EXPECT_EQ(to_string(parse(file_of(header("'<i8'", "False", "()"), 8)).value().shape()), "[]");
  EXPECT_EQ(to_string(parse(file_of(header("'|u1'", "False", "(3,)"), 3)).value().shape()), "[3]");
  EXPECT_EQ(parse(file_of(header("'<f8'", "False", "(0, 3)"), 0)).value().size(), 0);
  // Keys in another order, as other writers have them.
  EXPECT_TRUE(parse(file_of("{'shape': (2,), 'fortran_order': False, 'descr': '<i2'}", 4)));
}

TEST(Npy, EveryViolationIsNamed) {
  struct Broken {
    std::string file;
    const char* message;
  };
  const std::string good = header("'<f4'", "False", "(2,)");
  std::string wrong_magic = file_of(good, 8);
  wrong_magic[0] = '\x92';
  std::string long_header = file_of(good, 0);
  long_header[9] = '\x7f';
  const std::vector<Broken> files = {
      {"", "not an .npy file"},
      {"\x93NUMPY", "not an .npy file"},
      {"\x93NUMPY\1\0\0"s, "not an .npy file"},
      {"PK\3\4 an .npz is a zip", "not an .npy file"},
      {wrong_magic, "not an .npy file"},
      {file_of(good, 8, 0), "version"},
      {file_of(good, 8, 4), "version"},
      {"\x93NUMPY\2\0\0\0"s, "cut short"},
      {long_header, "cut short"},
      {file_of(header("'>f4'", "False", "(2,)"), 8), "little-endian"},
      {file_of(header("'|O'", "False", "(2,)"), 8), "got \"'|O'"},
      {file_of(header("'<c8'", "False", "(1,)"), 8), "the .npy type"},
      {file_of(header("'<U4'", "False", "(1,)"), 16), "the .npy type"},
      {file_of(header("[('a', '<f4')]", "False", "(1,)"), 4), "the .npy type"},
      {file_of(header("'<f4", "False", "(1,)"), 4), "the .npy type"},
      {file_of(header("'<f4'", "True", "(2, 1)"), 8), "Fortran order"},
      {file_of(header("'<f4'", "", "(2,)"), 8), "the .npy order"},
      {file_of(header("'<f4'", "False", "[2]"), 8), "the .npy shape"},
      {file_of(header("'<f4'", "False", "2"), 8), "the .npy shape"},
      {file_of(header("'<f4'", "False", "(-2,)"), 8), "the .npy shape"},
      {file_of(header("'<f4'", "False", "(2.0,)"), 8), "the .npy shape"},
      {file_of(header("'<f4'", "False", "(2L,)"), 8), "the .npy shape"},
      {file_of(header("'<f4'", "False", "(99999999999999999999,)"), 8), "the .npy shape"},
      {file_of(header("'<f4'", "False", "(1, 1, 1, 1, 1, 1, 2)"), 8), "the .npy shape"},
      {file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,", 8), "the .npy shape"},
      {file_of("{'descr': '<f4', 'fortran_order': False, 'shape':", 8), "the .npy shape"},
      {file_of(header("'<f4'", "False", "(4294967296, 4294967296, 2)"), 8), "overflows"},
      {file_of(header("'<f4'", "False", "(4611686018427387906,)"), 8), "overflows"},
      {file_of("{'descr': '<f4', 'shape': (2,)}", 8), "the .npy header"},
      {file_of("{'fortran_order': False, 'shape': (2,)}", 8), "the .npy header"},
      {file_of("{'descr': '<f4', 'fortran_order': False}", 8), "the .npy header"},
      {file_of("", 8), "the .npy header"},
      {file_of(good, 7), "expected 8 bytes, got 7"},
      {file_of(good, 9), "expected 8 bytes, got 9"},
      {file_of(good, 0), "expected 8 bytes, got 0"},
  };
  for (const Broken& broken : files) {
    const auto view = parse(broken.file);
    ASSERT_FALSE(view) << broken.message << ": " << broken.file;
    EXPECT_EQ(view.error().code, ErrorCode::kBadData);
    EXPECT_THAT(view.error().message, HasSubstr(broken.message));
    EXPECT_THAT(view.error().message, HasSubstr("numpy.save"));
  }
}

TEST(Npy, NoFlippedBitCrashesOrLies) {
  const std::string good = numpy_file(1);
  for (std::size_t byte = 0; byte < good.size() - 16; ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = good;
      flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << bit));
      const auto view = parse(flipped);
      if (!view) continue;
      const auto offset = static_cast<const char*>(view->data()) - flipped.data();
      ASSERT_GE(offset, 10);
      ASSERT_EQ(static_cast<std::size_t>(offset) + view->bytes(), flipped.size());
    }
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    ASSERT_FALSE(parse(good.substr(0, size))) << size;
  }
}

TEST(Npy, HeadersOfOursAreNumpys) {
  // What numpy.lib.format.header_data_from_array_1_0 gives, but for the padding.
  EXPECT_THAT(npy_header(DType::kF32, Shape{1, 2, 3}),
              HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }"));
  EXPECT_THAT(npy_header(DType::kU8, Shape{3}),
              HasSubstr("'|u1', 'fortran_order': False, 'shape': (3,), }"));
  EXPECT_THAT(npy_header(DType::kF32, Shape{}), HasSubstr("'shape': (), }"));
  for (const DType type : {DType::kF64, DType::kF32, DType::kF16, DType::kI64, DType::kI32,
                           DType::kI16, DType::kI8, DType::kU8, DType::kBool}) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3, 4, 1, 1, 6}, Shape{0, 2}}) {
      std::string file = npy_header(type, shape);
      EXPECT_EQ(file.size() % 64, 0U);
      EXPECT_EQ(file.back(), '\n');
      file += std::string(static_cast<std::size_t>(element_count(shape)) * size_of(type), '\1');
      const auto view = parse(file);
      ASSERT_TRUE(view) << view.error().message;
      EXPECT_EQ(view->type(), type);
      EXPECT_EQ(to_string(view->shape()), to_string(shape));
    }
  }
}

}  // namespace
}  // namespace vivace::pipeline
