// The instruction set that the kernels compute with: the best that the machine has, until another
// is selected.
#pragma once

#include <string_view>
#include <vector>

namespace vivace::kernels {

/// The chosen target as Highway names it: "AVX3", "AVX2", "SSE4", "NEON".
std::string_view target_name();

/// The compiled targets that this machine can run, best first.
std::vector<std::string_view> runnable_targets();

/// Computes with `name` from now on, with the best target if `name` is empty. False, and nothing
/// changes, when the target is not runnable. Not while kernels run.
bool select_target(std::string_view name);

}  // namespace vivace::kernels
