// What decode.cc and the codecs behind it share. Not for other folders.
#pragma once

#include <cstdint>
#include <span>

#include "media/decode.h"

namespace vivace::media {

// Each codec fills `out` with the pixels as stored and returns the EXIF orientation found (1..8).
Result<int> decode_jpeg(std::span<const std::uint8_t> bytes, const DecodeLimits& limits,
                        DecodeScratch& scratch, Image& out);
Result<int> decode_png(std::span<const std::uint8_t> bytes, const DecodeLimits& limits, Image& out);
Result<int> decode_webp(std::span<const std::uint8_t> bytes, const DecodeLimits& limits,
                        Image& out);

/// The orientation (1..8) in an EXIF block, with or without its "Exif\0\0"; 1 where the block has
/// none or is garbage: a bad note on how a picture was held does not make its pixels bad.
int exif_orientation(std::span<const std::uint8_t> block);

/// Turns and mirrors `source` [source_size, 3] so that it stands upright; 2 <= orientation <= 8.
void apply_orientation(std::span<const std::uint8_t> source, Size2 source_size, int orientation,
                       Image& out);

/// Refuses an empty or too large picture by what its header claims; otherwise sizes `out` for it.
Result<void> claim_pixels(Size2 size, const DecodeLimits& limits, Image& out);

}  // namespace vivace::media
