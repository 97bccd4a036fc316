// What the image targets share: decode with low limits, and check what a caller relies on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "media/decode.h"

namespace vivace::media {

/// The corpus holds whole files. Inputs of other formats are left to their own targets, so that
/// each keeps its own coverage.
inline int fuzz_image(const std::uint8_t* data, std::size_t size, ImageFormat format) {
  const std::span<const std::uint8_t> bytes(data, size);
  const bool ours = format == ImageFormat::kJpeg  ? size > 2 && data[0] == 0xff
                    : format == ImageFormat::kPng ? size > 2 && data[0] == 0x89
                                                  : size > 2 && data[0] == 'R';
  if (!ours) return -1;
  DecodeLimits limits;
  limits.pixels_max = 1 << 16;
  DecodeScratch scratch;
  Image out;
  const auto report = decode_image(bytes, limits, scratch, out);
  if (!report) {
    if (report.error().message.empty()) std::abort();
    return 0;
  }
  const bool whole = out.height > 0 && out.width > 0 &&
                     out.rgb.size() == static_cast<std::size_t>(out.height * out.width * 3) &&
                     out.height * out.width <= limits.pixels_max && report->exif_orientation >= 1 &&
                     report->exif_orientation <= 8;
  if (!whole) std::abort();
  return 0;
}

}  // namespace vivace::media
