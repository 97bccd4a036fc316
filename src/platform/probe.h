// Two fixed pieces of work whose times say how fast the machine is right now: a chain of dependent
// multiplications, which slows down when the clock does or when another thread shares the core, and
// a read of memory that no cache holds, which slows down when others use the memory.
#pragma once

#include <cstdint>
#include <memory>

namespace vivace::platform {

/// Nanoseconds that the chain takes now; about 20 microseconds on a 3 GHz core.
std::int64_t spin_probe_ns();

class MemoryProbe {
 public:
  /// Bytes read by one probe.
  static constexpr std::size_t kReadBytes = std::size_t{128} << 10;
  /// Bytes walked through, piece by piece, before any is read again: more than the caches that one
  /// core can fill.
  static constexpr std::size_t kBufferBytes = std::size_t{48} << 20;

  /// Takes the memory and touches it; some ten milliseconds.
  MemoryProbe();
  ~MemoryProbe();
  MemoryProbe(const MemoryProbe&) = delete;
  MemoryProbe& operator=(const MemoryProbe&) = delete;

  /// Nanoseconds for the next piece; some ten microseconds. 0 where no memory was to be had.
  std::int64_t read_ns();

 private:
  unsigned char* buffer_ = nullptr;
  std::size_t next_ = 0;
};

}  // namespace vivace::platform
