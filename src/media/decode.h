// Bytes of a JPEG, PNG or WebP file to pixels, as transformers' `load_image` gives them: EXIF
// orientation applied; alpha and colour keys dropped, not composed; colour profiles and gamma
// ignored; grey repeated; 16 bits reduced to the high byte. The format is told by the content,
// never by the name.
//
// A file is decoded whole or refused: data that end early or contradict themselves are an error,
// since an embedding of half a picture would look like any other. No error names the file; the
// caller, who knows it, adds it by with_context().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "media/image.h"

namespace vivace::media {

enum class ImageFormat { kJpeg, kPng, kWebp };
/// "JPEG", "PNG", "WebP".
std::string_view name_of(ImageFormat format);

struct DecodeLimits {
  /// Refused from the header, before memory for the pixels is taken. The default is where Pillow
  /// itself refuses (PIL/Image.py: twice MAX_IMAGE_PIXELS).
  std::int64_t pixels_max = 178'956'970;
  /// The largest encoded file.
  std::int64_t bytes_max = std::int64_t{1} << 30;
};

struct DecodeReport {
  ImageFormat format = ImageFormat::kJpeg;
  /// As found in the file (1..8; 1 where there is none) and already applied to the pixels.
  int exif_orientation = 1;
};

/// Buffers that decode_image() keeps between calls. One per thread.
struct DecodeScratch {
  std::vector<std::uint8_t> turned;  ///< pixels as stored, where the orientation is not 1
  std::vector<std::uint8_t> row;     ///< one row of a CMYK JPEG
};

/// Decodes one picture into `out`, whose former contents are lost even if this fails.
/// Errors: kBadData (corrupt, truncated, too large, no picture), kUnavailable (a picture or video
/// format, or a variant of JPEG, that this build cannot read), kTemporary (out of memory).
Result<DecodeReport> decode_image(std::span<const std::uint8_t> bytes, const DecodeLimits& limits,
                                  DecodeScratch& scratch, Image& out);

/// What to tell the user when a file's extension names another image format than its content has;
/// nothing when they agree or the extension is none of ours.
std::optional<std::string> extension_warning(std::string_view path, ImageFormat format);

/// True for the extensions of files that decode_image() can read: jpg, jpeg, jpe, jfif, png, webp,
/// in either case.
bool has_image_extension(std::string_view path);

}  // namespace vivace::media
