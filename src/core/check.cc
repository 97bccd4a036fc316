#include "core/check.h"

#include <cstdio>
#include <cstdlib>

namespace vivace {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr,
               "vivace: internal error: %s:%d: check failed: %s; this is a bug, please report it "
               "with the command that led here\n",
               file, line, condition);
  std::abort();
}

}  // namespace vivace
