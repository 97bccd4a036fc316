// Scratch memory of one workspace: allocations are bumps of a pointer, freed all at once or back to
// a mark. The first request grows the arena block by block; `reset()` then joins the blocks into
// one, so that the second request of the same shape allocates nothing.
//
// Not thread-safe: one arena belongs to one workspace. Blocks are aligned to 2 MiB when they are
// that large (so that the kernel may back them with huge pages), every allocation to 64 bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace vivace {

class Arena {
 public:
  static constexpr std::size_t kAlignment = 64;

  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  /// `count` values, uninitialised, aligned to a cache line. Lives until the enclosing Scope ends
  /// or `reset()`.
  template <class T>
  std::span<T> allocate(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);
    return {static_cast<T*>(allocate_bytes(count * sizeof(T))), count};
  }
  void* allocate_bytes(std::size_t bytes);

  /// Frees everything; afterwards there is one block as large as the most that was in use.
  void reset();

  /// The most bytes that were in use at once since construction.
  std::size_t peak_bytes() const { return peak_bytes_; }
  /// Bytes held from the system.
  std::size_t held_bytes() const;

  /// Frees at its end what was allocated since its start.
  class Scope {
   public:
    explicit Scope(Arena& arena)
        : arena_(arena), block_(arena.block_), used_(arena.used_), live_(arena.live_bytes_) {}
    ~Scope() {
      arena_.block_ = block_;
      arena_.used_ = used_;
      arena_.live_bytes_ = live_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Arena& arena_;
    std::size_t block_;
    std::size_t used_;
    std::size_t live_;
  };

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  struct Block {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t bytes = 0;
  };
  void add_block(std::size_t bytes);

  std::vector<Block> blocks_;
  std::size_t block_ = 0;  // index of the block in use
  std::size_t used_ = 0;   // bytes used in it
  std::size_t live_bytes_ = 0;
  std::size_t peak_bytes_ = 0;
};

}  // namespace vivace
