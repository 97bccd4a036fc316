// What this build is.
#pragma once

#include <string>

namespace vivace::cli {

std::string version_number();  // "0.1.0"
std::string build_name();      // "g++ 12.2.0, Release"
/// What `vivace --version` prints.
std::string version_text();

}  // namespace vivace::cli
