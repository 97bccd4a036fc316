// Where the reference cases lie: ../shared/cases beside the repository, or $VIVACE_CASES.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace vivace::test {

inline std::optional<std::filesystem::path> cases_folder() {
  const char* chosen = std::getenv("VIVACE_CASES");
  const std::filesystem::path folder =
      chosen != nullptr
          ? std::filesystem::path(chosen)
          : std::filesystem::path(VIVACE_SOURCE_DIR).parent_path() / "shared" / "cases";
  if (!std::filesystem::is_directory(folder)) return std::nullopt;
  return folder;
}

}  // namespace vivace::test

/// Declares `variable` as the cases' folder, or skips the test and says why.
#define VIVACE_REQUIRE_CASES(variable)                                                      \
  const auto variable##_or_none = vivace::test::cases_folder();                             \
  if (!variable##_or_none) {                                                                \
    GTEST_SKIP() << "no reference cases: neither $VIVACE_CASES nor ../shared/cases exists"; \
  }                                                                                         \
  const std::filesystem::path& variable = *variable##_or_none
