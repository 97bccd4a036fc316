// Series with a known law for the simulations: the same on every machine, as src/core/random.h is.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/random.h"

namespace vivace::test {

/// Uniform in (0, 1), at place `index` of the stream `key`.
inline double uniform(std::uint64_t key, std::uint64_t index) {
  return (static_cast<double>(random_bits(key, index) >> 11) + 0.5) * 0x1p-53;
}

/// n standard normals, each `correlation` times the one before plus noise; stationary from the
/// first, and independent where the correlation is 0.
inline std::vector<double> autoregressive(std::size_t n, double correlation, std::uint64_t key) {
  std::vector<double> series;
  series.reserve(n);
  const double noise = std::sqrt(1 - correlation * correlation);
  double z = random_normal(key, 0);
  for (std::uint64_t i = 1; i <= n; ++i) {
    series.push_back(z);
    z = correlation * z + noise * random_normal(key, i);
  }
  return series;
}

/// A log-normal latency around 20 ms, of the standard normal z.
inline std::int64_t lognormal(double z) {
  return static_cast<std::int64_t>(std::llround(20e6 * std::exp(0.3 * z)));
}

}  // namespace vivace::test
