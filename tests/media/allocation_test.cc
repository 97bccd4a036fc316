// After the first call of a shape, preprocessing takes no memory: this binary counts every call of
// operator new.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "media/preprocess.h"
#include "media/resize.h"
#include "media/source.h"

namespace {
std::atomic<long> new_count{0};

void* counted(std::size_t bytes) {
  ++new_count;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace vivace::media {
namespace {

long news_during(const auto& call) {
  const long before = new_count.load();
  call();
  return new_count.load() - before;
}

TEST(Allocation, TheCounterCounts) {
  EXPECT_GE(news_during([] { std::vector<int> numbers(1000); }), 1);
}

TEST(Allocation, ResizeAllocatesOnceForAShape) {
  Image in;
  Image out;
  make_synthetic_image({61, 97}, 1, in);
  Resizer resizer;
  const auto call = [&] { resize(in, {40, 30}, Filter::kBicubic, resizer, out); };
  EXPECT_GE(news_during(call), 1);
  EXPECT_EQ(news_during(call), 0);
}

TEST(Allocation, PreprocessAllocatesOnceForAShape) {
  for (const bool crop : {false, true}) {
    PreprocessConfig config;
    config.do_center_crop = crop;
    config.shortest_edge = crop ? 40 : 0;
    config.size = {48, 48};
    config.crop_size = {32, 64};  // pads in one direction
    const Preprocessor preprocessor = Preprocessor::create(config).value();
    Image image;
    make_synthetic_image({61, 77}, 1, image);
    const Size2 size = preprocessor.output_size(image.size()).value();
    std::vector<float> out(static_cast<std::size_t>(3 * size.height * size.width));
    PreprocessScratch scratch;
    bool ran = true;
    const auto call = [&] { ran = ran && preprocessor.run(image, scratch, out).has_value(); };
    EXPECT_GE(news_during(call), 1);
    EXPECT_EQ(news_during(call), 0);
    EXPECT_TRUE(ran);
  }
}

TEST(Allocation, SourcesReuseTheirBuffer) {
  Source source;
  source.path = source.name = VIVACE_SOURCE_DIR "/CMakeLists.txt";
  std::vector<std::uint8_t> bytes;
  bool read = true;
  const auto call = [&] { read = read && read_source(source, bytes).has_value(); };
  EXPECT_GE(news_during(call), 1);
  EXPECT_EQ(news_during(call), 0);
  EXPECT_TRUE(read);
}

}  // namespace
}  // namespace vivace::media
