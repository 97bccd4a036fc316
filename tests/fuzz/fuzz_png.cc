// Any bytes as a PNG file. Mutations get their chunks' checksums set right most of the time:
// otherwise nearly all of them would end at the first one, unread.
#include "fuzz_image.h"

namespace {

std::uint32_t crc32(const std::uint8_t* bytes, std::size_t count) {
  std::uint32_t crc = 0xffffffffu;
  for (std::size_t i = 0; i < count; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

void repair_checksums(std::uint8_t* data, std::size_t size) {
  std::size_t at = 8;  // behind the signature
  while (at + 12 <= size) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | data[at + i];
    if (length > size - at - 12) return;
    const std::uint32_t crc = crc32(data + at + 4, length + 4);
    for (std::size_t i = 0; i < 4; ++i) {
      data[at + 8 + length + i] = static_cast<std::uint8_t>(crc >> (24 - 8 * i));
    }
    at += length + 12;
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t size_max, unsigned seed) {
  const std::size_t mutated = LLVMFuzzerMutate(data, size, size_max);
  if (seed % 8 != 0) repair_checksums(data, mutated);
  return mutated;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return vivace::media::fuzz_image(data, size, vivace::media::ImageFormat::kPng);
}
