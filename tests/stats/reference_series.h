// The series of the reference cases: given, by the name of another case, or by a generator.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "stats/reference.h"

namespace vivace::test {

/// state <- (1664525 state + 1013904223) mod 2^32; sample i = 2e7 + state/4096 + the steps so far.
inline std::vector<std::int64_t> generated_series(const Json& generator) {
  auto state = static_cast<std::uint32_t>(member(generator, "state").as_integer());
  const std::int64_t n = member(generator, "n").as_integer();
  std::vector<std::int64_t> samples;
  for (std::int64_t i = 0; i < n; ++i) {
    state = 1664525u * state + 1013904223u;
    std::int64_t x = 20'000'000 + state / 4096;
    for (const Json& step : member(generator, "steps").as_array()) {
      if (step.as_array()[0].as_integer() <= i) x += step.as_array()[1].as_integer();
    }
    samples.push_back(x);
  }
  return samples;
}

/// The samples of a case of a file in `folder`.
inline std::vector<std::int64_t> series_of(const std::filesystem::path& folder, const Json& one) {
  const Json& inputs = member(one, "inputs");
  if (const Json* generator = inputs.find("generator")) return generated_series(*generator);
  const Json* elsewhere = inputs.find("same_samples_as");
  if (elsewhere == nullptr) return integers(member(inputs, "samples_ns"));
  const std::string& text = elsewhere->as_string();
  const auto hash = text.find('#');
  for (const Json& other : read_cases(folder / text.substr(0, hash))) {
    if (member(other, "id").as_string() == text.substr(hash + 1)) return series_of(folder, other);
  }
  ADD_FAILURE() << "no case " << text;
  return {};
}

}  // namespace vivace::test
