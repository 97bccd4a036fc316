#include "result/field_reader.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"

namespace vivace::result {
namespace {

/// The value itself where it is short, else its kind.
std::string shown(const Json& value) {
  if (value.is_string()) return quote(value.as_string(), 60);
  if (value.is_integer()) return std::to_string(value.as_integer());
  if (value.is_number()) return fmt::format("{}", value.as_number());
  return std::string(value.kind_name());
}

bool is_count(const Json& value) { return value.is_integer() && value.as_integer() >= 0; }

constexpr std::string_view kCount = "a whole number that is not negative";

}  // namespace

void Problem::report(std::string_view path, std::string_view expected, const Json& got) {
  if (found_) return;
  found_ = true;
  error_ = fail(ErrorCode::kBadData, {.what = "the result field " + std::string(path) + " is wrong",
                                      .expected = std::string(expected),
                                      .got = shown(got),
                                      .advice = {}})
               .value();
}

void Problem::report(std::string_view path, const std::string& message) {
  if (found_) return;
  found_ = true;
  error_ = fail(ErrorCode::kBadData, "the result field " + std::string(path) + message).value();
}

void Problem::report(Error error) {
  if (found_) return;
  found_ = true;
  error_ = std::move(error);
}

FieldReader::FieldReader(Json& value, std::string path, Problem& problem)
    : value_(value), path_(std::move(path)), problem_(problem) {
  if (!value.is_object()) problem_.report(path_, "an object", value);
}

std::string FieldReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

Json* FieldReader::find(std::string_view key, Need need) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  Json* found = nullptr;
  if (value_.is_object()) {
    for (auto& [name, value] : value_.as_object()) {
      if (name == key) found = &value;
    }
  }
  if (found == nullptr && need == Need::kRequired) {
    problem_.report(path_of(key), " is missing; write the file again, or restore it");
  }
  return found;
}

std::vector<std::string> FieldReader::keys() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : value_.as_object()) names.push_back(name);
  return names;
}

void FieldReader::report_item(std::string_view key, std::size_t index, std::string_view expected,
                              const Json& got) {
  problem_.report(fmt::format("{}[{}]", path_of(key), index), expected, got);
}

Json* FieldReader::present(std::string_view key, Need need) {
  Json* found = find(key, need);
  if (found == nullptr || problem_.found()) return nullptr;
  if (found->is_null() && need == Need::kOptional) return nullptr;
  return found;
}

void FieldReader::read(std::string_view key, Need need, std::string& out) {
  const Json* value = present(key, need);
  if (value == nullptr) return;
  if (!value->is_string()) return problem_.report(path_of(key), "a string", *value);
  out = value->as_string();
}

void FieldReader::read(std::string_view key, Need need, bool& out) {
  const Json* value = present(key, need);
  if (value == nullptr) return;
  if (!value->is_bool()) return problem_.report(path_of(key), "true or false", *value);
  out = value->as_bool();
}

void FieldReader::read(std::string_view key, Need need, std::int64_t& out) {
  const Json* value = present(key, need);
  if (value == nullptr) return;
  if (!is_count(*value)) return problem_.report(path_of(key), kCount, *value);
  out = value->as_integer();
}

void FieldReader::read(std::string_view key, Need need, double& out) {
  const Json* value = present(key, need);
  if (value == nullptr) return;
  if (!value->is_number()) return problem_.report(path_of(key), "a number", *value);
  out = value->as_number();
}

void FieldReader::read(std::string_view key, Need need, Json& out) {
  if (Json* value = present(key, need)) out = std::move(*value);
}

void FieldReader::read(std::string_view key, Need need, JsonObject& out) {
  Json* value = present(key, need);
  if (value == nullptr) return;
  if (!value->is_object()) return problem_.report(path_of(key), "an object", *value);
  out = std::move(value->as_object());
}

void FieldReader::read(std::string_view key, Need need, std::vector<std::string>& out) {
  const Json* value = present(key, need);
  if (value == nullptr) return;
  if (!value->is_array()) return problem_.report(path_of(key), "an array", *value);
  const JsonArray& array = value->as_array();
  out.clear();
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (!array[i].is_string()) return report_item(key, i, "a string", array[i]);
    out.push_back(array[i].as_string());
  }
}

void FieldReader::read(std::string_view key, Need need, std::vector<std::int64_t>& out) {
  Json* value = present(key, need);
  if (value == nullptr) return;
  if (value->is_packed_integers()) {
    out = value->take_packed_integers();
    const auto negative = std::find_if(out.begin(), out.end(), [](auto one) { return one < 0; });
    if (negative == out.end()) return;
    return report_item(key, static_cast<std::size_t>(negative - out.begin()), kCount, *negative);
  }
  if (value->is_packed_doubles()) {
    // At least one has a fraction or is beyond 64 bits: else they were packed as integers.
    const auto values = value->as_packed_doubles();
    const auto no_count = std::find_if(values.begin(), values.end(), [](double one) {
      return one < 0 || one != std::floor(one) || one >= 0x1p63;
    });
    const auto index = no_count == values.end() ? 0 : no_count - values.begin();
    return report_item(key, static_cast<std::size_t>(index), kCount,
                       values[static_cast<std::size_t>(index)]);
  }
  if (!value->is_array()) return problem_.report(path_of(key), "an array", *value);
  const JsonArray& array = value->as_array();
  out.clear();
  out.reserve(array.size());
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (!is_count(array[i])) return report_item(key, i, kCount, array[i]);
    out.push_back(array[i].as_integer());
  }
}

void FieldReader::read(std::string_view key, Need need, std::vector<double>& out) {
  Json* value = present(key, need);
  if (value == nullptr) return;
  if (value->is_packed_doubles()) {
    out = value->take_packed_doubles();
    return;
  }
  if (value->is_packed_integers()) {
    const std::vector<std::int64_t> integers = value->take_packed_integers();
    out.assign(integers.begin(), integers.end());
    return;
  }
  if (!value->is_array()) return problem_.report(path_of(key), "an array", *value);
  const JsonArray& array = value->as_array();
  out.clear();
  out.reserve(array.size());
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (!array[i].is_number()) return report_item(key, i, "a number", array[i]);
    out.push_back(array[i].as_number());
  }
}

void FieldReader::read_probability(std::string_view key, Need need, bool percent,
                                   stats::Probability& out) {
  const Json* value = present(key, need);
  if (value == nullptr) return;
  if (value->is_number()) {
    // The shortest text of the double is the decimal that was written.
    const std::string text = value->is_integer() ? std::to_string(value->as_integer())
                                                 : fmt::format("{}", value->as_number());
    const auto parsed = percent ? stats::parse_percentile(text) : stats::parse_probability(text);
    if (parsed) {
      out = *parsed;
      return;
    }
  }
  problem_.report(path_of(key),
                  percent ? "a percentile above 0 and below 100" : "a number above 0 and below 1",
                  *value);
}

void FieldReader::read_percent(std::string_view key, Need need, stats::Probability& out) {
  read_probability(key, need, true, out);
}

void FieldReader::read_fraction(std::string_view key, Need need, stats::Probability& out) {
  read_probability(key, need, false, out);
}

void FieldReader::read_rounded(std::string_view key, Need need, std::int64_t& out) {
  const Json* value = present(key, need);
  if (value == nullptr) return;
  if (value->is_integer()) return read(key, need, out);
  if (!value->is_number() || value->as_number() < 0 || value->as_number() > 9.2e18) {
    return problem_.report(path_of(key), "a number that is not negative", *value);
  }
  out = std::llround(value->as_number());
}

void FieldReader::read_nullable_rounded(std::string_view key, Need need,
                                        std::optional<std::int64_t>& out) {
  const Json* value = find(key, need);
  out.reset();
  if (value == nullptr || value->is_null()) return;
  read_rounded(key, need, out.emplace());
}

void FieldReader::object(std::string_view key, Need need,
                         const std::function<void(FieldReader&)>& body) {
  Json* value = present(key, need);
  if (value == nullptr) return;
  FieldReader reader(*value, path_of(key), problem_);
  if (!problem_.found()) body(reader);
}

void FieldReader::objects(std::string_view key, Need need,
                          const std::function<void(FieldReader&)>& body) {
  Json* value = present(key, need);
  if (value == nullptr) return;
  if (!value->is_array()) return problem_.report(path_of(key), "an array", *value);
  for (std::size_t i = 0; i < value->as_array().size() && !problem_.found(); ++i) {
    FieldReader reader(value->as_array()[i], fmt::format("{}[{}]", path_of(key), i), problem_);
    if (!problem_.found()) body(reader);
  }
}

JsonObject FieldReader::unknown() {
  JsonObject rest;
  if (!value_.is_object()) return rest;
  for (auto& [key, value] : value_.as_object()) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      rest.emplace_back(key, std::move(value));
    }
  }
  return rest;
}

}  // namespace vivace::result
