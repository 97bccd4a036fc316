// Reads a family of reference cases: {"cases": [{"id", "inputs", "expected", "tolerance"}, ...]}.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/json.h"
#include "stats/probability.h"
#include "support/cases.h"

namespace vivace::test {

/// The member of an object that has one; an empty value, and a failed test, where it has none.
inline const Json& member(const Json& object, std::string_view key) {
  static const Json none;
  const Json* found = object.find(key);
  if (found == nullptr) {
    ADD_FAILURE() << "the reference case lacks " << key;
    return none;
  }
  return *found;
}

/// The cases of one file; a test that got none has failed.
inline JsonArray read_cases(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto document = parse_json(text);
  if (!document) {
    ADD_FAILURE() << file << ": " << document.error().message;
    return {};
  }
  JsonArray cases = member(*document, "cases").as_array();
  EXPECT_FALSE(cases.empty()) << file;
  return cases;
}

inline stats::Probability probability(std::string_view text) {
  const auto parsed = stats::parse_probability(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(stats::Probability());
}

inline std::optional<std::int64_t> integer_or_null(const Json& value) {
  if (value.is_null()) return std::nullopt;
  return value.as_integer();
}

inline std::vector<std::int64_t> integers(const Json& array) {
  std::vector<std::int64_t> values;
  for (const Json& value : array.as_array()) values.push_back(value.as_integer());
  return values;
}

/// A relative tolerance, written as a number or as "1e-14 relative".
inline double tolerance_of(const Json& tolerance) {
  return tolerance.is_string() ? std::stod(tolerance.as_string()) : tolerance.as_number();
}

inline void expect_relative(double got, double want, double tolerance, std::string_view what) {
  EXPECT_LE(std::abs(got - want), tolerance * std::abs(want))
      << what << ": " << got << ", not " << want;
}

}  // namespace vivace::test
