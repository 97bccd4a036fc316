// Files that are broken, hostile or merely odd: each is a clear error or a right decode. Run under
// the sanitizers too, where a read beyond an end shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "media/decode.h"
#include "media/decode_internal.h"
#include "media/encode.h"

namespace vivace::media {
namespace {

using namespace test;
using ::testing::HasSubstr;

constexpr int kDecodes = -1;  // in place of an error code

struct Odd {
  const char* name;
  std::function<Bytes()> bytes;
  int code;          // an ErrorCode, or kDecodes
  const char* says;  // in the error's message
};

constexpr int kBad = static_cast<int>(ErrorCode::kBadData);
constexpr int kNot = static_cast<int>(ErrorCode::kUnavailable);

Bytes small_jpeg() { return encode_jpeg(picture(24, 40)); }
Bytes small_png() { return encode_png(picture(24, 40)); }
Bytes small_webp() { return encode_webp(picture(24, 40), false); }

Bytes cut(Bytes bytes, std::size_t kept) {
  bytes.resize(kept);
  return bytes;
}

std::size_t marker_at(const Bytes& jpeg, int marker) {
  for (std::size_t i = 0; i + 1 < jpeg.size(); ++i) {
    if (jpeg[i] == 0xff && jpeg[i + 1] == marker) return i;
  }
  ADD_FAILURE() << "no marker " << marker;
  return 0;
}

// The start-of-frame segment: FF C0 length(2) precision height(2) width(2) components.
Bytes with_frame_field(Bytes jpeg, std::size_t field, std::initializer_list<int> values) {
  std::size_t at = marker_at(jpeg, 0xc0) + field;
  for (const int value : values) jpeg[at++] = static_cast<std::uint8_t>(value);
  return jpeg;
}

Bytes riff(const Bytes& chunks) {
  Bytes out = bytes_of("RIFF");
  const std::size_t size = chunks.size() + 4;
  for (int shift = 0; shift < 32; shift += 8) {
    out.push_back(static_cast<std::uint8_t>(size >> shift));
  }
  append(out, bytes_of("WEBP"));
  append(out, chunks);
  return out;
}

Bytes riff_chunk(std::string_view type, const Bytes& data) {
  Bytes out = bytes_of(type);
  for (int shift = 0; shift < 32; shift += 8) {
    out.push_back(static_cast<std::uint8_t>(data.size() >> shift));
  }
  append(out, data);
  if (data.size() % 2 != 0) out.push_back(0);
  return out;
}

// The extended header: flags, then width - 1 and height - 1 in 24 bits each.
Bytes vp8x(int flags, std::uint32_t width, std::uint32_t height) {
  Bytes data = {static_cast<std::uint8_t>(flags), 0, 0, 0};
  for (const std::uint32_t side : {width - 1, height - 1}) {
    for (int shift = 0; shift < 24; shift += 8) {
      data.push_back(static_cast<std::uint8_t>(side >> shift));
    }
  }
  return riff_chunk("VP8X", data);
}

// The VP8 chunk of an encoded picture, header and all.
Bytes image_chunk() {
  const Bytes webp = small_webp();
  return Bytes(webp.begin() + 12, webp.end());
}

Bytes animation(int x_offset) {
  Bytes frame = {
      static_cast<std::uint8_t>(x_offset / 2), 0, 0, 0, 0, 0, 39, 0, 0, 23, 0, 0, 100, 0, 0, 0};
  append(frame, image_chunk());
  Bytes chunks = vp8x(2, 60, 24);
  append(chunks, riff_chunk("ANIM", {255, 255, 255, 255, 0, 0}));
  append(chunks, riff_chunk("ANMF", frame));
  return riff(chunks);
}

// Progressive scans, again and again over the same coefficients.
Bytes repeated_scans() {
  const Bytes jpeg = encode_jpeg(picture(24, 40), {.progressive = true});
  std::size_t last = 0;
  for (std::size_t i = 0; i + 1 < jpeg.size(); ++i) {
    if (jpeg[i] == 0xff && jpeg[i + 1] == 0xda) last = i;
  }
  Bytes out(jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(last));
  const Bytes scan(jpeg.begin() + static_cast<std::ptrdiff_t>(last), jpeg.end() - 2);
  for (int i = 0; i < 300; ++i) append(out, scan);
  append(out, {0xff, 0xd9});
  return out;
}

Bytes png_with(const Bytes& chunk) {
  const Image image = picture(4, 4);
  return png_of({png_header(4, 4, 8, 2), chunk, png_data(image.rgb, 12)});
}

const std::vector<Odd>& odd_files() {
  static const std::vector<Odd> files = {
      // No picture at all.
      {"empty", [] { return Bytes{}; }, kBad, "0 bytes"},
      {"one_byte", [] { return Bytes{0xff}; }, kBad, "JPEG, PNG or WebP"},
      {"zeros", [] { return Bytes(1000, 0); }, kBad, "unknown content"},
      {"gif", [] { return bytes_of("GIF89a\1\0\1\0"); }, kNot, "a GIF image"},
      {"tiff", [] { return Bytes{'I', 'I', '*', 0, 8, 0, 0, 0}; }, kNot, "a TIFF image"},
      {"bmp", [] { return bytes_of("BM6543"); }, kNot, "a BMP image"},
      {"heic", [] { return Bytes{0, 0, 0, 24, 'f', 't', 'y', 'p', 'h', 'e', 'i', 'c'}; }, kNot,
       "a HEIC image"},
      {"avif", [] { return Bytes{0, 0, 0, 24, 'f', 't', 'y', 'p', 'a', 'v', 'i', 'f'}; }, kNot,
       "an AVIF image"},
      {"mp4", [] { return Bytes{0, 0, 0, 24, 'f', 't', 'y', 'p', 'i', 's', 'o', 'm'}; }, kNot,
       "video"},
      {"pdf", [] { return bytes_of("%PDF-1.7"); }, kBad, "a PDF document"},
      {"html", [] { return bytes_of("\n <!DOCTYPE HTML><html>404"); }, kBad, "an HTML page"},
      {"text", [] { return bytes_of("hello, world"); }, kBad, "text that begins \"hello"},
      {"lfs_pointer", [] { return bytes_of("version https://git-lfs.github.com/spec/v1"); }, kBad,
       "Git LFS"},
      // JPEG.
      {"jpeg_start_only", [] { return Bytes{0xff, 0xd8, 0xff}; }, kBad, "JPEG is truncated"},
      {"jpeg_no_image", [] { return Bytes{0xff, 0xd8, 0xff, 0xd9}; }, kBad, "JPEG is"},
      {"jpeg_half", [] { return cut(small_jpeg(), small_jpeg().size() / 2); }, kBad, "truncated"},
      {"jpeg_no_end_marker", [] { return cut(small_jpeg(), small_jpeg().size() - 2); }, kBad,
       "truncated"},
      {"jpeg_half_then_end_marker",
       [] {
         Bytes bytes = cut(small_jpeg(), small_jpeg().size() - 60);
         append(bytes, {0xff, 0xd9});
         return bytes;
       },
       kBad, "corrupt"},
      {"jpeg_text_after_start",
       [] {
         Bytes bytes = {0xff, 0xd8, 0xff};
         append(bytes, bytes_of("not a jpeg at all, whatever its first bytes say"));
         return bytes;
       },
       kBad, "JPEG is"},
      {"jpeg_bomb", [] { return with_frame_field(small_jpeg(), 5, {0xff, 0xdc, 0xff, 0xdc}); },
       kBad, "65500x65500"},
      {"jpeg_bomb_beyond_libjpeg",
       [] { return with_frame_field(small_jpeg(), 5, {255, 255, 255, 255}); }, kBad,
       "65500 pixels"},
      {"jpeg_no_height", [] { return with_frame_field(small_jpeg(), 5, {0, 0}); }, kBad, "corrupt"},
      {"jpeg_taller_than_its_data", [] { return with_frame_field(small_jpeg(), 5, {4, 0}); }, kBad,
       "JPEG is"},
      {"jpeg_12_bit", [] { return with_frame_field(small_jpeg(), 4, {12}); }, kNot, "precision"},
      {"jpeg_hierarchical", [] { return with_frame_field(small_jpeg(), 1, {0xc5}); }, kNot,
       "SOF type 0xc5"},
      {"jpeg_arithmetic", [] { return encode_jpeg(picture(24, 40), {.arithmetic = true}); },
       kDecodes, ""},
      {"jpeg_progressive", [] { return encode_jpeg(picture(24, 40), {.progressive = true}); },
       kDecodes, ""},
      {"jpeg_repeated_scans", repeated_scans, kBad, "progression"},
      {"jpeg_many_scans", [] { return encode_jpeg(picture(24, 40), {.many_scans = true}); }, kBad,
       "more than 200 scans"},
      {"jpeg_grey", [] { return encode_jpeg(picture(24, 40), {.component_count = 1}); }, kDecodes,
       ""},
      {"jpeg_junk_after_the_end",
       [] {
         Bytes bytes = small_jpeg();
         append(bytes, Bytes(1000, 'x'));
         return bytes;
       },
       kDecodes, ""},
      {"jpeg_garbage_exif", [] { return with_segment(small_jpeg(), 0xe1, Bytes(300, 0xa5)); },
       kDecodes, ""},
      {"jpeg_exif_of_nothing",
       [] { return with_segment(small_jpeg(), 0xe1, bytes_of(std::string_view("Exif\0\0", 6))); },
       kDecodes, ""},
      {"jpeg_garbage_icc",
       [] {
         Bytes data = bytes_of(std::string_view("ICC_PROFILE\0\1\1", 14));
         append(data, Bytes(50, 0xee));
         return with_segment(small_jpeg(), 0xe2, data);
       },
       kDecodes, ""},
      // PNG.
      {"png_signature_only", png_signature, kBad, "PNG is truncated"},
      {"png_half", [] { return cut(small_png(), small_png().size() / 2); }, kBad, "truncated"},
      {"png_no_end_chunk", [] { return cut(small_png(), small_png().size() - 12); }, kBad,
       "truncated"},
      {"png_no_pixels", [] { return png_of({png_header(4, 4, 8, 2)}); }, kBad, "corrupt"},
      {"png_0x0", [] { return png_of({png_header(0, 0, 8, 2)}); }, kBad, "zero"},
      {"png_bomb",
       [] { return png_of({png_header(100'000, 100'000, 8, 2), png_data({1, 2, 3}, 3)}); }, kBad,
       "100000x100000"},
      {"png_wider_than_libpng_takes",
       [] { return png_of({png_header(0x7fffffff, 1, 8, 2), png_data({1}, 1)}); }, kBad, "corrupt"},
      {"png_wrong_depth", [] { return png_of({png_header(4, 4, 3, 2)}); }, kBad, "bit depth"},
      {"png_wrong_colour_type", [] { return png_of({png_header(4, 4, 8, 5)}); }, kBad,
       "color type"},
      {"png_header_crc",
       [] {
         Bytes bytes = small_png();
         bytes[8 + 8 + 13] ^= 1;
         return bytes;
       },
       kBad, "CRC"},
      {"png_data_crc",
       [] {
         Bytes bytes = small_png();
         bytes[bytes.size() - 12 - 1] ^= 1;
         return bytes;
       },
       kBad, "CRC"},
      {"png_ancillary_crc", [] { return png_with(png_chunk("tEXt", bytes_of("a"), 1)); }, kDecodes,
       ""},
      {"png_too_little_data",
       [] { return png_of({png_header(4, 4, 8, 2), png_data(Bytes(24, 9), 12)}); }, kBad,
       "ot enough"},
      {"png_too_much_data",
       [] { return png_of({png_header(4, 4, 8, 2), png_data(Bytes(120, 9), 12)}); }, kDecodes, ""},
      {"png_data_not_deflate",
       [] { return png_of({png_header(4, 4, 8, 2), png_chunk("IDAT", Bytes(60, 'x'))}); }, kBad,
       "corrupt"},
      {"png_no_palette", [] { return png_of({png_header(4, 1, 8, 3), png_data({0, 1, 2, 3}, 4)}); },
       kBad, "PLTE"},
      {"png_palette_of_two_colours_and_index_three",
       [] {
         return png_of({png_header(4, 1, 8, 3), png_chunk("PLTE", {1, 2, 3, 4, 5, 6}),
                        png_data({0, 1, 2, 3}, 4)});
       },
       kDecodes, ""},
      {"png_unknown_critical_chunk", [] { return png_with(png_chunk("ABCD", {1, 2})); }, kBad,
       "corrupt"},
      {"png_garbage_exif", [] { return png_with(png_chunk("eXIf", Bytes(40, 0x5a))); }, kDecodes,
       ""},
      {"png_garbage_icc", [] { return png_with(png_chunk("iCCP", Bytes(40, 0x5a))); }, kDecodes,
       ""},
      {"png_chunk_of_two_gigabytes",
       [] {
         Bytes bytes = png_signature();
         append(bytes, png_header(4, 4, 8, 2));
         append(bytes, {0x7f, 0xff, 0xff, 0xff, 't', 'E', 'X', 't', 0, 0});
         return bytes;
       },
       kBad, "truncated"},
      {"png_junk_after_the_end",
       [] {
         Bytes bytes = small_png();
         append(bytes, Bytes(1000, 'x'));
         return bytes;
       },
       kDecodes, ""},
      // WebP.
      {"webp_header_only", [] { return bytes_of(std::string_view("RIFF\4\0\0\0WEBP", 12)); }, kBad,
       "WebP"},
      {"webp_half", [] { return cut(small_webp(), small_webp().size() / 2); }, kBad, "truncated"},
      {"webp_bomb",
       [] {
         Bytes chunks = vp8x(2, 16383, 16383);
         append(chunks, image_chunk());
         return riff(chunks);
       },
       kBad, "16383x16383"},
      {"webp_lossless_bomb",  // 14 bits of width - 1, 14 bits of height - 1
       [] { return riff(riff_chunk("VP8L", {0x2f, 0xfe, 0xbf, 0xff, 0x0f, 0, 0, 0})); }, kBad,
       "16383x16383"},
      {"webp_canvas_of_another_size",
       [] {
         Bytes chunks = vp8x(0, 16383, 16383);
         append(chunks, image_chunk());
         return riff(chunks);
       },
       kBad, "WebP is corrupt"},
      {"webp_canvas_beyond_its_picture",
       [] {
         Bytes chunks = vp8x(0, 400, 24);
         append(chunks, image_chunk());
         return riff(chunks);
       },
       kBad, "WebP is corrupt"},
      {"webp_no_picture", [] { return riff(vp8x(0, 4, 4)); }, kBad, "WebP is"},
      {"webp_flags_exif_has_none",
       [] {
         Bytes chunks = vp8x(8, 40, 24);
         append(chunks, image_chunk());
         return riff(chunks);
       },
       kDecodes, ""},
      {"webp_junk_after_the_end",
       [] {
         Bytes bytes = small_webp();
         append(bytes, Bytes(1000, 'x'));
         return bytes;
       },
       kDecodes, ""},
      {"webp_animation", [] { return animation(20); }, kDecodes, ""},
      {"webp_frame_outside_its_canvas", [] { return animation(30); }, kBad, "WebP is corrupt"},
      {"webp_picture_is_noise", [] { return riff(riff_chunk("VP8 ", Bytes(200, 0x33))); }, kBad,
       "WebP is"},
  };
  return files;
}

void check_odd(const Odd& odd) {
  DecodeScratch scratch;
  Image out;
  const Bytes bytes = odd.bytes();
  const auto report = decode_image(bytes, {}, scratch, out);
  if (odd.code == kDecodes) {
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_GT(out.height * out.width, 0);
    EXPECT_EQ(out.rgb.size(), static_cast<std::size_t>(out.height * out.width * 3));
    return;
  }
  ASSERT_FALSE(report) << out.width << "x" << out.height;
  EXPECT_EQ(static_cast<int>(report.error().code), odd.code) << report.error().message;
  EXPECT_THAT(report.error().message, HasSubstr(odd.says));
}

class OddFile : public ::testing::TestWithParam<std::size_t> {};

TEST_P(OddFile, IsAClearErrorOrDecodes) { check_odd(odd_files()[GetParam()]); }

INSTANTIATE_TEST_SUITE_P(Media, OddFile, ::testing::Range(std::size_t{0}, odd_files().size()),
                         [](const auto& odd) { return std::string(odd_files()[odd.param].name); });

struct Encoded {
  const char* name;
  Bytes bytes;
};

std::vector<Encoded> whole_files() {
  const Image image = picture(12, 20);
  return {{"jpeg", with_segment(encode_jpeg(image), 0xe1, exif_block(6))},
          {"progressive jpeg", encode_jpeg(image, {.progressive = true})},
          {"cmyk jpeg", encode_jpeg(image, {.component_count = 4})},
          {"png", encode_png(image)},
          {"lossy webp", encode_webp(image, false)},
          {"lossless webp", encode_webp(image, true)},
          {"animated webp", animation(20)}};
}

TEST(Truncated, EveryLengthIsAnError) {
  for (const Encoded& file : whole_files()) {
    DecodeScratch scratch;
    Image out;
    ASSERT_TRUE(decode_image(file.bytes, {}, scratch, out)) << file.name;
    for (std::size_t kept = 0; kept < file.bytes.size(); ++kept) {
      // A copy of just that length, so that a sanitizer sees a read beyond it.
      const Bytes part(file.bytes.begin(), file.bytes.begin() + static_cast<std::ptrdiff_t>(kept));
      const auto report = decode_image(part, {}, scratch, out);
      ASSERT_FALSE(report) << file.name << " cut to " << kept << " of " << file.bytes.size();
      EXPECT_EQ(report.error().code, ErrorCode::kBadData) << report.error().message;
    }
  }
}

TEST(Flipped, AnyBitLeavesAnErrorOrAWholePicture) {
  DecodeLimits limits;
  limits.pixels_max = 1 << 20;
  for (const Encoded& file : whole_files()) {
    DecodeScratch scratch;
    Image out;
    int refused = 0;
    for (std::size_t at = 0; at < file.bytes.size(); ++at) {
      for (int bit = 0; bit < 8; bit += 3) {
        Bytes broken = file.bytes;
        broken[at] ^= static_cast<std::uint8_t>(1 << bit);
        const auto report = decode_image(broken, limits, scratch, out);
        if (report) {
          ASSERT_EQ(out.rgb.size(), static_cast<std::size_t>(out.height * out.width * 3));
          ASSERT_GE(report->exif_orientation, 1);
          ASSERT_LE(report->exif_orientation, 8);
        } else {
          ++refused;
          ASSERT_FALSE(report.error().message.empty());
          ASSERT_TRUE(report.error().code == ErrorCode::kBadData ||
                      report.error().code == ErrorCode::kUnavailable)
              << report.error().message;
        }
      }
    }
    EXPECT_GT(refused, 0) << file.name;
  }
}

TEST(Limits, ABombIsRefusedBeforeMemoryIsTaken) {
  for (const Odd& odd : odd_files()) {
    if (std::string_view(odd.name).find("bomb") == std::string_view::npos) continue;
    DecodeScratch scratch;
    Image out;
    EXPECT_FALSE(decode_image(odd.bytes(), {}, scratch, out)) << odd.name;
    EXPECT_EQ(out.rgb.capacity(), 0u) << odd.name;
  }
}

TEST(Limits, AreTheCallers) {
  DecodeScratch scratch;
  Image out;
  const Bytes bytes = small_png();
  EXPECT_TRUE(decode_image(bytes, {.pixels_max = 24 * 40}, scratch, out));
  EXPECT_FALSE(decode_image(bytes, {.pixels_max = 24 * 40 - 1}, scratch, out));
  const auto size = static_cast<std::int64_t>(bytes.size());
  EXPECT_TRUE(decode_image(bytes, {.bytes_max = size}, scratch, out));
  EXPECT_FALSE(decode_image(bytes, {.bytes_max = size - 1}, scratch, out));
}

TEST(Cmyk, IsInvertedWithOrWithoutTheAdobeMarker) {
  // Pillow takes Adobe's inversion for granted, so the marker changes nothing.
  const Image image = picture(16, 16);
  DecodeScratch scratch;
  Image with;
  Image without;
  ASSERT_TRUE(decode_image(encode_jpeg(image, {.component_count = 4}), {}, scratch, with));
  ASSERT_TRUE(decode_image(encode_jpeg(image, {.adobe_marker = false, .component_count = 4}), {},
                           scratch, without));
  EXPECT_EQ(with.rgb, without.rgb);
  // Key 200 of 255 darkens the picture to 200/255 of itself, coding loss aside.
  double difference = 0;
  for (std::size_t i = 0; i < image.rgb.size(); ++i) {
    difference += std::abs(int{with.rgb[i]} - int{image.rgb[i]} * 200 / 255);
  }
  EXPECT_LT(difference / static_cast<double>(image.rgb.size()), 12.0);
}

TEST(Png, EveryKindOfPixelIsReadAsItsHighByte) {
  DecodeScratch scratch;
  Image out;
  // 2-bit grey: 0 1 2 3.
  ASSERT_TRUE(
      decode_image(png_of({png_header(4, 1, 2, 0), png_data({0x1b}, 1)}), {}, scratch, out));
  EXPECT_EQ(out.rgb, (Bytes{0, 0, 0, 85, 85, 85, 170, 170, 170, 255, 255, 255}));
  // 16-bit grey with alpha 0: the high byte, and alpha does not compose.
  ASSERT_TRUE(decode_image(png_of({png_header(1, 1, 16, 4), png_data({0x12, 0xff, 0, 0}, 4)}), {},
                           scratch, out));
  EXPECT_EQ(out.rgb, (Bytes{0x12, 0x12, 0x12}));
  // A palette with a transparent entry: its colour all the same.
  ASSERT_TRUE(decode_image(png_of({png_header(2, 1, 8, 3), png_chunk("PLTE", {1, 2, 3, 4, 5, 6}),
                                   png_chunk("tRNS", {0, 128}), png_data({1, 0}, 2)}),
                           {}, scratch, out));
  EXPECT_EQ(out.rgb, (Bytes{4, 5, 6, 1, 2, 3}));
  // Indices beyond the palette are black, as Pillow has them.
  ASSERT_TRUE(decode_image(
      png_of({png_header(2, 1, 8, 3), png_chunk("PLTE", {9, 9, 9}), png_data({0, 5}, 2)}), {},
      scratch, out));
  EXPECT_EQ(out.rgb, (Bytes{9, 9, 9, 0, 0, 0}));
}

TEST(Webp, TheFirstFrameOfAnAnimationLiesOnBlack) {
  DecodeScratch scratch;
  Image still;
  Image moving;
  moving.rgb.assign(60 * 24 * 3, 77);  // what an earlier picture left behind
  ASSERT_TRUE(decode_image(small_webp(), {}, scratch, still));
  ASSERT_TRUE(decode_image(animation(20), {}, scratch, moving));
  ASSERT_EQ(moving.size(), (Size2{24, 60}));
  for (std::int64_t row = 0; row < 24; ++row) {
    for (std::int64_t i = 0; i < 180; ++i) {
      const auto at = static_cast<std::size_t>(row * 180 + i);
      const int expected = i < 60 ? 0 : still.rgb[static_cast<std::size_t>(row * 120 + i - 60)];
      ASSERT_EQ(int{moving.rgb[at]}, expected) << row << ", " << i;
    }
  }
}

TEST(Exif, OrientationIsFoundInEitherByteOrderOrNotAtAll) {
  EXPECT_EQ(exif_orientation(exif_block(6)), 6);
  EXPECT_EQ(exif_orientation(exif_block(3, false)), 3);
  EXPECT_EQ(exif_orientation(exif_block(0)), 1);
  EXPECT_EQ(exif_orientation(exif_block(9)), 1);
  EXPECT_EQ(exif_orientation(
                Bytes{'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0}),
            8);
  EXPECT_EQ(exif_orientation({}), 1);
  // A directory whose offset points at itself, at the header, and past the end.
  for (const int offset : {0, 4, 8, 200, 255}) {
    Bytes block = exif_block(6, false);
    block[4] = static_cast<std::uint8_t>(offset);
    const int orientation = exif_orientation(block);
    EXPECT_EQ(orientation, offset == 8 ? 6 : 1) << offset;
  }
  Bytes far = exif_block(6, false);
  far[4] = far[5] = far[6] = far[7] = 0xff;
  EXPECT_EQ(exif_orientation(far), 1);
  Bytes many = exif_block(6, false);
  many[8] = many[9] = 0xff;  // claims 65535 entries; the first is there
  EXPECT_EQ(exif_orientation(many), 6);
  const Bytes whole = exif_block(6, false);
  for (std::size_t kept = 0; kept < 22; ++kept) {
    EXPECT_EQ(exif_orientation(cut(whole, kept)), 1) << kept;
  }
}

TEST(Exif, AllOrientationsTurnThePicture) {
  // 2 rows, 3 columns, pixels 1..6.
  const Bytes stored = {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6};
  const std::vector<Bytes> upright = {{3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1}, {4, 5, 6, 1, 2, 3},
                                      {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3}, {6, 3, 5, 2, 4, 1},
                                      {3, 6, 2, 5, 1, 4}};
  for (int orientation = 2; orientation <= 8; ++orientation) {
    Image out;
    apply_orientation(stored, {2, 3}, orientation, out);
    EXPECT_EQ(out.size(), orientation >= 5 ? (Size2{3, 2}) : (Size2{2, 3}));
    Bytes reds;
    for (std::size_t i = 0; i < out.rgb.size(); i += 3) reds.push_back(out.rgb[i]);
    EXPECT_EQ(reds, upright[static_cast<std::size_t>(orientation - 2)]) << orientation;
  }
}

TEST(Exif, AfterThePixelsOfAPngCountsToo) {
  const Image image = picture(4, 6);
  DecodeScratch scratch;
  Image out;
  const auto report = decode_image(png_of({png_header(6, 4, 8, 2), png_data(image.rgb, 18),
                                           png_chunk("eXIf", exif_block(6, false))}),
                                   {}, scratch, out);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->exif_orientation, 6);
  EXPECT_EQ(out.size(), (Size2{6, 4}));
}

TEST(ExtensionWarning, SaysWhatTheContentIs) {
  EXPECT_EQ(extension_warning("a/b.jpg", ImageFormat::kJpeg), std::nullopt);
  EXPECT_EQ(extension_warning("a/b.JPEG", ImageFormat::kJpeg), std::nullopt);
  EXPECT_EQ(extension_warning("a.png/b", ImageFormat::kJpeg), std::nullopt);
  EXPECT_EQ(extension_warning("b.dat", ImageFormat::kWebp), std::nullopt);
  EXPECT_EQ(extension_warning(".png", ImageFormat::kWebp), std::nullopt);
  const auto warning = extension_warning("a/b.png", ImageFormat::kWebp);
  ASSERT_TRUE(warning);
  EXPECT_THAT(*warning, HasSubstr("WebP"));
  EXPECT_THAT(*warning, HasSubstr("a/b.png"));
}

}  // namespace
}  // namespace vivace::media
