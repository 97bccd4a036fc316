// Reads the members of one JSON object into plain values, naming the path of whatever is wrong:
// "samples.latency_ns[3]: not a time (expected ..., got ...)". The first problem sticks and later
// reads do nothing, so that a reader of a whole document is a flat list of fields. What is read is
// moved out of the tree, so that a million samples are held once: each member is read once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "stats/probability.h"

namespace vivace::result {

/// The first problem of a document.
class Problem {
 public:
  bool found() const { return found_; }
  void report(std::string_view path, std::string_view expected, const Json& got);
  void report(std::string_view path, const std::string& message);
  void report(Error error);
  const Error& error() const { return error_; }

 private:
  bool found_ = false;
  Error error_;
};

enum class Need {
  kRequired,  ///< absent is a problem
  kOptional,  ///< absent or null leaves the value as it is
};

class FieldReader {
 public:
  /// `path` is "" for the document itself. A value that is no object is a problem.
  FieldReader(Json& value, std::string path, Problem& problem);

  void read(std::string_view key, Need need, std::string& out);
  void read(std::string_view key, Need need, bool& out);
  void read(std::string_view key, Need need, std::int64_t& out);  ///< not negative
  void read(std::string_view key, Need need, double& out);
  void read(std::string_view key, Need need, std::vector<std::string>& out);
  void read(std::string_view key, Need need, JsonObject& out);
  void read(std::string_view key, Need need, Json& out);
  /// Whole numbers that are not negative.
  void read(std::string_view key, Need need, std::vector<std::int64_t>& out);
  void read(std::string_view key, Need need, std::vector<double>& out);
  /// A number, in percent or as a fraction; it keeps its decimals as written.
  void read_percent(std::string_view key, Need need, stats::Probability& out);
  void read_fraction(std::string_view key, Need need, stats::Probability& out);
  /// A time that may have been written with a fraction of a nanosecond.
  void read_rounded(std::string_view key, Need need, std::int64_t& out);

  /// None for null and, unless required, for absent.
  template <class T>
  void read_nullable(std::string_view key, Need need, std::optional<T>& out) {
    const Json* value = find(key, need);
    out.reset();
    if (value == nullptr || value->is_null()) return;
    T present{};
    read(key, need, present);
    out = std::move(present);
  }
  void read_nullable_rounded(std::string_view key, Need need, std::optional<std::int64_t>& out);

  /// Calls `body(reader)` for a nested object that is there.
  void object(std::string_view key, Need need, const std::function<void(FieldReader&)>& body);
  /// Calls `body(reader)` for each object of an array.
  void objects(std::string_view key, Need need, const std::function<void(FieldReader&)>& body);

  /// The member, marked as known; a problem when it is required and absent.
  Json* find(std::string_view key, Need need);
  /// The names of all members.
  std::vector<std::string> keys() const;
  const Json& value() const { return value_; }
  std::string path_of(std::string_view key) const;
  Problem& problem() { return problem_; }

  /// What nobody asked for, to be written back; read last.
  JsonObject unknown();

 private:
  /// The member if it is there, no problem was found yet, and it is not an optional null.
  Json* present(std::string_view key, Need need);
  void read_probability(std::string_view key, Need need, bool percent, stats::Probability& out);
  void report_item(std::string_view key, std::size_t index, std::string_view expected,
                   const Json& got);

  Json& value_;
  std::string path_;
  Problem& problem_;
  std::vector<std::string> known_;
};

}  // namespace vivace::result
