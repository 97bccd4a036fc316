// Another program, started and waited for.
#pragma once

#include <atomic>
#include <span>
#include <string>

#include "core/error.h"

namespace vivace::platform {

/// The program that runs now, by a path that starts it again.
std::string own_program();

/// Runs `words` (the first is the program) with nothing on standard input and standard output
/// thrown away; what it says on standard error is heard. Returns its exit status, or 128 + the
/// signal that ended it. When `stop` becomes true it is sent SIGINT, once, and still waited for.
/// Error: kUnavailable where it cannot be started.
Result<int> run_program(std::span<const std::string> words, const std::atomic<bool>& stop);

}  // namespace vivace::platform
