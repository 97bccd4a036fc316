#include "report/text_layout.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/text.h"

namespace vivace::report {
namespace {

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("\u00b5s \u2013"), 4);
  EXPECT_EQ(display_width("\u732b.jpg"), 6);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("\U0001f600"), 2);
  EXPECT_EQ(display_width("\xff\xfe"), 2);
  EXPECT_EQ(display_width("\xe7\x8c"), 2);  // cut in the middle of a character
}

TEST(Printable, NothingCanMoveTheCursorOrTurnTheText) {
  EXPECT_EQ(printable("a\x1b[31mb\nc\r\t\x7f"), "a\ufffd[31mb\ufffdc\ufffd\ufffd\ufffd");
  EXPECT_EQ(printable("a\u202eb\u0085"), "a\ufffdb\ufffd");
  EXPECT_EQ(printable("x\xff"), "x\ufffd");
  EXPECT_EQ(printable("caf\u00e9 \u732b"), "caf\u00e9 \u732b");
  EXPECT_EQ(printable("caf\u00e9\n\xff", false), "caf???");
}

TEST(ShortenMiddle, KeepsStartAndFileName) {
  EXPECT_EQ(shorten_middle("short", 10), "short");
  EXPECT_EQ(shorten_middle("/data/models/very/deep/model.safetensors", 21),
            "/data/mode\u2026afetensors");
  EXPECT_EQ(shorten_middle("/data/models/very/deep/model.safetensors", 21, false),
            "/data/mod...fetensors");
}

TEST(ShortenMiddle, NeverTooWideNeverBroken) {
  const std::string text = "ab\u732b\u732be\u0301\u00e9\U0001f600yz\u732bend-of-the-name\u732b";
  for (int width = 5; width < 50; ++width) {
    const std::string cut = shorten_middle(text, width);
    EXPECT_LE(display_width(cut), width);
    EXPECT_TRUE(is_utf8(cut)) << width;
    EXPECT_GE(display_width(cut), std::min(width - 2, display_width(text))) << cut;
  }
}

TEST(Wrap, BreaksAtSpaces) {
  EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("", 7), (std::vector<std::string>{""}));
  EXPECT_EQ(wrap("  one   two ", 20), (std::vector<std::string>{"one two"}));
  EXPECT_EQ(wrap("a 123456789012", 7), (std::vector<std::string>{"a", "123\u2026012"}));
}

TEST(Pad, FillsColumns) {
  EXPECT_EQ(pad_left("\u00b5s", 4), "  \u00b5s");
  EXPECT_EQ(pad_right("\u732b", 4), "\u732b  ");
  EXPECT_EQ(pad_left("long", 2), "long");
}

}  // namespace
}  // namespace vivace::report
