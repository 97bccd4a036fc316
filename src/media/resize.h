// Resizing of 8-bit RGB, bit for bit as Pillow up to 12.3 does it (libImaging/Resample.c).
//
// Each axis is resampled by itself, horizontal first, with a filter that widens when the picture
// shrinks (antialiasing). A pass ends in 8 bits again, and a pass is left out where the size stays.
// Weights are computed in double, normalised, and rounded to integers of 22 fractional bits; the
// sums are exact integers, so any order of summation gives Pillow's bytes. (Pillow 13 runs the
// vertical pass first for some shapes; that differs by a level here and there.)
//
// Only what is asked for is computed: a window of the output, and in the first pass only the rows
// that the second one reads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "media/image.h"

namespace vivace::media {

enum class Filter { kBilinear, kBicubic };

/// How weights are made into integers. `kAten` is torchvision's on uint8 with AVX2: 16-bit weights
/// of as many fractional bits as fit, per axis (pytorch/pytorch:aten/src/ATen/native/cpu/
/// UpSampleKernel.cpp); it differs from Pillow by a level in under 1% of a photograph's pixels.
enum class Resampler { kPillow, kAten };

/// The part of the output that is wanted.
struct Window {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool operator==(const Window&) const = default;
};

struct ResizeRequest {
  Size2 from;
  Size2 to;
  Filter filter = Filter::kBilinear;
  Window window;  // inside `to`
  Resampler resampler = Resampler::kPillow;
  bool operator==(const ResizeRequest&) const = default;
};

/// Plans and resizes. The plan and the buffers are kept: a request equal to the one before it
/// allocates nothing and computes no weights. One per thread.
class Resizer {
 public:
  /// `in` [from.height, from.width, 3] -> `out` [window.height, window.width, 3].
  /// All sizes are at least 1; `from` and `to` at most kSideMax each way.
  void run(const ResizeRequest& request, std::span<const std::uint8_t> in,
           std::span<std::uint8_t> out);

  /// Bounds the weights of one axis to a few times this many numbers.
  static constexpr std::int64_t kSideMax = 1'000'000;

 private:
  struct Tap {
    std::int64_t first = 0;  // index of the first input
    std::size_t weight = 0;  // index of its weight
    std::int64_t count = 0;
  };
  struct Axis {
    std::vector<Tap> taps;  // one per output of the window; empty where the size stays
    std::vector<std::int32_t> weights;
    int fraction_bits = 22;
  };
  static void plan_axis(std::int64_t from, std::int64_t to, std::int64_t start, std::int64_t count,
                        Filter filter, Resampler resampler, std::vector<double>& exact, Axis& axis);
  void plan(const ResizeRequest& request);
  void horizontal(const std::uint8_t* in, std::int64_t row_first, std::int64_t row_count,
                  std::uint8_t* out) const;
  void vertical(const std::uint8_t* in, std::int64_t row_first, std::uint8_t* out) const;

  ResizeRequest planned_;
  Axis across_;
  Axis down_;
  std::vector<double> exact_;
  std::vector<std::uint8_t> rows_;  // between the passes
};

/// The whole picture at another size.
void resize(const Image& in, Size2 to, Filter filter, Resizer& resizer, Image& out);

}  // namespace vivace::media
