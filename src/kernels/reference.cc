#include "kernels/reference.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace vivace::kernels::reference {

double gelu_erf(double x) { return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0))); }

void linear(const float* a, std::int64_t rows, std::int64_t in, const float* weight,
            std::int64_t out_features, const float* bias, bool gelu, const float* residual,
            float* out) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < out_features; ++column) {
      double sum = bias != nullptr ? double{bias[column]} : 0.0;
      for (std::int64_t i = 0; i < in; ++i) {
        sum += double{a[row * in + i]} * double{weight[column * in + i]};
      }
      if (gelu) sum = gelu_erf(sum);
      const std::int64_t at = row * out_features + column;
      if (residual != nullptr) sum += double{residual[at]};
      out[at] = static_cast<float>(sum);
    }
  }
}

void layer_norm(const float* x, std::int64_t rows, std::int64_t width, const float* weight,
                const float* bias, float eps, float* out) {
  for (std::int64_t row = 0; row < rows; ++row, x += width, out += width) {
    double mean = 0.0;
    for (std::int64_t i = 0; i < width; ++i) mean += double{x[i]};
    mean /= static_cast<double>(width);
    double variance = 0.0;
    for (std::int64_t i = 0; i < width; ++i) variance += (x[i] - mean) * (x[i] - mean);
    variance /= static_cast<double>(width);
    const double scale = 1.0 / std::sqrt(variance + double{eps});
    for (std::int64_t i = 0; i < width; ++i) {
      double y = (x[i] - mean) * scale;
      if (weight != nullptr) y = y * double{weight[i]} + double{bias[i]};
      out[i] = static_cast<float>(y);
    }
  }
}

void attention(std::int64_t batch, std::int64_t heads, std::int64_t queries, std::int64_t keys,
               std::int64_t head_dim, const float* q, const float* k, const float* v, float scale,
               float* out) {
  std::vector<double> weights(static_cast<std::size_t>(keys));
  for (std::int64_t head = 0; head < batch * heads; ++head) {
    const std::int64_t base = head * keys * head_dim;
    for (std::int64_t row = 0; row < queries; ++row) {
      const float* query = q + (head * queries + row) * head_dim;
      for (std::int64_t key = 0; key < keys; ++key) {
        double score = 0.0;
        for (std::int64_t i = 0; i < head_dim; ++i) {
          score += double{query[i]} * double{k[base + key * head_dim + i]};
        }
        weights[static_cast<std::size_t>(key)] = score * double{scale};
      }
      const double maximum = *std::max_element(weights.begin(), weights.end());
      double sum = 0.0;
      for (double& weight : weights) sum += weight = std::exp(weight - maximum);
      float* result =
          out + (head / heads * queries + row) * heads * head_dim + head % heads * head_dim;
      for (std::int64_t i = 0; i < head_dim; ++i) {
        double value = 0.0;
        for (std::int64_t key = 0; key < keys; ++key) {
          value += weights[static_cast<std::size_t>(key)] * double{v[base + key * head_dim + i]};
        }
        result[i] = static_cast<float>(value / sum);
      }
    }
  }
}

void patches(std::int64_t batch, std::int64_t frames, std::int64_t channels, std::int64_t height,
             std::int64_t width, std::int64_t tubelet, std::int64_t patch_height,
             std::int64_t patch_width, const float* pixels, float* out) {
  const std::int64_t repeated = frames < tubelet ? frames * tubelet : frames;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t first = 0; first + tubelet <= repeated; first += tubelet) {
      for (std::int64_t top = 0; top + patch_height <= height; top += patch_height) {
        for (std::int64_t left = 0; left + patch_width <= width; left += patch_width) {
          for (std::int64_t channel = 0; channel < channels; ++channel) {
            for (std::int64_t t = first; t < first + tubelet; ++t) {
              const std::int64_t plane = (b * frames + t % frames) * channels + channel;
              for (std::int64_t y = top; y < top + patch_height; ++y) {
                for (std::int64_t x = left; x < left + patch_width; ++x) {
                  *out++ = pixels[(plane * height + y) * width + x];
                }
              }
            }
          }
        }
      }
    }
  }
}

void rotate(std::int64_t batch, std::int64_t heads, std::int64_t tokens, std::int64_t head_dim,
            const float* table, std::int64_t rows, float* x) {
  for (std::int64_t i = 0; i < batch * heads * tokens; ++i, x += head_dim) {
    const std::int64_t token = i / (heads * tokens) * tokens + i % tokens;
    const float* cosine = table + token % rows * 2 * head_dim;
    const float* sine = cosine + head_dim;
    for (std::int64_t j = 0; j + 1 < head_dim; j += 2) {
      const double first = x[j];
      const double second = x[j + 1];
      x[j] = static_cast<float>(first * double{cosine[j]} - second * double{sine[j]});
      x[j + 1] = static_cast<float>(second * double{cosine[j + 1]} + first * double{sine[j + 1]});
    }
  }
}

void mean_tokens(const float* x, std::int64_t batch, std::int64_t tokens, std::int64_t width,
                 float* out) {
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < width; ++i) {
      double sum = 0.0;
      for (std::int64_t token = 0; token < tokens; ++token) {
        sum += double{x[(b * tokens + token) * width + i]};
      }
      out[b * width + i] = static_cast<float>(sum / static_cast<double>(tokens));
    }
  }
}

}  // namespace vivace::kernels::reference
