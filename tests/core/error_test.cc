// The form of messages, and the tables that the command line and a server answer by.
#include "core/error.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace vivace {
namespace {

TEST(Error, MessagesLeaveOutWhatIsEmpty) {
  EXPECT_EQ(format_message({.what = "W", .expected = {}, .got = {}, .advice = {}}), "W");
  EXPECT_EQ(format_message({.what = "W", .expected = "E", .got = {}, .advice = {}}),
            "W (expected E)");
  EXPECT_EQ(format_message({.what = "W", .expected = {}, .got = "G", .advice = {}}), "W (got G)");
  EXPECT_EQ(format_message({.what = "W", .expected = "E", .got = "G", .advice = {}}),
            "W (expected E, got G)");
  EXPECT_EQ(format_message({.what = "W", .expected = {}, .got = {}, .advice = "A"}), "W; A");
  EXPECT_EQ(format_message({.what = "W", .expected = "E", .got = "G", .advice = "A"}),
            "W (expected E, got G); A");
}

TEST(Error, ContextStandsBeforeTheMessage) {
  const Error error = with_context({ErrorCode::kBadData, "wrong"}, "a.json");
  EXPECT_EQ(error.code, ErrorCode::kBadData);
  EXPECT_EQ(error.message, "a.json: wrong");
}

struct Row {
  ErrorCode code;
  const char* name;
  int exit_status;
  int http_status;
};

constexpr Row kRows[] = {
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

TEST(Error, EveryCodeHasItsStatus) {
  std::set<int> exits;
  std::set<std::string_view> names;
  for (const Row& row : kRows) {
    EXPECT_EQ(name_of(row.code), row.name);
    EXPECT_EQ(exit_status(row.code), row.exit_status) << row.name;
    EXPECT_EQ(http_status(row.code), row.http_status) << row.name;
    exits.insert(exit_status(row.code));
    names.insert(name_of(row.code));
  }
  // kInterrupted is the last of the enum: one row for each code, none twice.
  EXPECT_EQ(std::size(kRows), static_cast<std::size_t>(ErrorCode::kInterrupted) + 1);
  EXPECT_EQ(exits.size(), std::size(kRows));
  EXPECT_EQ(names.size(), std::size(kRows));
}

Result<int> half(int value) {
  if (value % 2 != 0) return fail(ErrorCode::kUsage, "odd");
  return value / 2;
}
Result<void> check_even(int value) {
  VIVACE_CHECK_OK(half(value));
  return {};
}
Result<int> quarter(int value) {
  VIVACE_TRY(const int first, half(value));
  VIVACE_TRY(const int second, half(first));
  return second;
}

TEST(Error, TryPassesValuesAndErrorsOn) {
  EXPECT_EQ(quarter(8).value(), 2);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_EQ(quarter(3).error().code, ErrorCode::kUsage);
  EXPECT_TRUE(check_even(4));
  EXPECT_FALSE(check_even(5));
}

}  // namespace
}  // namespace vivace
