#include "record/recorder.h"

#include <set>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

namespace vivace {
namespace {

TEST(Stage, NamesAreThoseOfTheFiles) {
  constexpr std::string_view kNames[] = {
      "network",     "queue",          "fetch",          "read",          "decode",
      "preprocess",  "host_to_device", "context_encode", "target_encode", "predict",
      "postprocess", "device_to_host", "respond",        "unattributed"};
  ASSERT_EQ(std::size(kNames), kStageCount);
  ASSERT_EQ(static_cast<std::size_t>(Stage::kUnattributed), kStageCount - 1);
  for (std::size_t i = 0; i < kStageCount; ++i) {
    EXPECT_EQ(name_of(static_cast<Stage>(i)), kNames[i]);
    EXPECT_EQ(stage_named(kNames[i]), static_cast<Stage>(i));
  }
  for (const char* name : {"", "Read", "read ", "encode", "unknown"}) {
    EXPECT_EQ(stage_named(name), std::nullopt) << name;
  }
}

TEST(Recorder, AddsUpWhatAStageTakes) {
  Recorder recorder;
  recorder.add(Stage::kRead, 5);
  recorder.add(Stage::kDecode, 7);
  recorder.add(Stage::kRead, 6);
  EXPECT_EQ(recorder.times()[static_cast<std::size_t>(Stage::kRead)], 11);
  EXPECT_EQ(recorder.times()[static_cast<std::size_t>(Stage::kDecode)], 7);
  EXPECT_EQ(recorder.sum_ns(), 18);
  recorder.reset();
  EXPECT_EQ(recorder.sum_ns(), 0);
}

TEST(Recorder, AScopeStampsItsStageAndNoOther) {
  Recorder recorder;
  const std::int64_t start_ns = platform::now_ns();
  {
    const Recorder::Scope scope(recorder, Stage::kPredict);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const std::int64_t elapsed_ns = platform::now_ns() - start_ns;
  const std::int64_t predict_ns = recorder.times()[static_cast<std::size_t>(Stage::kPredict)];
  EXPECT_GE(predict_ns, 2'000'000);
  EXPECT_LE(predict_ns, elapsed_ns);
  EXPECT_EQ(recorder.sum_ns(), predict_ns);
}

}  // namespace
}  // namespace vivace
