// After the first request of a shape a lane takes no memory: this binary counts every call of
// malloc and its kin and, apart, of operator new. Codecs call malloc inside their libraries; code
// of ours must call neither.
#include <cstdlib>

#include "pipeline/pipeline_fixture.h"
#include "support/counting_allocator.h"

namespace vivace::pipeline {
namespace {

using vivace::test::AllocationCounts;

AllocationCounts counts_during(const auto& call) {
  const AllocationCounts before = vivace::test::allocation_counts();
  call();
  const AllocationCounts after = vivace::test::allocation_counts();
  return {after.mallocs - before.mallocs, after.news - before.news};
}

class LaneAllocation : public test::PipelineTest {
 protected:
  /// A whole request as a system under test makes it.
  AllocationCounts request(Lane& lane, const std::vector<Input>& request) {
    return counts_during([&] {
      lane.set_inputs(request);
      recorder_.reset();
      ok_ = run(lane, recorder_).has_value() && ok_;
    });
  }

  Recorder recorder_;
  bool ok_ = true;
};

TEST_F(LaneAllocation, TheCountersCount) {
  const AllocationCounts counts = counts_during([] {
    std::vector<int> numbers(1000);
    numbers[0] = 1;
  });
  EXPECT_GE(counts.news, 1);
  if (!vivace::test::kMallocIsCounted) GTEST_SKIP() << "malloc is the sanitizer's here";
  EXPECT_GE(counts.mallocs, 1);
  void* volatile memory = nullptr;
  EXPECT_GE(counts_during([&] { memory = std::aligned_alloc(64, 64); }).mallocs, 1);
  std::free(memory);
}

TEST_F(LaneAllocation, ReadyPixelsTakeNothingAfterTheFirstRequest) {
  for (const int threads : {1, 2}) {
    for (const std::int64_t batch : {1, 3}) {
      Lane lane(engine(), threads);
      const auto ready = inputs({pixels("p.npy", batch)});
      EXPECT_GE(request(lane, ready).news, 1);
      for (int i = 0; i < 3; ++i) {
        const AllocationCounts counts = request(lane, ready);
        EXPECT_EQ(counts.news, 0) << "batch " << batch << ", threads " << threads;
        EXPECT_EQ(counts.mallocs, 0) << "batch " << batch << ", threads " << threads;
      }
    }
  }
  EXPECT_TRUE(ok_);
}

TEST_F(LaneAllocation, AnotherResolutionTakesNothingEither) {
  Lane lane(engine({.resolution = Size2{48, 64}, .limits = {}, .seed = 0}), 1);
  const std::vector<float> values(3 * 48 * 64, 0.25f);
  const auto ready =
      inputs({npy("p.npy", DType::kF32, {1, 3, 48, 64}, std::as_bytes(std::span(values)))});
  (void)request(lane, ready);
  const AllocationCounts counts = request(lane, ready);
  EXPECT_EQ(counts.news, 0);
  EXPECT_EQ(counts.mallocs, 0);
  EXPECT_TRUE(ok_);
}

TEST_F(LaneAllocation, SyntheticAndDecodedPicturesTakeNothing) {
  const media::Image image = media::test::picture(50, 70);
  for (const auto& source : {synthetic(100, 80), npy("d.npy", DType::kU8, {1, 50, 70, 3},
                                                     std::as_bytes(std::span(image.rgb)))}) {
    Lane lane(engine(), 1);
    const auto picture = inputs({source});
    (void)request(lane, picture);
    const AllocationCounts counts = request(lane, picture);
    EXPECT_EQ(counts.news, 0) << source.name;
    EXPECT_EQ(counts.mallocs, 0) << source.name;
  }
  EXPECT_TRUE(ok_);
}

TEST_F(LaneAllocation, AJpegTakesNothingByNew) {
  Lane lane(engine(), 2);
  const auto picture = inputs({jpeg("p.jpg", 200, 160)});
  (void)request(lane, picture);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(request(lane, picture).news, 0);
  EXPECT_TRUE(ok_);
}

TEST_F(LaneAllocation, PicturesInTurnTakeNothingByNewOnceEachWasSeen) {
  Lane lane(engine(), 1, [](const std::string&) {});
  const auto first = inputs({jpeg("large.jpg", 200, 160)});
  const auto second = inputs({jpeg("small.jpg", 100, 80)});
  (void)request(lane, first);
  (void)request(lane, second);
  EXPECT_EQ(request(lane, second).news, 0) << "a callback for warnings costs nothing";
  EXPECT_TRUE(ok_);
}

}  // namespace
}  // namespace vivace::pipeline
