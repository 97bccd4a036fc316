// The picture behind `synthetic:` inputs. Integers only, so that it is the same on every machine.
#include <cstdint>

#include "media/source.h"

namespace vivace::media {
namespace {

// SplitMix64 (Steele, Lea and Flood, 2014).
std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

void make_synthetic_image(Size2 size, std::uint64_t seed, Image& out) {
  out.height = size.height;
  out.width = size.width;
  out.rgb.resize(static_cast<std::size_t>(size.height * size.width * 3));
  std::uint64_t state = seed;
  // Per channel a slanted ramp that folds at the ends, with its own slope and start, and noise on
  // top: smooth areas, edges and grain, so that neither a filter nor a file format has it too easy.
  std::int64_t slope_down[3];
  std::int64_t slope_across[3];
  std::int64_t start[3];
  for (int channel = 0; channel < 3; ++channel) {
    slope_down[channel] = static_cast<std::int64_t>(next_random(state) % 7) - 3;
    slope_across[channel] = static_cast<std::int64_t>(next_random(state) % 7) - 3;
    start[channel] = static_cast<std::int64_t>(next_random(state) % 512);
  }
  std::uint8_t* to = out.rgb.data();
  for (std::int64_t row = 0; row < size.height; ++row) {
    for (std::int64_t column = 0; column < size.width; ++column) {
      const std::uint64_t noise = next_random(state);
      for (int channel = 0; channel < 3; ++channel) {
        const std::int64_t ramp =
            start[channel] + row * slope_down[channel] + column * slope_across[channel];
        const std::int64_t phase = ((ramp % 512) + 512) % 512;
        const std::int64_t level = phase < 256 ? phase : 511 - phase;
        const auto grain = static_cast<std::int64_t>(noise >> (16 * channel) & 31) - 16;
        const std::int64_t value = level + grain;
        *to++ = static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
      }
    }
  }
}

}  // namespace vivace::media
