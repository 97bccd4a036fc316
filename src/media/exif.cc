// EXIF orientation: finding it, and turning the pixels by it. Only the first directory of the block
// is read, entry by entry, so no chain of offsets can make a loop.
#include <algorithm>
#include <array>
#include <cstring>

#include "core/check.h"
#include "media/decode_internal.h"

namespace vivace::media {
namespace {

// Reads unsigned numbers of either byte order, and zero beyond the end.
class TiffReader {
 public:
  TiffReader(std::span<const std::uint8_t> bytes, bool big_endian)
      : bytes_(bytes), big_endian_(big_endian) {}

  bool holds(std::size_t offset, std::size_t count) const {
    return offset <= bytes_.size() && count <= bytes_.size() - offset;
  }

  std::uint32_t number(std::size_t offset, std::size_t byte_count) const {
    if (!holds(offset, byte_count)) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < byte_count; ++i) {
      const std::size_t at = big_endian_ ? i : byte_count - 1 - i;
      value = value << 8 | bytes_[offset + at];
    }
    return value;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  bool big_endian_;
};

}  // namespace

int exif_orientation(std::span<const std::uint8_t> block) {
  constexpr std::array<std::uint8_t, 6> kPrefix = {'E', 'x', 'i', 'f', 0, 0};
  while (block.size() >= kPrefix.size() &&
         std::equal(kPrefix.begin(), kPrefix.end(), block.begin())) {
    block = block.subspan(kPrefix.size());
  }
  if (block.size() < 8) return 1;
  const bool big_endian = block[0] == 'M' && block[1] == 'M';
  if (!big_endian && !(block[0] == 'I' && block[1] == 'I')) return 1;
  const TiffReader reader(block, big_endian);
  if (reader.number(2, 2) != 42) return 1;

  constexpr std::uint32_t kOrientationTag = 0x0112;
  constexpr std::size_t kEntryBytes = 12;
  const std::size_t directory = reader.number(4, 4);
  const std::size_t entry_count = reader.number(directory, 2);
  int orientation = 1;
  for (std::size_t i = 0; i < entry_count; ++i) {
    const std::size_t entry = directory + 2 + i * kEntryBytes;
    if (!reader.holds(entry, kEntryBytes)) break;
    if (reader.number(entry, 2) != kOrientationTag || reader.number(entry + 4, 4) != 1) continue;
    // A SHORT by the standard; writers that store a BYTE or LONG mean the same.
    const std::uint32_t type = reader.number(entry + 2, 2);
    const std::size_t width_bytes = type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : 0;
    if (width_bytes == 0) continue;
    const std::uint32_t value = reader.number(entry + 8, width_bytes);
    orientation = value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return orientation;
}

void apply_orientation(std::span<const std::uint8_t> source, Size2 source_size, int orientation,
                       Image& out) {
  VIVACE_CHECK(orientation >= 2 && orientation <= 8);
  const std::int64_t height = source_size.height;
  const std::int64_t width = source_size.width;
  const bool transposed = orientation >= 5;
  out.height = transposed ? width : height;
  out.width = transposed ? height : width;
  out.rgb.resize(source.size());

  // Output (0, 0) is one of the four corners of the source; a step along an output row or column is
  // a fixed step in the source. (6, say, turns clockwise: its first row is the left column read
  // upwards, from the bottom left corner.)
  const bool bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const std::int64_t down = (bottom ? -width : width) * 3;
  const std::int64_t along = right ? -3 : 3;
  const std::int64_t row_step = transposed ? along : down;
  const std::int64_t column_step = transposed ? down : along;
  const std::uint8_t* corner =
      source.data() + ((bottom ? height - 1 : 0) * width + (right ? width - 1 : 0)) * 3;

  // In tiles, because a transposed row touches one source row per pixel.
  constexpr std::int64_t kTile = 32;
  for (std::int64_t row0 = 0; row0 < out.height; row0 += kTile) {
    for (std::int64_t column0 = 0; column0 < out.width; column0 += kTile) {
      const std::int64_t row1 = std::min(row0 + kTile, out.height);
      const std::int64_t column1 = std::min(column0 + kTile, out.width);
      for (std::int64_t row = row0; row < row1; ++row) {
        const std::uint8_t* from = corner + row * row_step + column0 * column_step;
        std::uint8_t* to = out.rgb.data() + (row * out.width + column0) * 3;
        for (std::int64_t column = column0; column < column1; ++column) {
          std::memcpy(to, from, 3);
          from += column_step;
          to += 3;
        }
      }
    }
  }
}

}  // namespace vivace::media
