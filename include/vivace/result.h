// Value or error: every call of the library that can fail for a reason outside the program (a bad
// file, a wrong flag, a full disk) returns Result<T>. The library never throws, prints or aborts
// for such a reason.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace vivace {

/// What kind of thing went wrong. Each code has one exit status and one HTTP status.
enum class ErrorCode {
  kUsage,               ///< the call or the command line is wrong
  kInvalidMeasurement,  ///< what was measured is no latency
  kBadData,             ///< a checkpoint, media or result file breaks its format
  kMissingInput,        ///< an input is not there or cannot be read
  kUnavailable,         ///< this build or machine lacks a backend, device or codec
  kInternal,            ///< a bug in vivace
  kCannotCreate,        ///< an output cannot be created
  kInputOutput,         ///< reading or writing failed half-way
  kTemporary,           ///< overload or deadline; trying again may help
  kInterrupted,         ///< stopped by a signal
};

/// The exit status of the command line for this code (sysexits-like; see docs/cli.md).
int exit_status(ErrorCode code);
/// The HTTP status a server answers with for this code.
int http_status(ErrorCode code);
/// A stable lower-case name, for logs and JSON: "bad_data".
std::string_view name_of(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  /// "WHAT (expected ..., got ...); TRY": one line, without a final full stop or newline.
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

}  // namespace vivace
