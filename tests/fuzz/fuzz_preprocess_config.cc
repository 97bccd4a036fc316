// preprocessor_config.json: what is accepted must make a preprocessor or an error, never a crash.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "media/preprocess.h"
#include "media/source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = vivace::parse_json(text);
  if (!json) return 0;
  const auto config = vivace::media::parse_preprocess_config(*json);
  if (!config) return 0;
  const auto preprocessor = vivace::media::Preprocessor::create(*config);
  if (!preprocessor) return 0;
  (void)preprocessor->output_size({640, 427});

  // What is accepted also runs, and to finite numbers. Large outputs are lawful and slow.
  vivace::media::Image image;
  vivace::media::make_synthetic_image({5, 7}, 1, image);
  const auto output = preprocessor->output_size(image.size());
  if (!output || output->height * output->width > 1 << 16) return 0;
  std::vector<float> pixels(static_cast<std::size_t>(3 * output->height * output->width));
  vivace::media::PreprocessScratch scratch;
  if (!preprocessor->run(image, scratch, pixels)) __builtin_trap();
  for (const float value : pixels) {
    if (!std::isfinite(value)) __builtin_trap();
  }
  return 0;
}
