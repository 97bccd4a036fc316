// The only file that includes nlohmann-json: its SAX interface feeds our tree, so that duplicate
// keys, depth and byte offsets are under our control and no exception leaves this file.
#include "core/json.h"

#include <charconv>
#include <cmath>
#include <set>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/text.h"

namespace vivace {
namespace {

constexpr std::size_t kDepthMax = 64;

/// Builds the tree; an error is kept in `error` and stops the parse by returning false.
class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Json root;
  std::string error;

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(std::int64_t value) override { return add(Json(value)); }
  bool number_unsigned(std::uint64_t value) override {
    if (value > static_cast<std::uint64_t>(INT64_MAX)) return add(Json(static_cast<double>(value)));
    return add(Json(static_cast<std::int64_t>(value)));
  }
  bool number_float(double value, const std::string&) override { return add(Json(value)); }
  bool string(std::string& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json(JsonObject{})); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json(JsonArray{})); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    // Linear search would be quadratic on a safetensors header of a thousand tensors; the set
    // belongs to the object that is open.
    if (!keys_.back().insert(name).second) {
      error = "duplicate key " + quote(name);
      return false;
    }
    open_.back()->as_object().emplace_back(std::move(name), Json());
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& failure) override {
    // The library's message carries its own prefix "[json.exception...] "; the rest is readable.
    std::string_view what = failure.what();
    if (const auto end = what.find("] "); end != std::string_view::npos)
      what.remove_prefix(end + 2);
    (void)token;
    error = fmt::format("at byte {}: {}", position, quote(what, 160));
    return false;
  }

 private:
  Json* place(Json value) {
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.as_array().push_back(std::move(value));
      return &parent.as_array().back();
    }
    Json& slot = parent.as_object().back().second;
    slot = std::move(value);
    return &slot;
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() == kDepthMax) {
      error = fmt::format("nested deeper than {} levels", kDepthMax);
      return false;
    }
    // A pointer into a vector stays valid: nothing is appended to a parent while a child is open.
    open_.push_back(place(std::move(value)));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  std::vector<Json*> open_;
  std::vector<std::set<std::string>> keys_;
};

void write_string(std::string_view text, std::string& out) {
  // A file's name may hold any bytes; a document that cannot be read back helps nobody.
  std::string repaired;
  if (!is_utf8(text)) {
    repaired = to_utf8(text);
    text = repaired;
  }
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (byte < 0x20) {
          out += fmt::format("\\u{:04x}", byte);
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void write_double(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  out += text;
  // "3" would be read back as an integer.
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

bool fits_one_line(const JsonArray& array) {
  for (const Json& item : array) {
    if (item.is_array() || item.is_object()) return false;
  }
  return true;
}

void write(const Json& value, std::size_t depth, std::string& out);

void write_array(const JsonArray& array, std::size_t depth, std::string& out) {
  if (array.empty()) {
    out += "[]";
    return;
  }
  const bool one_line = fits_one_line(array);
  out += '[';
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (i > 0) out += one_line ? ", " : ",";
    if (!one_line) {
      out += '\n';
      out.append(2 * (depth + 1), ' ');
    }
    write(array[i], depth + 1, out);
  }
  if (!one_line) {
    out += '\n';
    out.append(2 * depth, ' ');
  }
  out += ']';
}

void write_object(const JsonObject& object, std::size_t depth, std::string& out) {
  if (object.empty()) {
    out += "{}";
    return;
  }
  out += '{';
  for (std::size_t i = 0; i < object.size(); ++i) {
    out += i > 0 ? ",\n" : "\n";
    out.append(2 * (depth + 1), ' ');
    write_string(object[i].first, out);
    out += ": ";
    write(object[i].second, depth + 1, out);
  }
  out += '\n';
  out.append(2 * depth, ' ');
  out += '}';
}

void write(const Json& value, std::size_t depth, std::string& out) {
  if (value.is_null()) {
    out += "null";
  } else if (value.is_bool()) {
    out += value.as_bool() ? "true" : "false";
  } else if (value.is_integer()) {
    out += std::to_string(value.as_integer());
  } else if (value.is_number()) {
    write_double(value.as_number(), out);
  } else if (value.is_string()) {
    write_string(value.as_string(), out);
  } else if (value.is_array()) {
    write_array(value.as_array(), depth, out);
  } else {
    write_object(value.as_object(), depth, out);
  }
}

}  // namespace

bool Json::as_bool() const {
  VIVACE_CHECK(is_bool());
  return std::get<bool>(value_);
}
std::int64_t Json::as_integer() const {
  VIVACE_CHECK(is_integer());
  return std::get<std::int64_t>(value_);
}
double Json::as_number() const {
  VIVACE_CHECK(is_number());
  return is_integer() ? static_cast<double>(std::get<std::int64_t>(value_))
                      : std::get<double>(value_);
}
const std::string& Json::as_string() const {
  VIVACE_CHECK(is_string());
  return std::get<std::string>(value_);
}
const JsonArray& Json::as_array() const {
  VIVACE_CHECK(is_array());
  return std::get<JsonArray>(value_);
}
const JsonObject& Json::as_object() const {
  VIVACE_CHECK(is_object());
  return std::get<JsonObject>(value_);
}
JsonArray& Json::as_array() {
  VIVACE_CHECK(is_array());
  return std::get<JsonArray>(value_);
}
JsonObject& Json::as_object() {
  VIVACE_CHECK(is_object());
  return std::get<JsonObject>(value_);
}

const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  for (const auto& [name, value] : as_object()) {
    if (name == key) return &value;
  }
  return nullptr;
}

Json& Json::set(std::string_view key, Json value) {
  if (is_null()) value_ = JsonObject{};
  for (auto& [name, slot] : as_object()) {
    if (name == key) {
      slot = std::move(value);
      return slot;
    }
  }
  as_object().emplace_back(std::string(key), std::move(value));
  return as_object().back().second;
}

std::string_view Json::kind_name() const {
  if (is_null()) return "null";
  if (is_bool()) return "true or false";
  if (is_integer()) return "a whole number";
  if (is_number()) return "a number";
  if (is_string()) return "a string";
  if (is_array()) return "an array";
  return "an object";
}

Result<Json> parse_json(std::string_view text) {
  // The lexer would swallow a byte order mark and stop at a NUL; both are no JSON.
  if (text.starts_with("\xef\xbb\xbf")) {
    return fail(ErrorCode::kBadData, "not valid JSON: it starts with a byte order mark");
  }
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    return fail(ErrorCode::kBadData, fmt::format("not valid JSON: at byte {}: a NUL", nul + 1));
  }
  TreeBuilder builder;
  try {
    if (nlohmann::json::sax_parse(text.begin(), text.end(), &builder))
      return std::move(builder.root);
  } catch (const std::exception& failure) {
    builder.error = failure.what();
  }
  return fail(ErrorCode::kBadData, "not valid JSON: " + builder.error);
}

std::string write_json(const Json& value) {
  std::string out;
  write(value, 0, out);
  out += '\n';
  return out;
}

}  // namespace vivace
