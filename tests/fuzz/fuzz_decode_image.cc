// JPEG, PNG and WebP files: a picture is decoded whole within the limits, or refused.
#include <cstddef>
#include <cstdint>
#include <span>

#include "media/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  vivace::media::DecodeLimits limits;
  limits.pixels_max = 1 << 20;  // time goes into formats, not into large pictures
  static vivace::media::DecodeScratch scratch;
  static vivace::media::Image image;
  const auto report = vivace::media::decode_image({data, size}, limits, scratch, image);
  if (report && (report->exif_orientation < 1 || report->exif_orientation > 8)) __builtin_trap();
  return 0;
}
