// An engine over a tiny checkpoint, and inputs of every kind for it.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "media/encode.h"
#include "pipeline/engine.h"
#include "pipeline/input.h"
#include "pipeline/lane.h"
#include "pipeline/npy.h"
#include "support/tiny_checkpoint.h"

namespace vivace::pipeline::test {

class PipelineTest : public testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return files_.path() / name; }

  media::Source file(const std::string& name, const std::vector<std::uint8_t>& bytes) const {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    media::Source source;
    source.name = source.path = path(name).string();
    return source;
  }
  media::Source jpeg(const std::string& name, std::int64_t height, std::int64_t width) const {
    return file(name, media::test::encode_jpeg(media::test::picture(height, width)));
  }
  media::Source npy(const std::string& name, DType type, const Shape& shape,
                    std::span<const std::byte> data) const {
    const std::string header = npy_header(type, shape);
    std::vector<std::uint8_t> bytes(header.begin(), header.end());
    const auto* begin = reinterpret_cast<const std::uint8_t*>(data.data());
    bytes.insert(bytes.end(), begin, begin + data.size());
    media::Source source = file(name, bytes);
    source.kind = media::Source::Kind::kTensor;
    return source;
  }
  /// Ready pixels [B, 3, 32, 32].
  media::Source pixels(const std::string& name, std::int64_t batch) const {
    const std::vector<float> data = values(batch);
    return npy(name, DType::kF32, {batch, 3, 32, 32}, std::as_bytes(std::span(data)));
  }
  static std::vector<float> values(std::int64_t batch) {
    std::vector<float> result(static_cast<std::size_t>(batch * 3 * 32 * 32));
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = static_cast<float>(static_cast<int>(i % 61) - 30) / 30.0f;
    }
    return result;
  }
  static media::Source synthetic(std::int64_t height, std::int64_t width) {
    media::Source source;
    source.kind = media::Source::Kind::kSynthetic;
    source.synthetic_size = {height, width};
    source.name = "synthetic:" + std::to_string(height) + "x" + std::to_string(width);
    return source;
  }
  static std::vector<Input> inputs(const std::vector<media::Source>& sources) {
    auto made = make_inputs(sources);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(made).value();
  }
  std::shared_ptr<const Engine> engine(const EngineOptions& options = {}) const {
    auto loaded = Engine::load(tiny_.folder(), options);
    EXPECT_TRUE(loaded) << loaded.error().message;
    return std::move(loaded).value();
  }
  static Result<void> run(Lane& lane, Recorder& recorder) {
    return lane.run(kLaneStages[0], Stage::kPostprocess, recorder);
  }

  vivace::test::TinyCheckpoint tiny_;
  vivace::test::TemporaryFolder files_;
};

}  // namespace vivace::pipeline::test
