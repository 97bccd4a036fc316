// Compiled without contraction of a*b+c (see CMakeLists.txt): a fused multiply-add rounds once
// where Pillow rounds twice, and a weight that moves by one unit moves pixels.
#include "media/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/check.h"

namespace vivace::media {
namespace {

double bilinear(double x) {
  x = std::fabs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

// Keys' cubic with a = -0.5, in the form (and so with the rounding) of Pillow's bicubic_filter.
double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::fabs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

std::uint8_t to_level(std::int32_t sum, int fraction_bits) {
  return static_cast<std::uint8_t>(std::clamp(sum >> fraction_bits, 0, 255));
}

constexpr int kPillowFractionBits = 22;

// torchvision: the most fractional bits with which the largest weight still fits in 16 bits.
int aten_fraction_bits(double largest_weight) {
  int bits = 0;
  while (bits < kPillowFractionBits &&
         std::floor(0.5 + largest_weight * static_cast<double>(1 << (bits + 1))) <
             static_cast<double>(1 << 15)) {
    ++bits;
  }
  return bits;
}

// Appends the normalised weights of output `i` and returns the index of its first input.
std::int64_t append_weights(std::int64_t from, std::int64_t to, std::int64_t i, Filter filter,
                            std::vector<double>& weights) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double stretch = std::max(scale, 1.0);
  const double reach = (filter == Filter::kBilinear ? 1.0 : 2.0) * stretch;
  const double per_input = 1.0 / stretch;
  const double center = (static_cast<double>(i) + 0.5) * scale;
  const auto first =
      std::max<std::int64_t>(static_cast<std::int64_t>(std::floor(center - reach + 0.5)), 0);
  const auto last =
      std::min<std::int64_t>(static_cast<std::int64_t>(std::floor(center + reach + 0.5)), from);
  const std::size_t start = weights.size();
  double sum = 0.0;
  for (std::int64_t j = first; j < last; ++j) {
    const double x = (static_cast<double>(j) - center + 0.5) * per_input;
    weights.push_back(filter == Filter::kBilinear ? bilinear(x) : bicubic(x));
    sum += weights.back();
  }
  if (sum != 0.0) {
    for (std::size_t j = start; j < weights.size(); ++j) weights[j] /= sum;
  }
  return first;
}

}  // namespace

void Resizer::run(const ResizeRequest& request, std::span<const std::uint8_t> in,
                  std::span<std::uint8_t> out) {
  const Window& window = request.window;
  VIVACE_CHECK(in.size() == static_cast<std::size_t>(request.from.height * request.from.width * 3));
  VIVACE_CHECK(out.size() == static_cast<std::size_t>(window.height * window.width * 3));
  if (!(request == planned_)) plan(request);

  const std::int64_t row_bytes_in = request.from.width * 3;
  const std::int64_t row_bytes_out = window.width * 3;
  // The input rows that the window needs.
  std::int64_t row_first = window.top;
  std::int64_t row_last = window.top + window.height;
  if (!down_.taps.empty()) {
    row_first = down_.taps.front().first;
    row_last = down_.taps.back().first + down_.taps.back().count;
  }
  const std::int64_t row_count = row_last - row_first;

  const bool in_one_pass = down_.taps.empty();
  std::uint8_t* between = out.data();
  if (!in_one_pass) {
    rows_.resize(static_cast<std::size_t>(row_count * row_bytes_out));
    between = rows_.data();
  }
  if (!across_.taps.empty()) {
    horizontal(in.data(), row_first, row_count, between);
  } else if (!in_one_pass && row_bytes_out == row_bytes_in) {
    vertical(in.data() + row_first * row_bytes_in, row_first, out.data());
    return;
  } else {
    for (std::int64_t row = 0; row < row_count; ++row) {
      std::memcpy(between + row * row_bytes_out,
                  in.data() + (row_first + row) * row_bytes_in + window.left * 3,
                  static_cast<std::size_t>(row_bytes_out));
    }
  }
  if (!in_one_pass) vertical(rows_.data(), row_first, out.data());
}

void Resizer::plan(const ResizeRequest& request) {
  const Window& window = request.window;
  VIVACE_CHECK(request.from.height >= 1 && request.from.height <= kSideMax);
  VIVACE_CHECK(request.from.width >= 1 && request.from.width <= kSideMax);
  VIVACE_CHECK(request.to.height <= kSideMax && request.to.width <= kSideMax);
  VIVACE_CHECK(window.height >= 1 && window.width >= 1 && window.top >= 0 && window.left >= 0);
  VIVACE_CHECK(window.top + window.height <= request.to.height);
  VIVACE_CHECK(window.left + window.width <= request.to.width);
  planned_ = {};  // should memory run out half-way
  plan_axis(request.from.width, request.to.width, window.left, window.width, request.filter,
            request.resampler, exact_, across_);
  plan_axis(request.from.height, request.to.height, window.top, window.height, request.filter,
            request.resampler, exact_, down_);
  planned_ = request;
}

void Resizer::plan_axis(std::int64_t from, std::int64_t to, std::int64_t start, std::int64_t count,
                        Filter filter, Resampler resampler, std::vector<double>& exact,
                        Axis& axis) {
  axis.taps.clear();
  axis.weights.clear();
  exact.clear();
  if (from == to) return;
  axis.fraction_bits = kPillowFractionBits;
  if (resampler == Resampler::kAten) {
    // Chosen by the largest weight of the whole axis, also where the window shows a part of it.
    double largest = 0.0;
    for (std::int64_t i = 0; i < to; ++i) {
      exact.clear();
      append_weights(from, to, i, filter, exact);
      largest = std::max(largest, *std::max_element(exact.begin(), exact.end()));
    }
    exact.clear();
    axis.fraction_bits = aten_fraction_bits(largest);
  }
  for (std::int64_t i = start; i < start + count; ++i) {
    const std::size_t weight = exact.size();
    const std::int64_t first = append_weights(from, to, i, filter, exact);
    axis.taps.push_back({first, weight, static_cast<std::int64_t>(exact.size() - weight)});
  }
  const double unit = static_cast<double>(1 << axis.fraction_bits);
  axis.weights.reserve(exact.size());
  for (const double weight : exact) {
    axis.weights.push_back(
        static_cast<std::int32_t>(weight < 0 ? -0.5 + weight * unit : 0.5 + weight * unit));
  }
}

void Resizer::horizontal(const std::uint8_t* in, std::int64_t row_first, std::int64_t row_count,
                         std::uint8_t* out) const {
  const std::int64_t row_bytes_in = planned_.from.width * 3;
  const int bits = across_.fraction_bits;
  const std::int32_t half = 1 << (bits - 1);
  for (std::int64_t row = 0; row < row_count; ++row) {
    const std::uint8_t* line = in + (row_first + row) * row_bytes_in;
    for (const Tap& tap : across_.taps) {
      const std::uint8_t* pixel = line + tap.first * 3;
      const std::int32_t* weight = across_.weights.data() + tap.weight;
      std::int32_t red = half;
      std::int32_t green = half;
      std::int32_t blue = half;
      for (std::int64_t j = 0; j < tap.count; ++j) {
        red += pixel[3 * j] * weight[j];
        green += pixel[3 * j + 1] * weight[j];
        blue += pixel[3 * j + 2] * weight[j];
      }
      out[0] = to_level(red, bits);
      out[1] = to_level(green, bits);
      out[2] = to_level(blue, bits);
      out += 3;
    }
  }
}

void Resizer::vertical(const std::uint8_t* in, std::int64_t row_first, std::uint8_t* out) const {
  const std::int64_t row_bytes = planned_.window.width * 3;
  const int bits = down_.fraction_bits;
  const std::int32_t half = 1 << (bits - 1);
  // Columns in blocks whose sums stay in the first-level cache while the rows go by.
  constexpr std::int64_t kBlock = 256;
  std::int32_t sums[kBlock];
  for (const Tap& tap : down_.taps) {
    const std::uint8_t* top = in + (tap.first - row_first) * row_bytes;
    const std::int32_t* weights = down_.weights.data() + tap.weight;
    for (std::int64_t start = 0; start < row_bytes; start += kBlock) {
      const std::int64_t count = std::min(kBlock, row_bytes - start);
      std::fill_n(sums, count, half);
      for (std::int64_t j = 0; j < tap.count; ++j) {
        const std::uint8_t* line = top + j * row_bytes + start;
        const std::int32_t weight = weights[j];
        for (std::int64_t i = 0; i < count; ++i) sums[i] += line[i] * weight;
      }
      for (std::int64_t i = 0; i < count; ++i) out[start + i] = to_level(sums[i], bits);
    }
    out += row_bytes;
  }
}

void resize(const Image& in, Size2 to, Filter filter, Resizer& resizer, Image& out) {
  out.height = to.height;
  out.width = to.width;
  out.rgb.resize(static_cast<std::size_t>(to.height * to.width * 3));
  resizer.run({in.size(), to, filter, {0, 0, to.height, to.width}, Resampler::kPillow}, in.rgb,
              out.rgb);
}

}  // namespace vivace::media
