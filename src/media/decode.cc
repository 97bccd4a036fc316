// Tells the format by its first bytes, names the ones that are not ours, and hands the rest to the
// codec; turns the result upright.
#include "media/decode.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "core/text.h"
#include "media/decode_internal.h"

namespace vivace::media {
namespace {

constexpr std::string_view kSupported = "a JPEG, PNG or WebP image";

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  std::string_view name;  // with its article
  ErrorCode code;         // kUnavailable: a picture or film, in a format that is not ours
};

// The names of formats that users pass by mistake. Longer signatures before shorter ones.
using namespace std::string_view_literals;
constexpr std::array kForeignFormats = {
    Signature{0, "GIF87a"sv, "a GIF image", ErrorCode::kUnavailable},
    Signature{0, "GIF89a"sv, "a GIF image", ErrorCode::kUnavailable},
    Signature{0, "II*\0"sv, "a TIFF image", ErrorCode::kUnavailable},
    Signature{0, "MM\0*"sv, "a TIFF image", ErrorCode::kUnavailable},
    Signature{0, "\xff\x0a"sv, "a JPEG XL image", ErrorCode::kUnavailable},
    Signature{0, "\0\0\0\x0cJXL "sv, "a JPEG XL image", ErrorCode::kUnavailable},
    Signature{0, "\0\0\0\x0cjP  "sv, "a JPEG 2000 image", ErrorCode::kUnavailable},
    Signature{4, "ftypheic"sv, "a HEIC image", ErrorCode::kUnavailable},
    Signature{4, "ftypheix"sv, "a HEIC image", ErrorCode::kUnavailable},
    Signature{4, "ftypmif1"sv, "a HEIF image", ErrorCode::kUnavailable},
    Signature{4, "ftypavif"sv, "an AVIF image", ErrorCode::kUnavailable},
    Signature{4, "ftypavis"sv, "an AVIF image", ErrorCode::kUnavailable},
    Signature{4, "ftyp"sv, "an MP4 or MOV video", ErrorCode::kUnavailable},
    Signature{0, "\x1a\x45\xdf\xa3"sv, "a Matroska or WebM video", ErrorCode::kUnavailable},
    Signature{8, "AVI "sv, "an AVI video", ErrorCode::kUnavailable},
    Signature{0, "BM"sv, "a BMP image", ErrorCode::kUnavailable},
    Signature{0, "%PDF"sv, "a PDF document", ErrorCode::kBadData},
    Signature{0, "\x93NUMPY"sv, "a NumPy array", ErrorCode::kBadData},
    Signature{0, "PK\x03\x04"sv, "a zip archive", ErrorCode::kBadData},
    Signature{0, "\x1f\x8b"sv, "gzip-compressed data", ErrorCode::kBadData},
    Signature{0, "version https://git-lfs"sv, "a Git LFS pointer, not the file itself",
              ErrorCode::kBadData},
};

bool has_bytes_at(std::span<const std::uint8_t> bytes, std::size_t offset, std::string_view what) {
  if (bytes.size() < offset || bytes.size() - offset < what.size()) return false;
  return std::equal(what.begin(), what.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

std::optional<ImageFormat> format_of(std::span<const std::uint8_t> bytes) {
  if (has_bytes_at(bytes, 0, "\xff\xd8\xff")) return ImageFormat::kJpeg;
  if (has_bytes_at(bytes, 0, "\x89PNG\r\n\x1a\n")) return ImageFormat::kPng;
  if (has_bytes_at(bytes, 0, "RIFF") && has_bytes_at(bytes, 8, "WEBP")) return ImageFormat::kWebp;
  return std::nullopt;
}

bool looks_like_html(std::string_view start) {
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  const std::string text = lower(start.substr(first, 20));
  return text.starts_with("<!doctype html") || text.starts_with("<html") ||
         text.starts_with("<head");
}

bool looks_like_text(std::string_view start) {
  return std::all_of(start.begin(), start.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || byte == '\t' || byte == '\n' || byte == '\r';
  });
}

tl::unexpected<Error> foreign(std::span<const std::uint8_t> bytes) {
  for (const Signature& signature : kForeignFormats) {
    if (!has_bytes_at(bytes, signature.offset, signature.bytes)) continue;
    const bool picture = signature.code == ErrorCode::kUnavailable;
    return fail(signature.code,
                ErrorParts{.what = "not an image format that can be read here",
                           .expected = std::string(kSupported),
                           .got = std::string(signature.name),
                           .advice = picture ? "convert it to JPEG, PNG or WebP" : ""});
  }
  std::string start;
  for (const std::uint8_t byte : bytes.first(std::min<std::size_t>(bytes.size(), 64))) {
    start.push_back(static_cast<char>(byte));
  }
  ErrorParts parts{
      .what = "not an image", .expected = std::string(kSupported), .got = {}, .advice = {}};
  if (looks_like_html(start)) {
    parts.got = "an HTML page";
    parts.advice = "a failed download often leaves one; fetch the image itself";
  } else if (looks_like_text(start)) {
    parts.got = "text that begins " + quote(start, 24);
  } else {
    parts.got = "unknown content that begins " + quote(start, 24);
  }
  return fail(ErrorCode::kBadData, parts);
}

Result<int> decode_stored(ImageFormat format, std::span<const std::uint8_t> bytes,
                          const DecodeLimits& limits, DecodeScratch& scratch, Image& out) {
  switch (format) {
    case ImageFormat::kJpeg:
      return decode_jpeg(bytes, limits, scratch, out);
    case ImageFormat::kPng:
      return decode_png(bytes, limits, out);
    case ImageFormat::kWebp:
      return decode_webp(bytes, limits, out);
  }
  return fail(ErrorCode::kInternal, "no such image format");
}

std::string extension_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  return lower(name.substr(dot + 1));
}

std::optional<ImageFormat> format_of_extension(std::string_view path) {
  const std::string extension = extension_of(path);
  if (extension == "jpg" || extension == "jpeg" || extension == "jpe" || extension == "jfif") {
    return ImageFormat::kJpeg;
  }
  if (extension == "png") return ImageFormat::kPng;
  if (extension == "webp") return ImageFormat::kWebp;
  return std::nullopt;
}

}  // namespace

std::string_view name_of(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "JPEG";
    case ImageFormat::kPng:
      return "PNG";
    case ImageFormat::kWebp:
      return "WebP";
  }
  return "unknown";
}

Result<DecodeReport> decode_image(std::span<const std::uint8_t> bytes, const DecodeLimits& limits,
                                  DecodeScratch& scratch, Image& out) {
  if (bytes.empty()) {
    return fail(ErrorCode::kBadData, ErrorParts{.what = "the image is empty",
                                                .expected = std::string(kSupported),
                                                .got = "0 bytes",
                                                .advice = {}});
  }
  if (static_cast<std::uint64_t>(bytes.size()) > static_cast<std::uint64_t>(limits.bytes_max)) {
    return fail(ErrorCode::kBadData,
                ErrorParts{.what = "the encoded image is too large",
                           .expected = "at most " + std::to_string(limits.bytes_max) + " bytes",
                           .got = std::to_string(bytes.size()),
                           .advice = {}});
  }
  const std::optional<ImageFormat> format = format_of(bytes);
  if (!format) return foreign(bytes);
  try {
    VIVACE_TRY(const int orientation, decode_stored(*format, bytes, limits, scratch, out));
    if (orientation != 1) {
      const Size2 stored = out.size();
      std::swap(out.rgb, scratch.turned);
      apply_orientation(scratch.turned, stored, orientation, out);
    }
    return DecodeReport{*format, orientation};
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kTemporary, "not enough memory to decode the image");
  }
}

Result<void> claim_pixels(Size2 size, const DecodeLimits& limits, Image& out) {
  if (size.height <= 0 || size.width <= 0) {
    return fail(ErrorCode::kBadData, "the image has no pixels (its header says " +
                                         std::to_string(size.width) + "x" +
                                         std::to_string(size.height) + ")");
  }
  // By division: the product of a hostile header could overflow.
  if (size.height > limits.pixels_max / size.width) {
    return fail(ErrorCode::kBadData,
                ErrorParts{.what = "the image is too large to decode",
                           .expected = "at most " + std::to_string(limits.pixels_max) + " pixels",
                           .got = "a header that says " + std::to_string(size.width) + "x" +
                                  std::to_string(size.height),
                           .advice = "make it smaller first"});
  }
  out.height = size.height;
  out.width = size.width;
  out.rgb.resize(static_cast<std::size_t>(size.height * size.width * 3));
  return {};
}

std::optional<std::string> extension_warning(std::string_view path, ImageFormat format) {
  const std::optional<ImageFormat> named = format_of_extension(path);
  if (!named || *named == format) return std::nullopt;
  return std::string(path) + ": the name says " + std::string(name_of(*named)) +
         ", the content is " + std::string(name_of(format)) + "; read as " +
         std::string(name_of(format));
}

bool has_image_extension(std::string_view path) { return format_of_extension(path).has_value(); }

}  // namespace vivace::media
