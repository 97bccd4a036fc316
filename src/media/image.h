// A decoded picture: 8-bit RGB, row by row, no padding between rows. One Image is reused from
// request to request; its vector keeps its capacity, so a stream of pictures stops allocating.
#pragma once

#include <cstdint>
#include <vector>

#include "core/units.h"

namespace vivace::media {

struct Image {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::uint8_t> rgb;  // [height, width, 3]

  Size2 size() const { return {height, width}; }
};

}  // namespace vivace::media
