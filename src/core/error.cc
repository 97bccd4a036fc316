#include "core/error.h"

#include <system_error>

namespace vivace {
namespace {

struct CodeFacts {
  ErrorCode code;
  std::string_view name;
  int exit_status;
  int http_status;
};

constexpr CodeFacts kCodes[] = {
    {ErrorCode::kUsage, "usage", 64, 400},
    {ErrorCode::kInvalidMeasurement, "invalid_measurement", 3, 500},
    {ErrorCode::kBadData, "bad_data", 65, 422},
    {ErrorCode::kMissingInput, "missing_input", 66, 404},
    {ErrorCode::kUnavailable, "unavailable", 69, 501},
    {ErrorCode::kInternal, "internal", 70, 500},
    {ErrorCode::kCannotCreate, "cannot_create", 73, 500},
    {ErrorCode::kInputOutput, "input_output", 74, 500},
    {ErrorCode::kTemporary, "temporary", 75, 503},
    {ErrorCode::kInterrupted, "interrupted", 130, 503},
};

const CodeFacts& facts_of(ErrorCode code) {
  for (const CodeFacts& facts : kCodes) {
    if (facts.code == code) return facts;
  }
  return kCodes[5];
}

}  // namespace

int exit_status(ErrorCode code) { return facts_of(code).exit_status; }
int http_status(ErrorCode code) { return facts_of(code).http_status; }
std::string_view name_of(ErrorCode code) { return facts_of(code).name; }

std::string format_message(const ErrorParts& parts) {
  std::string message = parts.what;
  if (!parts.expected.empty() || !parts.got.empty()) {
    message += " (";
    if (!parts.expected.empty()) message += "expected " + parts.expected;
    if (!parts.expected.empty() && !parts.got.empty()) message += ", ";
    if (!parts.got.empty()) message += "got " + parts.got;
    message += ")";
  }
  if (!parts.advice.empty()) message += "; " + parts.advice;
  return message;
}

tl::unexpected<Error> fail(ErrorCode code, std::string what) {
  return tl::unexpected(Error{code, std::move(what)});
}

tl::unexpected<Error> fail(ErrorCode code, const ErrorParts& parts) {
  return tl::unexpected(Error{code, format_message(parts)});
}

std::string errno_text(int number) { return std::generic_category().message(number); }

Error with_context(Error error, std::string_view context) {
  error.message = std::string(context) + ": " + error.message;
  return error;
}

}  // namespace vivace
