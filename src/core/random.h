// Seeded numbers that are the same on every machine, compiler and thread count.
//
// The standard library's distributions differ between implementations, its sin, cos and log between
// C libraries, and a compiler may fuse a product and a sum. So: a counter-based generator in
// integer arithmetic, and functions built from the five operations that IEEE 754 rounds exactly (+
// - * / and square root), in a file that is compiled without contraction. Precision achieved: 1e-14
// absolute for sin and cos, 1e-14 relative for exp and log, 1e-13 relative for the normal quantile.
#pragma once

#include <cstdint>
#include <string_view>

namespace vivace {

/// The 64 bits at place `index` of the stream `key` (SplitMix64's finaliser over a Weyl sequence).
std::uint64_t random_bits(std::uint64_t key, std::uint64_t index);

/// A stream of its own for each name under a seed.
std::uint64_t stream_key(std::uint64_t seed, std::string_view name);

/// A standard normal number for each place of a stream.
double random_normal(std::uint64_t key, std::uint64_t index);

/// The value below which a standard normal variable falls with probability `p` in (0, 1)
/// (Wichura 1988, algorithm AS 241, PPND16).
double normal_quantile(double p);

// sin and cos for |x| <= 1e5; exp for |x| <= 700; log for normal positive x.
double portable_sin(double x);
double portable_cos(double x);
double portable_exp(double x);
double portable_log(double x);

}  // namespace vivace
