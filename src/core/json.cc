// The only file that includes nlohmann-json: its SAX interface feeds our tree, so that duplicate
// keys, depth and byte offsets are under our control and no exception leaves this file.
#include "core/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/text.h"

namespace vivace {
namespace {

constexpr std::size_t kDepthMax = 64;
/// No array is that long.
constexpr std::size_t kNeverPack = SIZE_MAX;
/// A piece for a sink is handed on when it is this long.
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

/// Every whole number up to here is a double.
constexpr std::int64_t kExactMax = std::int64_t{1} << 53;
bool is_exact(std::int64_t value) { return value >= -kExactMax && value <= kExactMax; }

/// Builds the tree; an error is kept in `error` and stops the parse by returning false.
class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(std::size_t pack_from) : pack_from_(pack_from) {}

  Json root;
  std::string error;

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(std::int64_t value) override {
    if (pack(value)) return true;
    return add(Json(value));
  }
  bool number_unsigned(std::uint64_t value) override {
    if (value > static_cast<std::uint64_t>(INT64_MAX)) {
      return number_float(static_cast<double>(value), {});
    }
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string&) override {
    if (pack(value)) return true;
    return add(Json(value));
  }
  bool string(std::string& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json(JsonObject{})); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json(JsonArray{})); }
  bool end_array() override {
    if (packing_ != Packing::kNone) end_packing();
    return close();
  }
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
  /// What the numbers of the innermost open array are gathered in. It has no open children, so
  /// that there is one at a time.
  enum class Packing { kNone, kIntegers, kDoubles };

  /// True when the number was gathered with the others of its array.
  bool pack(std::int64_t value) {
    if (!begins_or_goes_on(Packing::kIntegers)) return false;
    if (packing_ == Packing::kIntegers) {
      integers_.push_back(value);
      return true;
    }
    if (is_exact(value)) {
      doubles_.push_back(static_cast<double>(value));
      return true;
    }
    spill();
    return false;
  }
  bool pack(double value) {
    if (!begins_or_goes_on(Packing::kDoubles)) return false;
    if (packing_ == Packing::kIntegers) {
      if (!std::all_of(integers_.begin(), integers_.end(), is_exact)) {
        spill();
        return false;
      }
      doubles_.assign(integers_.begin(), integers_.end());
      integers_ = {};
      packing_ = Packing::kDoubles;
    }
    doubles_.push_back(value);
    return true;
  }
  bool begins_or_goes_on(Packing kind) {
    if (packing_ != Packing::kNone) return true;
    if (pack_from_ == kNeverPack || open_.empty()) return false;
    const Json& parent = *open_.back();
    if (!parent.is_array() || !parent.as_array().empty()) return false;
    packing_ = kind;
    return true;
  }
  void end_packing() {
    if (std::max(integers_.size(), doubles_.size()) < pack_from_) return spill();
    *open_.back() = packing_ == Packing::kIntegers ? Json::packed(std::move(integers_))
                                                   : Json::packed(std::move(doubles_));
    stop_packing();
  }
  /// The array is too short to pack, or holds something else: it becomes a tree after all.
  void spill() {
    *open_.back() = packing_ == Packing::kIntegers ? Json::view(integers_).unpacked()
                                                   : Json::view(doubles_).unpacked();
    stop_packing();
  }
  void stop_packing() {
    packing_ = Packing::kNone;
    integers_.clear();
    doubles_.clear();
  }

  Json* place(Json value) {
    if (packing_ != Packing::kNone) spill();
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

  std::size_t pack_from_;
  Packing packing_ = Packing::kNone;
  std::vector<std::int64_t> integers_;
  std::vector<double> doubles_;
  std::vector<Json*> open_;
  std::vector<std::set<std::string>> keys_;
};

/// Writes a value piece by piece; after an error of the sink it writes nothing more.
class Writer {
 public:
  explicit Writer(const JsonSink& sink) : sink_(sink) { out_.reserve(kPieceBytes + 4096); }

  Result<void> write_document(const Json& value) {
    write(value, 0);
    out_ += '\n';
    hand_on();
    return std::move(outcome_);
  }

 private:
  void write(const Json& value, std::size_t depth);
  void write_array(const JsonArray& array, std::size_t depth);
  void write_object(const JsonObject& object, std::size_t depth);
  void write_string(std::string_view text);
  void write_integer(std::int64_t value);
  void write_double(double value);
  template <class T, class WriteOne>
  void write_packed(std::span<const T> values, WriteOne write_one);

  void new_line(std::size_t depth) {
    out_ += '\n';
    out_.append(2 * depth, ' ');
  }
  void hand_on_if_long() {
    if (out_.size() >= kPieceBytes) hand_on();
  }
  void hand_on() {
    if (outcome_) outcome_ = sink_(out_);
    out_.clear();
  }

  const JsonSink& sink_;
  std::string out_;
  Result<void> outcome_;
};

void Writer::write(const Json& value, std::size_t depth) {
  if (!outcome_) return;
  hand_on_if_long();
  if (value.is_null()) {
    out_ += "null";
  } else if (value.is_bool()) {
    out_ += value.as_bool() ? "true" : "false";
  } else if (value.is_integer()) {
    write_integer(value.as_integer());
  } else if (value.is_number()) {
    write_double(value.as_number());
  } else if (value.is_string()) {
    write_string(value.as_string());
  } else if (value.is_array()) {
    write_array(value.as_array(), depth);
  } else if (value.is_packed_integers()) {
    write_packed(value.as_packed_integers(), [&](std::int64_t one) { write_integer(one); });
  } else if (value.is_packed_doubles()) {
    write_packed(value.as_packed_doubles(), [&](double one) {
      const bool whole = one == std::floor(one) && std::abs(one) < static_cast<double>(kExactMax);
      whole ? write_integer(static_cast<std::int64_t>(one)) : write_double(one);
    });
  } else {
    write_object(value.as_object(), depth);
  }
}

bool fits_one_line(const JsonArray& array) {
  return std::none_of(array.begin(), array.end(), [](const Json& item) {
    return item.is_array() || item.is_object() || item.is_packed();
  });
}

void Writer::write_array(const JsonArray& array, std::size_t depth) {
  const bool one_line = fits_one_line(array);
  out_ += '[';
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (i > 0) out_ += one_line ? ", " : ",";
    if (!one_line) new_line(depth + 1);
    write(array[i], depth + 1);
  }
  if (!one_line) new_line(depth);
  out_ += ']';
}

void Writer::write_object(const JsonObject& object, std::size_t depth) {
  out_ += '{';
  for (std::size_t i = 0; i < object.size(); ++i) {
    if (i > 0) out_ += ',';
    new_line(depth + 1);
    write_string(object[i].first);
    out_ += ": ";
    write(object[i].second, depth + 1);
  }
  if (!object.empty()) new_line(depth);
  out_ += '}';
}

template <class T, class WriteOne>
void Writer::write_packed(std::span<const T> values, WriteOne write_one) {
  out_ += '[';
  for (std::size_t i = 0; i < values.size() && outcome_; ++i) {
    if (i > 0) out_ += ", ";
    write_one(values[i]);
    hand_on_if_long();
  }
  out_ += ']';
}

void Writer::write_string(std::string_view text) {
  // A file's name may hold any bytes; a document that cannot be read back helps nobody.
  std::string repaired;
  if (!is_utf8(text)) {
    repaired = to_utf8(text);
    text = repaired;
  }
  out_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        out_ += "\\\"";
        break;
      case '\\':
        out_ += "\\\\";
        break;
      case '\n':
        out_ += "\\n";
        break;
      case '\r':
        out_ += "\\r";
        break;
      case '\t':
        out_ += "\\t";
        break;
      default:
        if (byte < 0x20) {
          out_ += fmt::format("\\u{:04x}", byte);
        } else {
          out_ += c;
        }
    }
  }
  out_ += '"';
}

void Writer::write_integer(std::int64_t value) {
  char buffer[32];
  out_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

void Writer::write_double(double value) {
  if (!std::isfinite(value)) {
    out_ += "null";
    return;
  }
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  out_ += text;
  // "3" would be read back as an integer.
  if (text.find_first_of(".e") == std::string_view::npos) out_ += ".0";
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

Json Json::packed(std::vector<std::int64_t> values) {
  Json json;
  json.value_ = std::move(values);
  return json;
}
Json Json::packed(std::vector<double> values) {
  Json json;
  json.value_ = std::move(values);
  return json;
}
Json Json::view(std::span<const std::int64_t> values) {
  Json json;
  json.value_ = values;
  return json;
}
Json Json::view(std::span<const double> values) {
  Json json;
  json.value_ = values;
  return json;
}

bool Json::is_packed_integers() const {
  return std::holds_alternative<std::vector<std::int64_t>>(value_) ||
         std::holds_alternative<std::span<const std::int64_t>>(value_);
}
bool Json::is_packed_doubles() const {
  return std::holds_alternative<std::vector<double>>(value_) ||
         std::holds_alternative<std::span<const double>>(value_);
}
std::span<const std::int64_t> Json::as_packed_integers() const {
  VIVACE_CHECK(is_packed_integers());
  if (const auto* owned = std::get_if<std::vector<std::int64_t>>(&value_)) return *owned;
  return std::get<std::span<const std::int64_t>>(value_);
}
std::span<const double> Json::as_packed_doubles() const {
  VIVACE_CHECK(is_packed_doubles());
  if (const auto* owned = std::get_if<std::vector<double>>(&value_)) return *owned;
  return std::get<std::span<const double>>(value_);
}

JsonArray Json::unpacked() const {
  if (is_packed_integers()) {
    const auto values = as_packed_integers();
    return JsonArray(values.begin(), values.end());
  }
  if (is_packed_doubles()) {
    const auto values = as_packed_doubles();
    return JsonArray(values.begin(), values.end());
  }
  return as_array();
}

std::vector<std::int64_t> Json::take_packed_integers() {
  if (auto* owned = std::get_if<std::vector<std::int64_t>>(&value_)) return std::move(*owned);
  const auto values = as_packed_integers();
  return {values.begin(), values.end()};
}
std::vector<double> Json::take_packed_doubles() {
  if (auto* owned = std::get_if<std::vector<double>>(&value_)) return std::move(*owned);
  const auto values = as_packed_doubles();
  return {values.begin(), values.end()};
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
  if (is_packed()) return "an array of numbers";
  return "an object";
}

Result<Json> parse_json(std::string_view text) { return parse_json(text, kNeverPack); }

Result<Json> parse_json(std::string_view text, std::size_t pack_from) {
  // The lexer would swallow a byte order mark and stop at a NUL; both are no JSON.
  if (text.starts_with("\xef\xbb\xbf")) {
    return fail(ErrorCode::kBadData, "not valid JSON: it starts with a byte order mark");
  }
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    return fail(ErrorCode::kBadData, fmt::format("not valid JSON: at byte {}: a NUL", nul + 1));
  }
  TreeBuilder builder(pack_from);
  try {
    if (nlohmann::json::sax_parse(text.begin(), text.end(), &builder))
      return std::move(builder.root);
  } catch (const std::exception& failure) {
    builder.error = failure.what();
  }
  return fail(ErrorCode::kBadData, "not valid JSON: " + builder.error);
}

std::string write_json(const Json& value) {
  std::string text;
  const JsonSink append = [&text](std::string_view piece) -> Result<void> {
    text += piece;
    return {};
  };
  VIVACE_CHECK(write_json(value, append));
  return text;
}

Result<void> write_json(const Json& value, const JsonSink& sink) {
  return Writer(sink).write_document(value);
}

}  // namespace vivace
