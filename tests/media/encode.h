// Small pictures in every format, made in memory, for tests that then break them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <jpeglib.h>
#include <webp/encode.h>

#include "media/image.h"
#include "media/source.h"

namespace vivace::media::test {

using Bytes = std::vector<std::uint8_t>;

inline void append(Bytes& to, const Bytes& from) { to.insert(to.end(), from.begin(), from.end()); }
inline Bytes bytes_of(std::string_view text) { return Bytes(text.begin(), text.end()); }

inline void append_big_endian(Bytes& to, std::uint32_t value, int byte_count = 4) {
  for (int shift = 8 * (byte_count - 1); shift >= 0; shift -= 8) {
    to.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

inline std::uint32_t crc32(const Bytes& bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

/// A PNG chunk; `crc_error` is added to its checksum.
inline Bytes png_chunk(std::string_view type, const Bytes& data, std::uint32_t crc_error = 0) {
  Bytes body = bytes_of(type);
  append(body, data);
  Bytes chunk;
  append_big_endian(chunk, static_cast<std::uint32_t>(data.size()));
  append(chunk, body);
  append_big_endian(chunk, crc32(body) + crc_error);
  return chunk;
}

/// A zlib stream of stored (not compressed) blocks.
inline Bytes zlib_stored(const Bytes& data) {
  Bytes out = {0x78, 0x01};
  std::size_t at = 0;
  do {
    const std::size_t count = std::min<std::size_t>(data.size() - at, 65535);
    const auto size = static_cast<std::uint16_t>(count);
    out.push_back(at + count == data.size() ? 1 : 0);
    for (const int value : {int{size}, ~int{size}}) {
      out.push_back(static_cast<std::uint8_t>(value & 255));
      out.push_back(static_cast<std::uint8_t>(value >> 8 & 255));
    }
    out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(at),
               data.begin() + static_cast<std::ptrdiff_t>(at + count));
    at += count;
  } while (at < data.size());
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const std::uint8_t byte : data) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  append_big_endian(out, b << 16 | a);
  return out;
}

inline Bytes png_signature() { return {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}; }

inline Bytes png_header(std::uint32_t width, std::uint32_t height, int depth, int colour,
                        int interlace = 0) {
  Bytes data;
  append_big_endian(data, width);
  append_big_endian(data, height);
  for (const int value : {depth, colour, 0, 0, interlace}) {
    data.push_back(static_cast<std::uint8_t>(value));
  }
  return png_chunk("IHDR", data);
}

/// A PNG of these chunks, signature and IEND added.
inline Bytes png_of(const std::vector<Bytes>& chunks) {
  Bytes out = png_signature();
  for (const Bytes& chunk : chunks) append(out, chunk);
  append(out, png_chunk("IEND", {}));
  return out;
}

/// The IDAT chunk of rows that are not filtered.
inline Bytes png_data(const Bytes& rows, std::size_t row_bytes) {
  Bytes filtered;
  for (std::size_t at = 0; at < rows.size(); at += row_bytes) {
    filtered.push_back(0);
    for (std::size_t i = 0; i < row_bytes; ++i) filtered.push_back(rows[at + i]);
  }
  return png_chunk("IDAT", zlib_stored(filtered));
}

inline Image picture(std::int64_t height, std::int64_t width) {
  Image image;
  make_synthetic_image({height, width}, 7, image);
  return image;
}

inline Bytes encode_png(const Image& image) {
  return png_of({png_header(static_cast<std::uint32_t>(image.width),
                            static_cast<std::uint32_t>(image.height), 8, 2),
                 png_data(image.rgb, static_cast<std::size_t>(image.width) * 3)});
}

struct JpegOptions {
  bool progressive = false;
  bool arithmetic = false;
  bool many_scans = false;  // progressive, by 253 scans of one coefficient each
  bool adobe_marker = true;
  int component_count = 3;  // 1 grey, 3 colour, 4 CMYK
};

inline Bytes encode_jpeg(const Image& image, const JpegOptions& options = {}) {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = options.component_count;
  info.in_color_space = options.component_count == 4   ? JCS_CMYK
                        : options.component_count == 1 ? JCS_GRAYSCALE
                                                       : JCS_RGB;
  jpeg_set_defaults(&info);
  info.arith_code = options.arithmetic ? TRUE : FALSE;
  if (options.progressive) jpeg_simple_progression(&info);
  std::vector<jpeg_scan_info> scans;
  if (options.many_scans) {
    scans.push_back({3, {0, 1, 2, 0}, 0, 0, 0, 0});
    for (int component = 0; component < 3; ++component) {
      for (int i = 1; i < 64; ++i) scans.push_back({1, {component, 0, 0, 0}, i, i, 0, 1});
      if (component > 0) continue;
      for (int i = 1; i < 64; ++i) scans.push_back({1, {component, 0, 0, 0}, i, i, 1, 0});
    }
    info.scan_info = scans.data();
    info.num_scans = static_cast<int>(scans.size());
  }
  if (!options.adobe_marker) info.write_Adobe_marker = FALSE;
  jpeg_start_compress(&info, TRUE);
  Bytes row(static_cast<std::size_t>(image.width) * 4);
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      for (int c = 0; c < options.component_count; ++c) {
        row[static_cast<std::size_t>(x * options.component_count + c)] =
            c == 3 ? 200 : image.rgb[static_cast<std::size_t>((y * image.width + x) * 3 + c)];
      }
    }
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&info, &pointer, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  const Bytes out(buffer, buffer + size);
  std::free(buffer);
  return out;
}

/// `jpeg` with a marker segment right after its start.
inline Bytes with_segment(const Bytes& jpeg, int marker, const Bytes& data) {
  Bytes out = {0xff, 0xd8, 0xff, static_cast<std::uint8_t>(marker)};
  append_big_endian(out, static_cast<std::uint32_t>(data.size() + 2), 2);
  append(out, data);
  out.insert(out.end(), jpeg.begin() + 2, jpeg.end());
  return out;
}

inline Bytes encode_webp(const Image& image, bool lossless) {
  std::uint8_t* buffer = nullptr;
  const int width = static_cast<int>(image.width);
  const int height = static_cast<int>(image.height);
  const std::size_t size =
      lossless ? WebPEncodeLosslessRGB(image.rgb.data(), width, height, 3 * width, &buffer)
               : WebPEncodeRGB(image.rgb.data(), width, height, 3 * width, 80, &buffer);
  const Bytes out(buffer, buffer + size);
  WebPFree(buffer);
  return out;
}

/// An EXIF block (little-endian) that says nothing but this orientation.
inline Bytes exif_block(int orientation, bool prefix = true) {
  Bytes block = prefix ? Bytes{'E', 'x', 'i', 'f', 0, 0} : Bytes{};
  append(block, {'I',
                 'I',
                 42,
                 0,
                 8,
                 0,
                 0,
                 0,
                 1,
                 0,
                 0x12,
                 0x01,
                 3,
                 0,
                 1,
                 0,
                 0,
                 0,
                 static_cast<std::uint8_t>(orientation),
                 0,
                 0,
                 0,
                 0,
                 0,
                 0,
                 0});
  return block;
}

}  // namespace vivace::media::test
