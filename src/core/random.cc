#include "core/random.h"

#include <array>
#include <bit>
#include <cmath>

#include "core/text.h"

namespace vivace {
namespace {

std::uint64_t mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

/// c[0] + c[1] x + ... by Horner's rule.
template <std::size_t kCount>
double polynomial(const std::array<double, kCount>& c, double x) {
  double sum = c[kCount - 1];
  for (std::size_t i = kCount - 1; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

/// sin and cos of x in [-pi/4, pi/4], by their series.
double sin_small(double x) {
  double sum = 0;
  double term = x;
  for (int n = 1; n <= 21; n += 2) {
    sum += term;
    term *= -(x * x) / ((n + 1) * (n + 2));
  }
  return sum;
}
double cos_small(double x) {
  double sum = 0;
  double term = 1;
  for (int n = 0; n <= 20; n += 2) {
    sum += term;
    term *= -(x * x) / ((n + 1) * (n + 2));
  }
  return sum;
}

struct Reduced {
  double rest;
  std::int64_t quarter;  // how many quarters of a turn were taken off
};

Reduced reduce(double x) {
  // pi/2 in two parts: the first has 33 bits, so that its product with a count of quarters up to
  // 2^20 is exact.
  constexpr double kHigh = 0x1.921fb544p+0;
  constexpr double kLow = 0x1.0b4611a626331p-34;
  const double scaled = x * 0.63661977236758134308;
  const double count = std::floor(scaled + 0.5);
  return {(x - count * kHigh) - count * kLow, static_cast<std::int64_t>(count)};
}

constexpr double kLog2High = 0x1.62e42feep-1;  // 32 bits of ln 2
constexpr double kLog2Low = 0x1.a39ef35793c76p-33;

}  // namespace

std::uint64_t random_bits(std::uint64_t key, std::uint64_t index) {
  return mix(key + (index + 1) * 0x9e3779b97f4a7c15u);
}

std::uint64_t stream_key(std::uint64_t seed, std::string_view name) {
  return mix(hash_of(name) + mix(seed + 0x9e3779b97f4a7c15u));
}

double random_normal(std::uint64_t key, std::uint64_t index) {
  // 52 bits and a half: never 0 or 1, symmetric about 1/2, exact in a double.
  const auto cell = static_cast<double>(random_bits(key, index) >> 12);
  return normal_quantile((cell + 0.5) * 0x1p-52);
}

double normal_quantile(double p) {
  constexpr std::array<double, 8> kA = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                        1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                        4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                        3.3430575583588128105e+4, 2.5090809287301226727e+3};
  constexpr std::array<double, 8> kB = {1.0,
                                        4.2313330701600911252e+1,
                                        6.8718700749205790830e+2,
                                        5.3941960214247511077e+3,
                                        2.1213794301586595867e+4,
                                        3.9307895800092710610e+4,
                                        2.8729085735721942674e+4,
                                        5.2264952788528545610e+3};
  constexpr std::array<double, 8> kC = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                        5.76949722146069140550e0,  3.64784832476320460504e0,
                                        1.27045825245236838258e0,  2.41780725177450611770e-1,
                                        2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr std::array<double, 8> kD = {1.0,
                                        2.05319162663775882187e0,
                                        1.67638483018380384940e0,
                                        6.89767334985100004550e-1,
                                        1.48103976427480074590e-1,
                                        1.51986665636164571966e-2,
                                        5.47593808499534494600e-4,
                                        1.05075007164441684324e-9};
  constexpr std::array<double, 8> kE = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                        1.78482653991729133580e0,  2.96560571828504891230e-1,
                                        2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                        2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr std::array<double, 8> kF = {1.0,
                                        5.99832206555887937690e-1,
                                        1.36929880922735805310e-1,
                                        1.48753612908506148525e-2,
                                        7.86869131145613259100e-4,
                                        1.84631831751005468180e-5,
                                        1.42151175831644588870e-7,
                                        2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  const double tail = q < 0 ? p : 1 - p;
  double r = std::sqrt(-portable_log(tail));
  double value;
  if (r <= 5) {
    r -= 1.6;
    value = polynomial(kC, r) / polynomial(kD, r);
  } else {
    r -= 5;
    value = polynomial(kE, r) / polynomial(kF, r);
  }
  return q < 0 ? -value : value;
}

double portable_sin(double x) {
  const Reduced reduced = reduce(x);
  switch (reduced.quarter & 3) {
    case 0:
      return sin_small(reduced.rest);
    case 1:
      return cos_small(reduced.rest);
    case 2:
      return -sin_small(reduced.rest);
    default:
      return -cos_small(reduced.rest);
  }
}

double portable_cos(double x) {
  const Reduced reduced = reduce(x);
  switch (reduced.quarter & 3) {
    case 0:
      return cos_small(reduced.rest);
    case 1:
      return -sin_small(reduced.rest);
    case 2:
      return -cos_small(reduced.rest);
    default:
      return sin_small(reduced.rest);
  }
}

double portable_exp(double x) {
  const double count = std::floor(x * 1.44269504088896340736 + 0.5);
  const double rest = (x - count * kLog2High) - count * kLog2Low;
  double sum = 0;
  double term = 1;
  for (int n = 1; n <= 16; ++n) {
    sum += term;
    term *= rest / n;
  }
  const auto exponent = static_cast<std::uint64_t>(static_cast<std::int64_t>(count) + 1023);
  return sum * std::bit_cast<double>(exponent << 52);
}

double portable_log(double x) {
  // x = m 2^e with m in [sqrt(1/2), sqrt 2); log m = 2 atanh((m-1)/(m+1)).
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
  if (mantissa > 1.41421356237309504880) {
    mantissa *= 0.5;
    ++exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double sum = 0;
  double power = s;
  for (int n = 1; n <= 25; n += 2) {
    sum += power / n;
    power *= square;
  }
  const auto e = static_cast<double>(exponent);
  return e * kLog2High + (e * kLog2Low + 2 * sum);
}

}  // namespace vivace
