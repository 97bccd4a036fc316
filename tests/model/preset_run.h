// One preset as a user meets it: written, loaded, run twice and with two threads.
#pragma once

#include <sys/sysinfo.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "model/init.h"
#include "model/model.h"
#include "support/temporary_folder.h"

namespace vivace::test {

/// Parameters of an I-JEPA encoder of these sizes.
inline std::int64_t parameters_of(const model::Preset& preset) {
  const std::int64_t d = preset.width;
  const std::int64_t grid = preset.image / preset.patch;
  const std::int64_t layer =
      4 * (d * d + d) + 2 * d * preset.mlp_width + preset.mlp_width + d + 4 * d;
  return 3 * preset.patch * preset.patch * d + d + grid * grid * d + preset.depth * layer + 2 * d;
}

inline void run_preset(std::string_view name) {
  const model::Preset preset = model::find_preset(name).value();
  const auto bytes = static_cast<std::uintmax_t>(4 * parameters_of(preset));
  const TemporaryFolder folder;
  struct sysinfo machine{};
  sysinfo(&machine);
  const std::uintmax_t memory =
      std::uintmax_t{machine.freeram + machine.bufferram} * machine.mem_unit;
  if (std::filesystem::space(folder.path()).available < 2 * bytes || memory < 2 * bytes) {
    GTEST_SKIP() << name << " needs " << 2 * bytes << " bytes of memory and of disk";
  }
  const auto written = model::write_stand_in(preset, 0, folder.path(), 2);
  ASSERT_TRUE(written) << written.error().message;
  const auto loaded = model::Model::load(folder.path());
  ASSERT_TRUE(loaded) << loaded.error().message;
  const model::Model& model = **loaded;
  const model::VitGeometry& geometry = model.encoder().geometry();
  EXPECT_EQ(model.facts().parameters, parameters_of(preset));
  EXPECT_EQ(model.facts().weights_bytes, bytes);
  EXPECT_EQ(geometry.width, preset.width);
  EXPECT_EQ(geometry.depth, preset.depth);
  EXPECT_EQ(geometry.heads, preset.heads);
  EXPECT_EQ(geometry.mlp_width, preset.mlp_width);
  EXPECT_EQ(geometry.image, (Size2{preset.image, preset.image}));

  const Size2 size = geometry.image;
  std::vector<float> pixels(static_cast<std::size_t>(3 * size.height * size.width));
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 50.0f;
  }
  const auto values = static_cast<std::size_t>(geometry.tokens(size) * geometry.width);
  const auto run = [&](model::Workspace& workspace) {
    std::vector<float> tokens(values, NAN);
    model.encoder().prepare(workspace, size);
    model.encoder().encode(workspace, pixels.data(), 1, size, tokens.data(), nullptr);
    return tokens;
  };
  model::Workspace one(1);
  model::Workspace two(2);
  const std::vector<float> first = run(one);
  EXPECT_EQ(first, run(one)) << "two runs are equal to the last bit";
  const std::vector<float> threaded = run(two);
  double square = 0;
  for (std::size_t i = 0; i < values; ++i) {
    ASSERT_TRUE(std::isfinite(first[i]));
    ASSERT_NEAR(first[i], threaded[i], 1e-5) << i;
    square += static_cast<double>(first[i]) * first[i];
  }
  // The final norm of a stand-in has weight 1: tokens have a mean square of 1.
  EXPECT_NEAR(square / static_cast<double>(values), 1, 0.01);
}

}  // namespace vivace::test
