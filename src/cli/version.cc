#include "cli/version.h"

#include <fmt/format.h>

#include "ops/backend.h"

namespace vivace::cli {

std::string version_number() { return VIVACE_VERSION; }

std::string build_name() {
#ifdef __clang__
  const std::string compiler = fmt::format("clang {}", __clang_version__);
#else
  const std::string compiler = fmt::format("g++ {}", __VERSION__);
#endif
  return fmt::format("{}, {}", compiler, VIVACE_BUILD_TYPE);
}

std::string version_text() {
  const ops::Backend& backend = ops::cpu_backend();
  return fmt::format("vivace {}\nbuild: {}\nbackends: {} ({} in use here)\n", version_number(),
                     build_name(), backend.name(), backend.target());
}

}  // namespace vivace::cli
