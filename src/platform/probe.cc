#include "platform/probe.h"

#include <sys/mman.h>

#include <cstring>

#include "platform/clock.h"

namespace vivace::platform {
namespace {

constexpr int kSpinSteps = 16'384;
constexpr std::size_t kLineBytes = 64;

}  // namespace

std::int64_t spin_probe_ns() {
  // Each step needs the one before it, so that no core can do two at once. (Knuth's multiplier.)
  std::uint64_t x = 1;
  const std::int64_t start_ns = now_ns();
  for (int i = 0; i < kSpinSteps; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(x));
  }
  return now_ns() - start_ns;
}

MemoryProbe::MemoryProbe() {
  void* memory =
      mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  buffer_ = static_cast<unsigned char*>(memory);
  // A page that was never written is the shared page of zeros, which every cache holds.
  std::memset(buffer_, 1, kBufferBytes);
}

MemoryProbe::~MemoryProbe() {
  if (buffer_ != nullptr) munmap(buffer_, kBufferBytes);
}

std::int64_t MemoryProbe::read_ns() {
  if (buffer_ == nullptr) return 0;
  const volatile unsigned char* piece = buffer_ + next_;
  next_ = (next_ + kReadBytes) % kBufferBytes;
  const std::int64_t start_ns = now_ns();
  for (std::size_t i = 0; i < kReadBytes; i += kLineBytes) (void)piece[i];
  return now_ns() - start_ns;
}

}  // namespace vivace::platform
