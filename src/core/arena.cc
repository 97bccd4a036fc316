#include "core/arena.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "core/check.h"

namespace vivace {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kBlockMin = std::size_t{1} << 20;

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

}  // namespace

void Arena::Free::operator()(void* memory) const { std::free(memory); }

void* Arena::allocate_bytes(std::size_t bytes) {
  bytes = round_up(std::max<std::size_t>(bytes, 1), kAlignment);
  while (block_ < blocks_.size() && used_ + bytes > blocks_[block_].bytes) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    // Doubling keeps the number of blocks, and so of system calls, logarithmic.
    add_block(std::max({bytes, kBlockMin, held_bytes()}));
    used_ = 0;
  }
  void* memory = blocks_[block_].memory.get() + used_;
  used_ += bytes;
  live_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  return memory;
}

void Arena::reset() {
  block_ = 0;
  used_ = 0;
  live_bytes_ = 0;
  if (blocks_.size() <= 1) return;
  blocks_.clear();
  add_block(peak_bytes_);
}

std::size_t Arena::held_bytes() const {
  std::size_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.bytes;
  return bytes;
}

void Arena::add_block(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  bytes = round_up(bytes, alignment);
  void* memory = std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  blocks_.push_back({std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(memory)), bytes});
}

}  // namespace vivace
