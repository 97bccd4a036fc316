// Where a verb talks: results to standard output, everything else to standard error, with bars and
// colour only where a person looks.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace vivace::cli {

class Arguments;

/// Writes to standard error; where that cannot be written, nobody could be told.
void write_error(std::string_view text);

class Console {
 public:
  /// Reads what the environment says about terminals and NO_COLOR, and installs the SIGINT handler.
  Console();

  /// Applies --quiet, --verbose and --no-progress.
  void configure(const Arguments& arguments);

  /// Prints a result on standard output. Error: kInputOutput (a closed pipe, a full disk).
  Result<void> print(std::string_view text);
  /// The same without a flush, for results that come in pieces; end with print("").
  Result<void> write(std::string_view bytes);
  void warn(std::string_view message);
  void note(std::string_view message);  ///< with --verbose only

  /// Draws the bar, at most ten times a second; `share` in [0, 1], `left_s` < 0 for unknown.
  void progress(std::string_view what, double share, double left_s);
  /// Takes the bar away.
  void end_progress();

  bool output_is_terminal() const { return output_is_terminal_; }
  bool colour() const { return colour_; }
  /// Columns of the terminal, 80 where there is none.
  int columns() const;
  /// Set by SIGINT (and SIGTERM).
  const std::atomic<bool>& interrupted() const;

 private:
  bool output_is_terminal_ = false;
  bool error_is_terminal_ = false;
  bool colour_ = false;
  bool quiet_ = false;
  bool verbose_ = false;
  bool bar_wanted_ = true;
  bool bar_drawn_ = false;
  std::int64_t bar_drawn_ns_ = 0;
};

}  // namespace vivace::cli
