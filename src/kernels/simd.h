// Which instruction sets the kernels are compiled for. Included before any Highway header by every
// file that is compiled once per target.
//
// Each further target costs compile time, code size and a test run, so only those are kept whose
// registers or instructions these kernels use: the later AVX-512 levels and SSSE3 would repeat a
// neighbour's code. SVE is left out because tiles are arrays of vectors of known size.
#pragma once

#if defined(__x86_64__) || defined(__i386__)
// Everything better than HWY_AVX3; the names of those targets differ between Highway's versions.
#define HWY_DISABLED_TARGETS ((HWY_AVX3 - 1) | HWY_SSSE3)
#elif defined(__aarch64__)
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

namespace vivace::kernels {

/// Columns of a weight panel, keys and value dimensions of an attention panel: the same for every
/// target, so that a packed weight does not depend on where it is used. One AVX-512 register.
inline constexpr long kPanel = 16;

}  // namespace vivace::kernels
