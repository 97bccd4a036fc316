// Links into a test an allocator that counts its calls: malloc and its kin, and operator new.
#pragma once

#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VIVACE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define VIVACE_SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(VIVACE_SANITIZED)
#define VIVACE_COUNTS_MALLOC 1
#endif

namespace vivace::test {

#ifdef VIVACE_COUNTS_MALLOC
inline constexpr bool kMallocIsCounted = true;
#else
/// A sanitizer brings its own malloc; operator new is counted all the same.
inline constexpr bool kMallocIsCounted = false;
#endif

struct AllocationCounts {
  long mallocs = 0;
  long news = 0;
};

/// Since the program's start, of all threads.
AllocationCounts allocation_counts();

}  // namespace vivace::test
