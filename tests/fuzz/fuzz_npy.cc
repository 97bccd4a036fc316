// A NumPy file: the tensor that is accepted must lie inside the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "pipeline/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const auto tensor = vivace::pipeline::parse_npy(file);
  if (!tensor) return 0;
  const auto* begin = static_cast<const std::byte*>(tensor->data());
  const std::size_t bytes = tensor->bytes();
  if (begin < file.data() || bytes > size - static_cast<std::size_t>(begin - file.data())) {
    std::abort();
  }
  return 0;
}
