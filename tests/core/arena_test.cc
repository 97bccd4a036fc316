// The arena's promises: alignment, reuse, and no memory from the system once a sequence is known.
#include "core/arena.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace vivace {
namespace {

TEST(Arena, EveryAllocationIsAlignedAndApart) {
  Arena arena;
  std::vector<std::span<std::uint8_t>> pieces;
  // Together more than one block, so that the crossing is met too.
  for (const std::size_t size : {1U, 63U, 64U, 65U, 1U << 20, 7U, 3U << 20, 100U, 1U << 19}) {
    pieces.push_back(arena.allocate<std::uint8_t>(size));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pieces.back().data()) % Arena::kAlignment, 0U);
    std::memset(pieces.back().data(), static_cast<int>(pieces.size()), size);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (const std::uint8_t byte : pieces[i]) ASSERT_EQ(byte, i + 1) << "piece " << i;
  }
}

TEST(Arena, LargeBlocksLieOnHugePages) {
  Arena arena;
  const auto piece = arena.allocate<float>(1 << 20);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.data()) % (2U << 20), 0U);
}

TEST(Arena, NothingIsStillAPlace) {
  Arena arena;
  EXPECT_NE(arena.allocate_bytes(0), nullptr);
  EXPECT_NE(arena.allocate_bytes(0), arena.allocate_bytes(0));
}

TEST(Arena, AScopeGivesItsMemoryBack) {
  Arena arena;
  const void* before = arena.allocate_bytes(100);
  const void* inside = nullptr;
  {
    const Arena::Scope scope(arena);
    inside = arena.allocate_bytes(1000);
    arena.allocate_bytes(5 << 20);  // another block
  }
  const std::size_t held = arena.held_bytes();
  {
    const Arena::Scope scope(arena);
    EXPECT_EQ(arena.allocate_bytes(1000), inside);
    arena.allocate_bytes(5 << 20);
  }
  EXPECT_EQ(arena.held_bytes(), held);
  EXPECT_NE(before, inside);
  EXPECT_EQ(arena.allocate_bytes(64), inside);
}

TEST(Arena, PeakIsTheMostAtOnceAndNotTheSum) {
  Arena arena;
  for (int i = 0; i < 4; ++i) {
    const Arena::Scope scope(arena);
    arena.allocate_bytes(1024);
  }
  EXPECT_EQ(arena.peak_bytes(), 1024U);
  arena.allocate_bytes(1000);  // rounded to 1024
  arena.allocate_bytes(64);
  EXPECT_EQ(arena.peak_bytes(), 1088U);
  arena.reset();
  EXPECT_EQ(arena.peak_bytes(), 1088U);
}

TEST(Arena, AfterResetTheSameSequenceTakesNothing) {
  Arena arena;
  const auto request = [&] {
    for (int layer = 0; layer < 3; ++layer) {
      const Arena::Scope scope(arena);
      arena.allocate_bytes(900'000);
      arena.allocate_bytes(700'001);
      arena.allocate_bytes(3'000'000);
    }
    arena.allocate_bytes(4'600'123);
  };
  request();
  arena.reset();
  const std::size_t held = arena.held_bytes();
  EXPECT_GE(held, arena.peak_bytes());
  EXPECT_LT(held, arena.peak_bytes() + (2U << 20)) << "one block, no larger than needed";
  const void* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    {
      const Arena::Scope scope(arena);
      const void* place = arena.allocate_bytes(1);
      if (first == nullptr) first = place;
      EXPECT_EQ(place, first) << "the block moved";
    }
    request();
    EXPECT_EQ(arena.held_bytes(), held);
    arena.reset();
    EXPECT_EQ(arena.held_bytes(), held);
  }
}

TEST(Arena, ResetOfAnEmptyOneIsFine) {
  Arena arena;
  arena.reset();
  EXPECT_EQ(arena.held_bytes(), 0U);
  EXPECT_EQ(arena.peak_bytes(), 0U);
}

}  // namespace
}  // namespace vivace
