// preprocessor_config.json: what is accepted must make a preprocessor or an error, never a crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/json.h"
#include "media/preprocess.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = vivace::parse_json(text);
  if (!json) return 0;
  const auto config = vivace::media::parse_preprocess_config(*json);
  if (!config) return 0;
  const auto preprocessor = vivace::media::Preprocessor::create(*config);
  if (preprocessor) (void)preprocessor->output_size({640, 427});
  return 0;
}
