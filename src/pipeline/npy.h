// NumPy's .npy format, version 1 to 3, little-endian, C order (numpy.lib.format).
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "core/error.h"
#include "core/tensor.h"

namespace vivace::pipeline {

/// A view into `file`, whose bytes must outlive it. Errors: kBadData (no .npy, Fortran order, big
/// endian, objects, cut short, bytes left over).
Result<TensorView> parse_npy(std::span<const std::byte> file);

/// The header of a file that holds a tensor of this type and shape; its data follow.
std::string npy_header(DType type, std::span<const std::int64_t> shape);

}  // namespace vivace::pipeline
