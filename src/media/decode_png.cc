// PNG by libpng. Every ancillary chunk but eXIf is skipped unread: transparency, profiles and gamma
// do not change the pixels that are wanted, and skipping them leaves no compressed text or profile
// to be a bomb or a complaint.
//
// libpng, too, leaves by longjmp: its calls sit in small functions that hold nothing with a
// destructor.
#include <png.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "media/decode_internal.h"

// NOLINTBEGIN(cert-err52-cpp): libpng knows no other way out than a jump.
namespace vivace::media {
namespace {

struct PngReader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::span<const std::uint8_t> rest;
  bool ended_early = false;
  char message[200] = {};
  char warning[200] = {};

  PngReader() = default;
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
};

void copy_text(const char* text, char (&into)[200]) {
  std::snprintf(into, sizeof into, "%s", text == nullptr ? "" : text);
}

[[noreturn]] void leave(png_structp png, png_const_charp text) {
  copy_text(text, static_cast<PngReader*>(png_get_error_ptr(png))->message);
  png_longjmp(png, 1);
}

// Kept, not shown: an error is often vaguer than the warning before it.
void keep_warning(png_structp png, png_const_charp text) {
  copy_text(text, static_cast<PngReader*>(png_get_error_ptr(png))->warning);
}

void read_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
  if (reader->rest.size() < count) {
    reader->ended_early = true;
    png_error(png, "the data end early");
  }
  std::memcpy(to, reader->rest.data(), count);
  reader->rest = reader->rest.subspan(count);
}

bool read_header(PngReader& reader) {
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, leave, keep_warning);
  if (reader.png == nullptr) return false;
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  reader.info = png_create_info_struct(reader.png);
  if (reader.info == nullptr) return false;
  png_set_read_fn(reader.png, &reader, read_bytes);
  constexpr png_byte kTransparency[] = "tRNS";
  constexpr png_byte kExif[] = "eXIf";
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, kTransparency, 1);
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_AS_DEFAULT, kExif, 1);
  png_read_info(reader.png, reader.info);
  return true;
}

bool read_pixels(PngReader& reader, std::uint8_t* rgb) {
  png_structp png = reader.png;
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  const png_byte colour = png_get_color_type(png, reader.info);
  if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (colour == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png);
  if ((colour & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(png);
  if ((colour & PNG_COLOR_MASK_ALPHA) != 0) png_set_strip_alpha(png);
  png_set_strip_16(png);  // the high byte, unlike png_set_scale_16
  const int pass_count = png_set_interlace_handling(png);
  png_read_update_info(png, reader.info);
  const png_uint_32 height = png_get_image_height(png, reader.info);
  const std::size_t row_bytes = std::size_t{png_get_image_width(png, reader.info)} * 3;
  if (png_get_rowbytes(png, reader.info) != row_bytes) {
    png_error(png, "rows are not three bytes a pixel");
  }
  for (int pass = 0; pass < pass_count; ++pass) {
    for (png_uint_32 row = 0; row < height; ++row) {
      png_read_row(png, rgb + row * row_bytes, nullptr);
    }
  }
  // To the end: an eXIf chunk may follow the pixels, and a file without IEND is truncated.
  png_read_end(png, reader.info);
  return true;
}

tl::unexpected<Error> png_failure(const PngReader& reader) {
  if (reader.ended_early) {
    return fail(ErrorCode::kBadData, "the PNG is truncated: its data end early");
  }
  std::string text = reader.message[0] != 0 ? reader.message : "libpng cannot start";
  if (reader.warning[0] != 0) text += std::string(" (") + reader.warning + ")";
  return fail(ErrorCode::kBadData, "the PNG is corrupt: " + text);
}

}  // namespace

Result<int> decode_png(std::span<const std::uint8_t> bytes, const DecodeLimits& limits,
                       Image& out) {
  PngReader reader;
  reader.rest = bytes;
  if (!read_header(reader)) return png_failure(reader);
  VIVACE_CHECK_OK(claim_pixels(
      {png_get_image_height(reader.png, reader.info), png_get_image_width(reader.png, reader.info)},
      limits, out));
  if (!read_pixels(reader, out.rgb.data())) return png_failure(reader);
  png_uint_32 exif_bytes = 0;
  png_bytep exif = nullptr;
  if (png_get_eXIf_1(reader.png, reader.info, &exif_bytes, &exif) == 0) return 1;
  return exif_orientation({exif, exif_bytes});
}

}  // namespace vivace::media
// NOLINTEND(cert-err52-cpp)
