// Checks of the programmer's own mistakes, never of a user's input: a failed one is a bug, prints
// where, and aborts. VIVACE_CHECK is always on; VIVACE_DCHECK only in the dev and sanitizer
// presets.
#pragma once

namespace vivace {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace vivace

#define VIVACE_CHECK(condition)                               \
  do {                                                        \
    if (!(condition)) [[unlikely]]                            \
      ::vivace::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)

#ifdef VIVACE_ENABLE_DCHECK
#define VIVACE_DCHECK(condition) VIVACE_CHECK(condition)
#else
#define VIVACE_DCHECK(condition) \
  do {                           \
  } while (false)
#endif
