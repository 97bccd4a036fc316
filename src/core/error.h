// How an Error is made and passed on inside the library.
#pragma once

#include <string>
#include <utility>

#include "vivace/result.h"

namespace vivace {

/// The parts of a message, in the order in which they are printed. `what` alone is required.
struct ErrorParts {
  std::string what;      ///< names the thing (file, tensor, flag) and what is wrong with it
  std::string expected;  ///< what would have been right
  std::string got;       ///< what was found
  std::string advice;    ///< what to do
};

/// "WHAT (expected E, got G); ADVICE", leaving out what is empty.
std::string format_message(const ErrorParts& parts);

/// An Error ready to be returned from a function of any Result type.
tl::unexpected<Error> fail(ErrorCode code, std::string what);
tl::unexpected<Error> fail(ErrorCode code, const ErrorParts& parts);

/// The same error, with "CONTEXT: " before its message (the file it happened in, say).
Error with_context(Error error, std::string_view context);

/// What the system says of an errno: "No such file or directory".
std::string errno_text(int number);

}  // namespace vivace

#define VIVACE_CONCAT_INNER(a, b) a##b
#define VIVACE_CONCAT(a, b) VIVACE_CONCAT_INNER(a, b)

/// VIVACE_TRY(auto x, call()): x is the value of the Result, or the enclosing function returns its
/// error.
#define VIVACE_TRY(declaration, expression)                                     \
  auto VIVACE_CONCAT(result_, __LINE__) = (expression);                         \
  if (!VIVACE_CONCAT(result_, __LINE__)) {                                      \
    return tl::unexpected(std::move(VIVACE_CONCAT(result_, __LINE__)).error()); \
  }                                                                             \
  declaration = std::move(*VIVACE_CONCAT(result_, __LINE__))

/// VIVACE_CHECK_OK(call()): the same where there is no value (Result<void>) or none is wanted.
#define VIVACE_CHECK_OK(expression)                                                              \
  if (auto VIVACE_CONCAT(result_, __LINE__) = (expression); !VIVACE_CONCAT(result_, __LINE__)) { \
    return tl::unexpected(std::move(VIVACE_CONCAT(result_, __LINE__)).error());                  \
  }
