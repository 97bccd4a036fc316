#include "core/text.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace vivace {
namespace {

using std::string_literals::operator""s;

TEST(Text, SplitKeepsEmptyPieces) {
  using Pieces = std::vector<std::string_view>;
  EXPECT_EQ(split("", ','), Pieces{""});
  EXPECT_EQ(split("a", ','), Pieces{"a"});
  EXPECT_EQ(split("a,b", ','), (Pieces{"a", "b"}));
  EXPECT_EQ(split(",a,,", ','), (Pieces{"", "a", "", ""}));
}

TEST(Text, JoinIsTheInverse) {
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(join(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(join(std::vector<std::string>{"a", "", "b"}, ", "), "a, , b");
}

TEST(Text, LowerIsOfAsciiOnly) { EXPECT_EQ(lower("AZaz09_\u00c9"), "azaz09_\u00c9"); }

TEST(Quote, ShowsPlainTextAsItIs) {
  EXPECT_EQ(quote(""), "\"\"");
  EXPECT_EQ(quote("caf\u00e9 \U0001f600"), "\"caf\u00e9 \U0001f600\"");
}

TEST(Quote, ReplacesControlsAndInvalidBytes) {
  EXPECT_EQ(quote("a\nb\tc\x1b[31m\x7f"), "\"a\\x0ab\\x09c\\x1b[31m\\x7f\"");
  EXPECT_EQ(quote("a\0b"s), "\"a\\x00b\"");
  EXPECT_EQ(quote("\xff\xc3(\xe2\x82"), "\"\\xff\\xc3(\\xe2\\x82\"");
  // A control of the upper half, as some terminals obey it (CSI).
  EXPECT_EQ(quote("\u009b31m"), "\"\\u009b31m\"");
  EXPECT_EQ(quote("\u00a0"), "\"\u00a0\"");
}

TEST(Quote, AnyBytesGiveOneLineOfUtf8) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string bytes = {static_cast<char>(first), static_cast<char>(second), 'x'};
      const std::string shown = quote(bytes);
      ASSERT_TRUE(is_utf8(shown));
      for (const char c : shown) {
        ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << first << ' ' << second;
      }
      ASSERT_EQ(shown[shown.size() - 2], 'x') << "nothing valid is swallowed";
    }
  }
}

TEST(Quote, CutsLongTextAtACharacter) {
  const std::string shown = quote(std::string(1000, 'a'), 20);
  EXPECT_EQ(shown, "\"" + std::string(20, 'a') + "...\"");
  std::string euros;
  for (int i = 0; i < 100; ++i) euros += "\u20ac";
  const std::string cut = quote(euros, 20);
  EXPECT_TRUE(is_utf8(cut));
  EXPECT_LE(cut.size(), 20U + 3 + 5);
  EXPECT_TRUE(cut.ends_with("...\""));
  EXPECT_EQ(quote("exactly", 7), "\"exactly\"");
}

TEST(NearestName, FindsTypingMistakes) {
  const std::vector<std::string> flags = {"model",   "threads", "resolution", "batch",   "warmup",
                                          "samples", "json",    "duration",   "verbose", "quiet"};
  EXPECT_EQ(nearest_name("modle", flags), "model") << "a swap is one mistake";
  EXPECT_EQ(nearest_name("thread", flags), "threads");
  EXPECT_EQ(nearest_name("theads", flags), "threads");
  EXPECT_EQ(nearest_name("resolutoin", flags), "resolution");
  EXPECT_EQ(nearest_name("SAMPLES", flags), "samples");
  EXPECT_EQ(nearest_name("warm-up", flags), "warmup");
  EXPECT_EQ(nearest_name("model-dir", flags), "model") << "the start of what was typed";
}

TEST(NearestName, SaysNothingRatherThanNonsense) {
  const std::vector<std::string> flags = {"model", "threads", "resolution"};
  EXPECT_EQ(nearest_name("xyzzy", flags), "");
  EXPECT_EQ(nearest_name("frobnicate", flags), "");
  EXPECT_EQ(nearest_name("model", {}), "");
  EXPECT_EQ(nearest_name("", flags), "");
}

TEST(Utf8, WellFormedOnly) {
  for (const char* good : {"", "a", "\x7f", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000",
                           "\uffff", "\U00010000", "\U0010ffff"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "a\xbf", "\xc0\xaf", "\xc2",
        "\xc2"
        "a",
        "\xe0\x9f\xbf", "\xe1\x80", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf",
        "\xf1\x80\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xfe"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

TEST(Utf8, RepairKeepsWhatIsValid) {
  EXPECT_EQ(to_utf8("caf\u00e9"), "caf\u00e9");
  EXPECT_EQ(to_utf8("a\xff"
                    "b"),
            "a\ufffd"
            "b");
  EXPECT_EQ(to_utf8("\xe2\x82"
                    "c"),
            "\ufffd\ufffd"
            "c");
  EXPECT_EQ(to_utf8(""), "");
}

TEST(Hash, IsFnv1a) {
  // The published test vectors of the 64-bit FNV-1a.
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8u);
}

TEST(SplitWords, FollowsTheShellsQuoting) {
  const auto words = [](std::string_view text) { return split_words(text).value(); };
  using Words = std::vector<std::string>;
  EXPECT_EQ(words(""), Words{});
  EXPECT_EQ(words("  a  bc\t d\n"), (Words{"a", "bc", "d"}));
  EXPECT_EQ(words(R"(--model 'my model' "a \"b\"" c\ d)"),
            (Words{"--model", "my model", "a \"b\"", "c d"}));
  EXPECT_EQ(words(R"('a\b' '' x"y"z)"), (Words{"a\\b", "", "xyz"}));
  EXPECT_EQ(words("a\\"), (Words{"a\\"}));
  const auto open_quote = split_words("sh -c 'echo");
  ASSERT_FALSE(open_quote);
  EXPECT_EQ(open_quote.error().code, ErrorCode::kUsage);
  EXPECT_NE(open_quote.error().message.find("expected another '"), std::string::npos);
}

}  // namespace
}  // namespace vivace
