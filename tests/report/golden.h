// Compares a rendered text with the one that was looked at and kept in tests/report/golden. After a
// wanted change run the test with VIVACE_UPDATE_GOLDEN=1 and read the difference before committing.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace vivace::test {

inline void expect_golden(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(VIVACE_SOURCE_DIR) / "tests" / "report" / "golden" / name;
  if (std::getenv("VIVACE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    FAIL() << "wrote " << path << "; run again without VIVACE_UPDATE_GOLDEN";
  }
  std::ifstream stream(path, std::ios::binary);
  ASSERT_TRUE(stream) << path;
  const std::string kept{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(text, kept) << path;
}

}  // namespace vivace::test
