// JSON: what is refused and why, numbers at their edges, and that a written tree reads back equal.
#include "core/json.h"

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vivace {
namespace {

using std::string_literals::operator""s;
using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto json = parse_json(text);
  if (json) return "accepted";
  EXPECT_EQ(json.error().code, ErrorCode::kBadData);
  EXPECT_EQ(json.error().message.find('\n'), std::string::npos);
  return json.error().message;
}

std::string nested(std::size_t depth, std::string_view open, std::string_view close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  text += "1";
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(JsonParse, EveryKind) {
  const Json json = parse_json(R"({"n": null, "t": true, "f": false, "i": -12, "d": 2.5,
                                   "s": "a\"\\\/\b\f\n\r\té€😀", "a": [1, [], {}]})")
                        .value();
  EXPECT_TRUE(json.find("n")->is_null());
  EXPECT_TRUE(json.find("t")->as_bool());
  EXPECT_FALSE(json.find("f")->as_bool());
  EXPECT_EQ(json.find("i")->as_integer(), -12);
  EXPECT_FALSE(json.find("d")->is_integer());
  EXPECT_EQ(json.find("d")->as_number(), 2.5);
  EXPECT_EQ(json.find("s")->as_string(), "a\"\\/\b\f\n\r\t\u00e9\u20ac\U0001f600");
  ASSERT_EQ(json.find("a")->as_array().size(), 3U);
  EXPECT_TRUE(json.find("a")->as_array()[1].as_array().empty());
  EXPECT_TRUE(json.find("a")->as_array()[2].as_object().empty());
  EXPECT_EQ(json.find("absent"), nullptr);
  EXPECT_EQ(json.find("n")->find("x"), nullptr) << "no object has no members";
  EXPECT_EQ(json.as_object()[3].first, "i") << "in the order of the file";
}

TEST(JsonParse, KindsHaveNames) {
  const Json json = parse_json(R"([null, true, 1, 1.5, "", [], {}])").value();
  const char* names[] = {"null",     "true or false", "a whole number", "a number",
                         "a string", "an array",      "an object"};
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(json.as_array()[i].kind_name(), names[i]);
}

TEST(JsonParse, MalformedTextIsRefusedWithItsPlace) {
  for (const std::string& text : {""s,
                                  " "s,
                                  "{"s,
                                  "["s,
                                  "]"s,
                                  "[1,]"s,
                                  "[,1]"s,
                                  "[1 2]"s,
                                  "{\"a\"}"s,
                                  "{\"a\":}"s,
                                  "{\"a\":1,}"s,
                                  "{a:1}"s,
                                  "{'a':1}"s,
                                  "{1:2}"s,
                                  "nul"s,
                                  "NaN"s,
                                  "Infinity"s,
                                  "-Infinity"s,
                                  "+1"s,
                                  "01"s,
                                  ".5"s,
                                  "5."s,
                                  "1e"s,
                                  "1e+"s,
                                  "0x10"s,
                                  "--1"s,
                                  "-"s,
                                  "\"a"s,
                                  "\"\\q\""s,
                                  "\"\\u12\""s,
                                  "\"tab\there\""s,
                                  "\"new\nline\""s,
                                  "// c\n1"s,
                                  "1 // c"s,
                                  "/* c */ 1"s,
                                  "#1"s,
                                  "True"s,
                                  "\"\\ud800\""s,
                                  "\"\\udc00\""s,
                                  "\"\\ud800x\""s,
                                  "\"\\ud800\\ud800\""s}) {
    EXPECT_THAT(error_of(text), HasSubstr("at byte")) << text;
  }
}

TEST(JsonParse, TrailingTextIsRefused) {
  for (const std::string& text : {"1 2"s, "{} {}"s, "{},"s, "[]]"s, "{}x"s, "null null"s}) {
    EXPECT_THAT(error_of(text), HasSubstr("at byte")) << text;
  }
  EXPECT_TRUE(parse_json(" \t\r\n{} \t\r\n"));
}

TEST(JsonParse, ByteOrderMarkAndNulAreRefused) {
  EXPECT_THAT(error_of("\xef\xbb\xbf{}"), HasSubstr("byte order mark"));
  EXPECT_THAT(error_of("\xff\xfe{"), HasSubstr("at byte"));
  for (const std::string& text :
       {"{}\0"s, "{}\0{}"s, "\0{}"s, "\0"s, "[1\0]"s, "\"a\0b\""s, "{\"a\":1}\0garbage"s}) {
    EXPECT_THAT(error_of(text), HasSubstr("NUL"));
  }
  // As an escape it is a character like any other.
  EXPECT_EQ(parse_json("\"a\\u0000b\"").value().as_string(), "a\0b"s);
}

TEST(JsonParse, InvalidUtf8IsRefused) {
  for (const char* bytes : {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x80\x80",
                            "\xe2\x82", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf0\x9f\x98",
                            "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_NE(error_of("\""s + bytes + "\""), "accepted");
    EXPECT_NE(error_of("{\""s + bytes + "\":1}"), "accepted");
  }
}

TEST(JsonParse, DuplicateKeysAreNamed) {
  EXPECT_THAT(error_of(R"({"a": 1, "b": 2, "a": 3})"), HasSubstr("duplicate key \"a\""));
  EXPECT_THAT(error_of(R"([{"x": {"y": 1, "y": 1}}])"), HasSubstr("duplicate key \"y\""));
  EXPECT_THAT(error_of(R"({"a": 1, "\u0061": 1})"), HasSubstr("duplicate key \"a\"")) << "escaped";
  // The same key in two objects is no duplicate.
  EXPECT_TRUE(parse_json(R"({"a": {"a": 1}, "b": {"a": 1}, "c": [{"a": 1}, {"a": 1}]})"));
}

TEST(JsonParse, DepthIsLimited) {
  EXPECT_TRUE(parse_json(nested(64, "[", "]")));
  EXPECT_THAT(error_of(nested(65, "[", "]")), HasSubstr("64 levels"));
  EXPECT_TRUE(parse_json(nested(64, "{\"a\":", "}")));
  EXPECT_THAT(error_of(nested(65, "{\"a\":", "}")), HasSubstr("64 levels"));
  EXPECT_THAT(error_of(std::string(1'000'000, '[')), HasSubstr("64 levels"));
  // Depth is not the number of siblings.
  std::string wide = "[";
  for (int i = 0; i < 1000; ++i) wide += "[],";
  EXPECT_TRUE(parse_json(wide + "[]]"));
}

TEST(JsonParse, IntegersAtTheEdge) {
  const auto integer = [](const char* text) { return parse_json(text).value(); };
  EXPECT_EQ(integer("9223372036854775807").as_integer(), INT64_MAX);
  EXPECT_EQ(integer("-9223372036854775808").as_integer(), INT64_MIN);
  EXPECT_EQ(integer("-0").as_number(), 0.0);
  EXPECT_EQ(integer("9007199254740993").as_integer(), 9007199254740993) << "no way over double";
  for (const auto& [text, value] : {std::pair{"9223372036854775808", 0x1p63},
                                    {"-9223372036854775809", -0x1p63},
                                    {"18446744073709551615", 0x1p64},
                                    {"18446744073709551616", 0x1p64},
                                    {"1e2", 100.0},
                                    {"1.0", 1.0}}) {
    EXPECT_FALSE(integer(text).is_integer()) << text;
    EXPECT_TRUE(integer(text).is_number()) << text;
    EXPECT_EQ(integer(text).as_number(), value) << text;
  }
}

TEST(JsonParse, DoublesAtTheEdge) {
  EXPECT_EQ(parse_json("1.7976931348623157e308").value().as_number(),
            std::numeric_limits<double>::max());
  EXPECT_EQ(parse_json("5e-324").value().as_number(), 0x1p-1074);
  EXPECT_EQ(parse_json("1e-400").value().as_number(), 0.0);
  EXPECT_EQ(parse_json("0.1").value().as_number(), 0.1);
  for (const char* text : {"1e400", "-1e400", "[1, 1e309]"}) EXPECT_NE(error_of(text), "accepted");
}

TEST(JsonParse, LongArraysOfNumbersAlonePack) {
  const Json json = parse_json(R"({"i": [1, -2, 3], "d": [1, 2.5, -0.5], "short": [1, 2],
                                   "text": [1, 2, 3, "x"], "null": [1.5, 2, 3, null],
                                   "nested": [1, 2, 3, [4, 5, 6]], "rows": [[1, 2, 3], [4]],
                                   "wide": [9007199254740993, 2.5, 3], "empty": [],
                                   "over": [2.5, 1, 9007199254740993, 4]})",
                               3)
                        .value();
  ASSERT_TRUE(json.find("i")->is_packed_integers());
  EXPECT_EQ(json.find("i")->as_packed_integers()[1], -2);
  EXPECT_FALSE(json.find("i")->is_array());
  ASSERT_TRUE(json.find("d")->is_packed_doubles());
  EXPECT_EQ(json.find("d")->as_packed_doubles()[0], 1.0);
  for (const char* key : {"short", "text", "null", "nested", "rows", "wide", "over", "empty"}) {
    EXPECT_TRUE(json.find(key)->is_array()) << key;
  }
  EXPECT_EQ(json.find("text")->as_array()[3].as_string(), "x");
  EXPECT_TRUE(json.find("nested")->as_array()[3].is_packed());
  EXPECT_TRUE(json.find("rows")->as_array()[0].is_packed());
  EXPECT_EQ(json.find("rows")->as_array()[1].as_array()[0].as_integer(), 4);
  EXPECT_EQ(json.find("wide")->as_array()[0].as_integer(), 9007199254740993);
  EXPECT_EQ(json.find("over")->as_array()[2].as_integer(), 9007199254740993);
  EXPECT_EQ(json.find("d")->unpacked().size(), 3U);
  EXPECT_TRUE(parse_json("[1, 2, 3]", 3).value().is_packed());
  EXPECT_TRUE(parse_json("7", 3).value().is_integer());
}

TEST(JsonWrite, PackedArraysAreWrittenLikeTrees) {
  const std::vector<std::int64_t> integers = {1, -2, INT64_MAX};
  const std::vector<double> doubles = {1, 2.5, -3, 1e300};
  const Json object(JsonObject{{"i", Json::view(integers)}, {"d", Json::packed(doubles)}});
  const std::string text = write_json(object);
  EXPECT_THAT(text, HasSubstr("\"i\": [1, -2, 9223372036854775807]"));
  EXPECT_THAT(text, HasSubstr("\"d\": [1, 2.5, -3, 1e+300]"));
  EXPECT_EQ(write_json(parse_json(text).value()), text);
  EXPECT_EQ(write_json(parse_json(text, 2).value()), text);
  const std::string rows = write_json(Json(JsonArray{Json::view(integers), Json(1)}));
  EXPECT_EQ(rows, "[\n  [1, -2, 9223372036854775807],\n  1\n]\n");
}

TEST(JsonWrite, LayoutIsStable) {
  Json json{JsonObject{}};
  json.set("name", "x");
  json.set("none", JsonArray{});
  json.set("empty", JsonObject{});
  json.set("numbers", JsonArray{1, 2.5, -3});
  json.set("rows", JsonArray{Json(JsonArray{1, 2}), Json(JsonObject{{"k", true}})});
  json.set("null", nullptr);
  EXPECT_EQ(write_json(json), R"({
  "name": "x",
  "none": [],
  "empty": {},
  "numbers": [1, 2.5, -3],
  "rows": [
    [1, 2],
    {
      "k": true
    }
  ],
  "null": null
}
)");
}

TEST(JsonWrite, LongArraysOfNumbersStayOnOneLine) {
  JsonArray values;
  for (int i = 0; i < 100'000; ++i) values.emplace_back(i);
  const std::string text = write_json(Json(JsonObject{{"latency_ns", values}}));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_EQ(parse_json(text).value().find("latency_ns")->as_array().size(), values.size());
}

TEST(JsonWrite, DoublesAreShortestAndReadBackTheSame) {
  const auto text_of = [](double value) {
    std::string text = write_json(Json(value));
    text.pop_back();
    return text;
  };
  EXPECT_EQ(text_of(0.1), "0.1");
  EXPECT_EQ(text_of(3.0), "3.0") << "stays a double";
  EXPECT_EQ(text_of(1e22), "1e+22");
  EXPECT_EQ(text_of(-0.0), "-0.0");
  for (const double value :
       {1.0 / 3, 1e-320, 0x1p-1074, 1.7976931348623157e308, -2.2250738585072014e-308, 1e15, 1e16,
        123456789.125, 0x1.fffffffffffffp+52, 0x1p63}) {
    const Json back = parse_json(text_of(value)).value();
    EXPECT_FALSE(back.is_integer()) << value;
    EXPECT_EQ(back.as_number(), value);
  }
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) EXPECT_EQ(text_of(value), "null");
}

TEST(JsonWrite, TextOfAnyKindReadsBack) {
  std::string every;
  for (int byte = 0; byte < 128; ++byte) every += static_cast<char>(byte);
  every += "\u00e9\u20ac\U0001f600";
  const std::string text = write_json(Json(JsonObject{{every, every}}));
  for (const char c : text) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
  const Json back = parse_json(text).value();
  EXPECT_EQ(back.as_object()[0].first, every);
  EXPECT_EQ(back.as_object()[0].second.as_string(), every);
}

TEST(JsonWrite, BytesThatAreNoUtf8AreReplaced) {
  // The name of a file may hold them; the document must stay readable.
  const std::string text = write_json(Json(JsonObject{{"a\xff", "caf\xe9.jpg"}}));
  const Json back = parse_json(text).value();
  EXPECT_EQ(back.as_object()[0].first, "a\ufffd");
  EXPECT_EQ(back.as_object()[0].second.as_string(), "caf\ufffd.jpg");
}

TEST(JsonWrite, WhatWasReadIsWrittenTheSame) {
  const std::string text = write_json(
      parse_json(R"({"z": [1, {"y": [[]], "x": "\u0001"}, -1.5e-7], "a": 9223372036854775807,
                     "b": 18446744073709551615})")
          .value());
  EXPECT_EQ(write_json(parse_json(text).value()), text);
}

TEST(Json, SetReplacesInPlaceOrAppends) {
  Json json;
  json.set("a", 1);
  json.set("b", 2);
  json.set("a", "new");
  ASSERT_EQ(json.as_object().size(), 2U);
  EXPECT_EQ(json.as_object()[0].second.as_string(), "new");
  EXPECT_EQ(json.as_object()[1].second.as_integer(), 2);
}

TEST(JsonDeathTest, TheWrongKindIsABug) {
  EXPECT_DEATH((void)Json("text").as_integer(), "is_integer");
  EXPECT_DEATH((void)Json(1.5).as_integer(), "is_integer");
}

}  // namespace
}  // namespace vivace
