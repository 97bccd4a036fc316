// WebP by libwebp at its defaults. Alpha is dropped as stored (never premultiplied). Of an
// animation the first frame is taken, on a black canvas, as Pillow gives it.
#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>
#include <string>

#include "media/decode_internal.h"

namespace vivace::media {
namespace {

struct DemuxerDeleter {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
};

std::string_view status_text(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return "out of memory";
    case VP8_STATUS_BITSTREAM_ERROR:
      return "its bit stream makes no sense";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "a feature that libwebp does not read";
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      return "its data end early";
    default:
      return "libwebp refuses it";
  }
}

tl::unexpected<Error> webp_error(VP8StatusCode status) {
  if (status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED) {
    return fail(ErrorCode::kBadData, "the WebP is truncated: its data end early");
  }
  const ErrorCode code = status == VP8_STATUS_OUT_OF_MEMORY         ? ErrorCode::kTemporary
                         : status == VP8_STATUS_UNSUPPORTED_FEATURE ? ErrorCode::kUnavailable
                                                                    : ErrorCode::kBadData;
  return fail(code, "the WebP is corrupt: " + std::string(status_text(status)));
}

// The whole frame or an error: WebPDecode reports success only when every row is there.
Result<void> decode_frame(std::span<const std::uint8_t> payload, Image& out, std::int64_t top,
                          std::int64_t left, std::int64_t height) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) {
    return fail(ErrorCode::kInternal, "libwebp at run time is not the one compiled against");
  }
  const std::int64_t stride = out.width * 3;
  const std::int64_t offset = top * stride + left * 3;
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = out.rgb.data() + offset;
  config.output.u.RGBA.stride = static_cast<int>(stride);
  config.output.u.RGBA.size = static_cast<std::size_t>(height * stride - left * 3);
  const VP8StatusCode status = WebPDecode(payload.data(), payload.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (status != VP8_STATUS_OK) return webp_error(status);
  return {};
}

int orientation_of(const WebPDemuxer* demuxer) {
  if ((WebPDemuxGetI(demuxer, WEBP_FF_FORMAT_FLAGS) & EXIF_FLAG) == 0) return 1;
  WebPChunkIterator chunk;
  int orientation = 1;
  if (WebPDemuxGetChunk(demuxer, "EXIF", 1, &chunk) != 0) {
    orientation = exif_orientation({chunk.chunk.bytes, chunk.chunk.size});
  }
  WebPDemuxReleaseChunkIterator(&chunk);
  return orientation;
}

Result<void> decode_first_frame(const WebPDemuxer* demuxer, Image& out) {
  WebPIterator frame;
  if (WebPDemuxGetFrame(demuxer, 1, &frame) == 0) {
    WebPDemuxReleaseIterator(&frame);
    return fail(ErrorCode::kBadData, "the WebP is corrupt: it holds no frame");
  }
  Result<void> result;
  // libwebp checks this too when it parses; pixels are written on the strength of it.
  if (frame.complete == 0 || frame.x_offset < 0 || frame.y_offset < 0 || frame.width < 1 ||
      frame.height < 1 || frame.x_offset + std::int64_t{frame.width} > out.width ||
      frame.y_offset + std::int64_t{frame.height} > out.height) {
    result = fail(ErrorCode::kBadData, "the WebP is corrupt: its frame is cut off");
  } else {
    if (frame.width != out.width || frame.height != out.height) {
      std::fill(out.rgb.begin(), out.rgb.end(), std::uint8_t{0});
    }
    WebPBitstreamFeatures features;
    const VP8StatusCode status =
        WebPGetFeatures(frame.fragment.bytes, frame.fragment.size, &features);
    if (status != VP8_STATUS_OK) {
      result = webp_error(status);
    } else if (features.width != frame.width || features.height != frame.height) {
      result = fail(ErrorCode::kBadData,
                    "the WebP is corrupt: its frame has another size than "
                    "its header says");
    } else {
      result = decode_frame({frame.fragment.bytes, frame.fragment.size}, out, frame.y_offset,
                            frame.x_offset, frame.height);
    }
  }
  WebPDemuxReleaseIterator(&frame);
  return result;
}

}  // namespace

Result<int> decode_webp(std::span<const std::uint8_t> bytes, const DecodeLimits& limits,
                        Image& out) {
  WebPBitstreamFeatures features;
  if (const VP8StatusCode status = WebPGetFeatures(bytes.data(), bytes.size(), &features);
      status != VP8_STATUS_OK) {
    return webp_error(status);
  }
  VIVACE_CHECK_OK(claim_pixels({features.height, features.width}, limits, out));
  const WebPData data{bytes.data(), bytes.size()};
  WebPDemuxState state = WEBP_DEMUX_PARSE_ERROR;
  const std::unique_ptr<WebPDemuxer, DemuxerDeleter> demuxer(WebPDemuxPartial(&data, &state));
  if (demuxer == nullptr || state == WEBP_DEMUX_PARSE_ERROR) {
    return fail(ErrorCode::kBadData, "the WebP is corrupt: its chunks make no sense");
  }
  if (state != WEBP_DEMUX_DONE) return webp_error(VP8_STATUS_NOT_ENOUGH_DATA);
  if (static_cast<std::int64_t>(WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_WIDTH)) != out.width ||
      static_cast<std::int64_t>(WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_HEIGHT)) !=
          out.height) {
    return fail(ErrorCode::kBadData, "the WebP is corrupt: its headers disagree on its size");
  }
  VIVACE_CHECK_OK(decode_first_frame(demuxer.get(), out));
  return orientation_of(demuxer.get());
}

}  // namespace vivace::media
