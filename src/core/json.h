// JSON as a plain value tree. Parsing is strict: no duplicate keys, no comments, no trailing text,
// depth at most 64, valid UTF-8. nlohmann-json does the lexing, in json.cc alone. An array of a
// million numbers is 40 bytes a number as a tree; where that matters (the samples of a result) it
// is packed, eight bytes each, by a reader who asked for it, or viewed where it lies by a writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.h"

namespace vivace {

class Json;
using JsonArray = std::vector<Json>;
/// Keys in the order of the file.
using JsonObject = std::vector<std::pair<std::string, Json>>;

class Json {
 public:
  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(std::int64_t value) : value_(value) {}
  Json(int value) : value_(std::int64_t{value}) {}
  Json(std::size_t value) : value_(static_cast<std::int64_t>(value)) {}
  Json(double value) : value_(value) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(JsonArray value) : value_(std::move(value)) {}
  Json(JsonObject value) : value_(std::move(value)) {}

  /// An array of numbers, eight bytes each. It is no is_array().
  static Json packed(std::vector<std::int64_t> values);
  static Json packed(std::vector<double> values);
  /// The same without a copy: only to be written while `values` live.
  static Json view(std::span<const std::int64_t> values);
  static Json view(std::span<const double> values);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<JsonArray>(value_); }
  bool is_object() const { return std::holds_alternative<JsonObject>(value_); }
  bool is_packed() const { return is_packed_integers() || is_packed_doubles(); }
  bool is_packed_integers() const;
  bool is_packed_doubles() const;

  // Each requires its kind (checked).
  bool as_bool() const;
  std::int64_t as_integer() const;
  double as_number() const;  // an integer too
  const std::string& as_string() const;
  const JsonArray& as_array() const;
  const JsonObject& as_object() const;
  JsonArray& as_array();
  JsonObject& as_object();
  std::span<const std::int64_t> as_packed_integers() const;
  std::span<const double> as_packed_doubles() const;
  /// An array as a tree, whether packed or not.
  JsonArray unpacked() const;
  /// Moves the numbers out (of a view: copies them).
  std::vector<std::int64_t> take_packed_integers();
  std::vector<double> take_packed_doubles();

  /// The member of an object, or null when this is no object or has no such member.
  const Json* find(std::string_view key) const;
  /// Sets a member of an object (a null becomes one), replacing a former value.
  Json& set(std::string_view key, Json value);

  /// "an object", "a number": for error messages.
  std::string_view kind_name() const;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, JsonArray, JsonObject,
               std::vector<std::int64_t>, std::vector<double>, std::span<const std::int64_t>,
               std::span<const double>>
      value_;
};

/// Parses a whole text. Integers that do not fit in 64 bits become doubles. Error: kBadData, with
/// the byte offset.
Result<Json> parse_json(std::string_view text);
/// The same, with arrays of at least `pack_from` numbers and nothing else packed: as integers where
/// all are, else as doubles, but as a tree where a double would not hold one of the integers.
Result<Json> parse_json(std::string_view text, std::size_t pack_from);

/// Takes a piece of a text that is written; its error ends the writing.
using JsonSink = std::function<Result<void>(std::string_view)>;

/// Writes with two spaces of indentation, arrays of plain numbers on one line; doubles in the
/// shortest form that reads back the same, whole ones of a packed array without a fraction; NaN and
/// infinities as null; bytes that are no UTF-8 as U+FFFD.
std::string write_json(const Json& value);
/// The same in pieces of tens of kilobytes, so that a large document never is one string.
Result<void> write_json(const Json& value, const JsonSink& sink);

}  // namespace vivace
