// A safetensors file: every tensor that the reader accepts must lie inside the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "model/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto index = vivace::model::parse_safetensors(std::as_bytes(std::span(data, size)));
  if (!index) return 0;
  for (const vivace::model::TensorEntry& tensor : index->tensors) {
    if (tensor.begin > size || tensor.bytes > size - tensor.begin) std::abort();
  }
  return 0;
}
