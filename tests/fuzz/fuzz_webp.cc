// Any bytes as a WebP file.
#include "fuzz_image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return vivace::media::fuzz_image(data, size, vivace::media::ImageFormat::kWebp);
}
