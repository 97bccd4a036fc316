// JPEG by libjpeg-turbo at its defaults (accurate integer DCT, fancy upsampling), which is what
// Pillow uses too, so the pixels are the same byte for byte.
//
// libjpeg reports errors by a call that must not return. Here it jumps (setjmp) out of small
// functions that hold nothing with a destructor; everything that owns memory lives outside of them.
//
// What counts as corrupt: Pillow refuses a file that ends early, but lets the decoder fill in for
// entropy-coded data that make no sense. We refuse both: libjpeg's warnings about them are errors
// here, since such a picture is partly grey. Its other warnings (bytes between markers, an odd JFIF
// version) leave every pixel known and are ignored.
#include <csetjmp>
#include <cstdio>
// jpeglib.h needs <cstdio> before it.
#include <jpeglib.h>
// jerror.h needs jpeglib.h before it.
#include <jerror.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "media/decode_internal.h"

// NOLINTBEGIN(cert-err52-cpp): libjpeg knows no other way out than a jump.
namespace vivace::media {
namespace {

// A progressive file may claim any number of scans over the whole picture in a few bytes each;
// real ones have about ten.
constexpr int kScansMax = 200;

struct JpegReader {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf escape{};
  int error_code = 0;
  char message[JMSG_LENGTH_MAX] = {};

  JpegReader() = default;
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  // Does nothing to a struct that was never created: `mem` is null then.
  ~JpegReader() { jpeg_destroy_decompress(&info); }
};

[[noreturn]] void leave(j_common_ptr info) {
  auto* reader = static_cast<JpegReader*>(info->client_data);
  reader->error_code = info->err->msg_code;
  info->err->format_message(info, reader->message);
  std::longjmp(reader->escape, 1);
}

bool loses_pixels(int message_code) {
  switch (message_code) {
    case JWRN_ARITH_BAD_CODE:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC:
      return true;
    default:
      return false;
  }
}

void take_message(j_common_ptr info, int level) {
  if (level < 0 && loses_pixels(info->err->msg_code)) leave(info);
}

void print_nothing(j_common_ptr) {}

void watch_scans(j_common_ptr info) {
  auto* reader = static_cast<JpegReader*>(info->client_data);
  if (reader->info.input_scan_number > kScansMax) {
    info->err->msg_code = 0;
    reader->error_code = 0;
    std::snprintf(reader->message, sizeof reader->message, "more than %d scans", kScansMax);
    std::longjmp(reader->escape, 1);
  }
}

bool read_header(JpegReader& reader, const std::uint8_t* bytes, std::size_t byte_count) {
  if (setjmp(reader.escape) != 0) return false;
  reader.info.err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = leave;
  reader.errors.emit_message = take_message;
  reader.errors.output_message = print_nothing;
  reader.info.client_data = &reader;
  jpeg_create_decompress(&reader.info);
  reader.progress.progress_monitor = watch_scans;
  reader.info.progress = &reader.progress;
  jpeg_mem_src(&reader.info, bytes, static_cast<unsigned long>(byte_count));
  jpeg_save_markers(&reader.info, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&reader.info, TRUE);
  return true;
}

// What Pillow's cmyk2rgb computes (libImaging/Convert.c) from the inverted samples that files
// carry by Adobe's convention, marker or not: c * k / 255, rounded.
std::uint8_t scaled(unsigned sample, unsigned key) {
  const unsigned product = (255 - sample) * key + 128;
  return static_cast<std::uint8_t>(
      std::max(0, static_cast<int>(key) - static_cast<int>(((product >> 8) + product) >> 8)));
}

void cmyk_row_to_rgb(const std::uint8_t* cmyk, std::uint8_t* rgb, std::size_t pixel_count) {
  for (std::size_t i = 0; i < pixel_count; ++i) {
    for (std::size_t c = 0; c < 3; ++c) rgb[3 * i + c] = scaled(cmyk[4 * i + c], cmyk[4 * i + 3]);
  }
}

bool read_pixels(JpegReader& reader, std::uint8_t* rgb, std::uint8_t* cmyk_row) {
  if (setjmp(reader.escape) != 0) return false;
  jpeg_decompress_struct& info = reader.info;
  jpeg_start_decompress(&info);
  const std::size_t row_bytes = std::size_t{info.output_width} * 3;
  constexpr JDIMENSION kRowsAtOnce = 16;  // an iMCU row of the commonest sampling
  while (info.output_scanline < info.output_height) {
    JSAMPROW rows[kRowsAtOnce];
    if (cmyk_row != nullptr) {
      rows[0] = cmyk_row;
      const std::size_t row = info.output_scanline;
      jpeg_read_scanlines(&info, rows, 1);
      cmyk_row_to_rgb(cmyk_row, rgb + row * row_bytes, info.output_width);
      continue;
    }
    const JDIMENSION count = std::min(kRowsAtOnce, info.output_height - info.output_scanline);
    for (JDIMENSION i = 0; i < count; ++i) rows[i] = rgb + (info.output_scanline + i) * row_bytes;
    jpeg_read_scanlines(&info, rows, count);
  }
  jpeg_finish_decompress(&info);
  return true;
}

tl::unexpected<Error> jpeg_error(const JpegReader& reader) {
  switch (reader.error_code) {
    case JWRN_JPEG_EOF:
    case JERR_INPUT_EOF:
      return fail(ErrorCode::kBadData, "the JPEG is truncated: its data end early");
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
    case JERR_ARITH_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOTIMPL:
      return fail(ErrorCode::kUnavailable,
                  ErrorParts{.what = "a variant of JPEG that libjpeg-turbo does not read here",
                             .expected = {},
                             .got = reader.message,
                             .advice = "convert it to 8-bit baseline or progressive JPEG"});
    case JERR_IMAGE_TOO_BIG:
      return fail(ErrorCode::kBadData,
                  "the JPEG is too large to decode: " + std::string(reader.message));
    default: {
      std::string_view text = reader.message;
      constexpr std::string_view kSaidAlready = "Corrupt JPEG data: ";
      if (text.starts_with(kSaidAlready)) text.remove_prefix(kSaidAlready.size());
      return fail(ErrorCode::kBadData, "the JPEG is corrupt: " + std::string(text));
    }
  }
}

int orientation_of(const jpeg_decompress_struct& info) {
  for (const jpeg_marker_struct* marker = info.marker_list; marker != nullptr;
       marker = marker->next) {
    const std::span<const std::uint8_t> block(marker->data, marker->data_length);
    constexpr std::uint8_t kExif[] = {'E', 'x', 'i', 'f', 0, 0};
    if (marker->marker == JPEG_APP0 + 1 && block.size() >= sizeof kExif &&
        std::equal(std::begin(kExif), std::end(kExif), block.begin())) {
      return exif_orientation(block);
    }
  }
  return 1;
}

}  // namespace

Result<int> decode_jpeg(std::span<const std::uint8_t> bytes, const DecodeLimits& limits,
                        DecodeScratch& scratch, Image& out) {
  JpegReader reader;
  if (!read_header(reader, bytes.data(), bytes.size())) return jpeg_error(reader);
  jpeg_decompress_struct& info = reader.info;
  VIVACE_CHECK_OK(claim_pixels({info.image_height, info.image_width}, limits, out));
  std::uint8_t* cmyk_row = nullptr;
  if (info.num_components == 4) {
    info.out_color_space = JCS_CMYK;
    scratch.row.resize(std::size_t{info.image_width} * 4);
    cmyk_row = scratch.row.data();
  } else if (info.num_components == 1 || info.num_components == 3) {
    info.out_color_space = JCS_RGB;
  } else {
    return fail(ErrorCode::kUnavailable,
                ErrorParts{.what = "the JPEG's number of components is unknown",
                           .expected = "1 (grey), 3 (colour) or 4 (CMYK)",
                           .got = std::to_string(info.num_components),
                           .advice = {}});
  }
  const int orientation = orientation_of(info);
  if (!read_pixels(reader, out.rgb.data(), cmyk_row)) return jpeg_error(reader);
  return orientation;
}

}  // namespace vivace::media
// NOLINTEND(cert-err52-cpp)
