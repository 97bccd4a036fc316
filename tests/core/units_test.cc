#include "core/units.h"

#include <cmath>
#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vivace {
namespace {

using std::string_literals::operator""s;

TEST(ParseDuration, TakesEveryUnit) {
  EXPECT_EQ(parse_duration_ns("1ns").value(), 1);
  EXPECT_EQ(parse_duration_ns("250us").value(), 250'000);
  EXPECT_EQ(parse_duration_ns("250\u00b5s").value(), 250'000);
  EXPECT_EQ(parse_duration_ns("30ms").value(), 30'000'000);
  EXPECT_EQ(parse_duration_ns("1.5 s").value(), 1'500'000'000);
  EXPECT_EQ(parse_duration_ns("2m").value(), 120'000'000'000);
  EXPECT_EQ(parse_duration_ns("1h").value(), 3'600'000'000'000);
  EXPECT_EQ(parse_duration_ns("0s").value(), 0);
  EXPECT_EQ(parse_duration_ns("1e-3s").value(), 1'000'000);
  EXPECT_EQ(parse_duration_ns("0.1ms").value(), 100'000);
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const std::string& text :
       {""s,       " "s,      "30"s,     "ms"s,       "-1s"s,   "+1s"s,  " 1s"s,  "1s "s,
        "1 s s"s,  "1S"s,     "1sec"s,   "1,5s"s,     "0x1s"s,  "nans"s, "infs"s, "inf s"s,
        "1e400s"s, "1e19ns"s, "9.3e9s"s, "3000000h"s, "1..5s"s, "1s\0"s, "1d"s,   "one s"s}) {
    const auto parsed = parse_duration_ns(text);
    ASSERT_FALSE(parsed) << '"' << text << "\" gave " << *parsed;
    EXPECT_EQ(parsed.error().code, ErrorCode::kUsage);
    EXPECT_THAT(parsed.error().message, testing::HasSubstr("30ms")) << "an example";
  }
}

TEST(ParseBytes, TellsKiBFromKB) {
  EXPECT_EQ(parse_bytes("512").value(), 512);
  EXPECT_EQ(parse_bytes("1B").value(), 1);
  EXPECT_EQ(parse_bytes("1kB").value(), 1000);
  EXPECT_EQ(parse_bytes("1KiB").value(), 1024);
  EXPECT_EQ(parse_bytes("64MiB").value(), 64 << 20);
  EXPECT_EQ(parse_bytes("1.5 GiB").value(), std::int64_t{3} << 29);
  EXPECT_EQ(parse_bytes("2GB").value(), 2'000'000'000);
  EXPECT_EQ(parse_bytes("1TiB").value(), std::int64_t{1} << 40);
  for (const std::string& text : {""s, "-1"s, "1mb"s, "1MBB"s, "MiB"s, "1e30"s, "9000000TiB"s,
                                  "1 2"s, "nan"s, "0x10"s, " 1"s}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

TEST(ParseCount, HoldsItsBounds) {
  EXPECT_EQ(parse_count("500", 1, 1000).value(), 500);
  EXPECT_EQ(parse_count("4k", 1, 10'000).value(), 4000);
  EXPECT_EQ(parse_count("1.5M", 1, 10'000'000).value(), 1'500'000);
  EXPECT_EQ(parse_count("-3", -5, 5).value(), -3);
  EXPECT_EQ(parse_count("1", 1, 1).value(), 1);
  EXPECT_EQ(parse_count("9e15", 0, INT64_MAX).value(), 9'000'000'000'000'000);
  for (const std::string& text : {""s, "0"s, "1001"s, "1.5"s, "-1"s, "+5"s, " 5"s, "5x"s, "k"s,
                                  "5 k k"s, "nan"s, "inf"s, "1e400"s, "0x5"s, "5,5"s, "1kk"s}) {
    const auto parsed = parse_count(text, 1, 1000);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kUsage);
    EXPECT_THAT(parsed.error().message, testing::HasSubstr("from 1 to 1000"));
  }
  EXPECT_FALSE(parse_count("1e16", 0, INT64_MAX)) << "beyond what a double holds exactly";
  EXPECT_FALSE(parse_count("99999999999999999999", 0, INT64_MAX));
}

TEST(ParseSize, IsHeightByWidth) {
  EXPECT_EQ(parse_size("224x320").value(), (Size2{224, 320}));
  EXPECT_EQ(parse_size("224").value(), (Size2{224, 224}));
  EXPECT_EQ(parse_size("1x65535").value(), (Size2{1, 65535}));
  for (const std::string& text : {""s, "x"s, "224x"s, "x224"s, "0x1"s, "1x0"s, "-1x2"s, "+1x2"s,
                                  "65536x1"s, "1x65536"s, "1x2x3"s, "1 x 2"s, " 1x2"s, "1x2 "s,
                                  "1X2"s, "1.5x2"s, "99999999999999999999x1"s, "ax2"s}) {
    const auto parsed = parse_size(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kUsage);
  }
}

TEST(FormatDuration, ChangesUnitWhereThreeDigitsDo) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(830), "830 ns");
  EXPECT_EQ(format_duration(999.4), "999 ns");
  EXPECT_EQ(format_duration(999.6), "1.00 \u00b5s") << "not 1000 ns";
  EXPECT_EQ(format_duration(1234), "1.23 \u00b5s");
  EXPECT_EQ(format_duration(9'994), "9.99 \u00b5s");
  EXPECT_EQ(format_duration(9'996), "10.0 \u00b5s");
  EXPECT_EQ(format_duration(99'940), "99.9 \u00b5s");
  EXPECT_EQ(format_duration(99'960), "100 \u00b5s");
  EXPECT_EQ(format_duration(999'400), "999 \u00b5s");
  EXPECT_EQ(format_duration(999'600), "1.00 ms") << "not 1000 us";
  EXPECT_EQ(format_duration(12'500'000), "12.5 ms");
  EXPECT_EQ(format_duration(999'600'000), "1.00 s");
  EXPECT_EQ(format_duration(1.25e9), "1.25 s");
  EXPECT_EQ(format_duration(599e9), "599 s");
  EXPECT_EQ(format_duration(600e9), "10.0 min");
  EXPECT_EQ(format_duration(-12'500'000), "-12.5 ms");
}

TEST(FormatDuration, NeverShowsAThousand) {
  for (double exponent = 0; exponent < 11.7; exponent += 0.0001) {
    const double value = std::pow(10.0, exponent);
    const std::string text = format_duration(value);
    const double shown = std::stod(text);
    ASSERT_LT(shown, 1000) << text;
    ASSERT_GE(shown, 1) << text;
  }
}

TEST(FormatBytes, UsesPowersOfAThousand) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(999.6), "1.00 kB");
  EXPECT_EQ(format_bytes(22'100'000), "22.1 MB");
  EXPECT_EQ(format_bytes(4.05e9), "4.05 GB");
  EXPECT_EQ(format_bytes(1e18), "1000 PB");
}

TEST(FormatQuantity, LeavesTheNounToTheCaller) {
  EXPECT_EQ(format_quantity(12), "12");
  EXPECT_EQ(format_quantity(9.2e9), "9.20 G");
  EXPECT_EQ(format_quantity(22'000'000), "22.0 M");
}

TEST(ParseShare, TakesPercentAndFractions) {
  EXPECT_DOUBLE_EQ(parse_share("2%").value(), 0.02);
  EXPECT_DOUBLE_EQ(parse_share("0.5 %").value(), 0.005);
  EXPECT_DOUBLE_EQ(parse_share("0.02").value(), 0.02);
  EXPECT_DOUBLE_EQ(parse_share("0").value(), 0);
  EXPECT_DOUBLE_EQ(parse_share("100%").value(), 1);
  for (const char* wrong : {"", "%", "-1%", "101%", "1.5", "2percent", "nan", "2%%"}) {
    const auto share = parse_share(wrong);
    ASSERT_FALSE(share) << wrong;
    EXPECT_EQ(share.error().code, ErrorCode::kUsage);
  }
}

}  // namespace
}  // namespace vivace
