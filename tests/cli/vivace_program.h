// The built program, run as users run it, and what its tests look at: messages, files left behind.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.h"
#include "support/safetensors_lite.h"
#include "support/temporary_folder.h"
#include "support/tiny_checkpoint.h"

namespace vivace::test {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// The program that was built, or the one that $VIVACE_PROGRAM names: an installed one, say.
inline std::string program() {
  const char* chosen = std::getenv("VIVACE_PROGRAM");
  return chosen != nullptr ? chosen : VIVACE_PROGRAM;
}

inline ProgramResult vivace(const Words& words, const ProgramOptions& options = {}) {
  return run_program(program(), words, options);
}

inline Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline void write_bytes(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline void write_bytes(const fs::path& path, const std::vector<std::uint8_t>& bytes) {
  write_bytes(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

inline std::string text_of(const fs::path& path) {
  const std::vector<std::uint8_t> bytes = read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

inline std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// One line `vivace: error: ...` that holds every text, the status, and nothing on standard output.
inline void expect_error(const ProgramResult& result, int status, const Words& says) {
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.status, status) << result.err;
  EXPECT_EQ(result.out, "");
  const std::size_t start = result.err.rfind("vivace: error: ");
  ASSERT_NE(start, std::string::npos) << result.err;
  const std::string message = result.err.substr(start);
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << message;
  EXPECT_TRUE(message.ends_with('\n')) << message;
  EXPECT_FALSE(message.ends_with(".\n")) << message;
  for (const std::string& text : says) EXPECT_THAT(message, testing::HasSubstr(text));
}

/// Of the tiny checkpoint: patch projection, positions, two layers (attention, MLP, norms), norm.
inline constexpr std::int64_t kTinyParameters =
    32 * 3 * 64 + 32 + 16 * 32 +
    2 * (4 * (32 * 32 + 32) + 64 * 32 + 64 + 32 * 64 + 32 + 2 * 2 * 32) + 2 * 32;

/// A tiny model and a folder to work in.
class ProgramTest : public testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  TinyCheckpoint& checkpoint() { return checkpoint_; }
  std::string model() const { return checkpoint_.folder().string(); }

 private:
  TemporaryFolder folder_;
  TinyCheckpoint checkpoint_;
};

}  // namespace vivace::test
