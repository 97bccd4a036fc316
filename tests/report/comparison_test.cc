#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text.h"
#include "report/comparison_wording.h"
#include "report/example_comparison.h"
#include "report/golden.h"
#include "report/markdown.h"
#include "report/table.h"
#include "report/text_layout.h"

namespace vivace::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string table_of(const result::Comparison& comparison, const TableStyle& style = {}) {
  return render_table(test::comparison_document(comparison), style);
}

TEST(ComparisonTable, Golden) {
  test::expect_golden("compare.txt", table_of(test::example_comparison()));
}

TEST(ComparisonTable, GoldenOpen) {
  test::expect_golden("compare_open.txt", table_of(test::open_comparison()));
}

TEST(ComparisonTable, GoldenNarrowAscii) {
  const std::string text =
      table_of(test::example_comparison(), {.width = 60, .colour = false, .unicode = false});
  test::expect_golden("compare_narrow.txt", text);
  for (const char c : text) ASSERT_GE(c, 0);
}

TEST(ComparisonMarkdown, Golden) {
  test::expect_golden("compare.md",
                      render_markdown(test::comparison_document(test::example_comparison())));
}

TEST(ComparisonTable, NoLineIsWiderThanAsked) {
  std::vector<result::Comparison> comparisons = {test::example_comparison(),
                                                 test::open_comparison()};
  const auto add = [&]() -> result::Comparison& {
    return comparisons.emplace_back(test::example_comparison());
  };
  add().a.label = "/srv/\u732b\u732b/" + std::string(300, 'm') + ".json";
  add().quantities.clear();
  add() = result::Comparison();
  add().quantities[0].name = std::string(200, 'n');
  add().quantities[1].note = std::string(300, 'w') + " and more";
  add().left_out = {std::string(300, 'l')};
  add().verdict = std::string(200, 'v');
  add().quantities[2].verdict = std::string(200, 'v');
  result::ComparedQuantity& huge = add().quantities[0];
  huge.a_ns = 1;
  huge.b_ns = INT64_MAX;
  huge.ratio = 9.2e18;
  huge.ci_low = 1e-18;
  huge.ci_high = 1e300;
  for (const result::Comparison& comparison : comparisons) {
    for (const int width : {60, 80, 100}) {
      const std::string text = table_of(comparison, {.width = width});
      ASSERT_TRUE(is_utf8(text));
      for (const std::string_view line : split(text, '\n')) {
        EXPECT_LE(display_width(line), width) << line;
      }
    }
  }
}

TEST(ComparisonTable, NamesCannotControlTheTerminalOrAddMarkup) {
  result::Comparison comparison = test::example_comparison();
  const std::string evil = "a\x1b]0;t\x07\r\n|<b>\u202e";
  comparison.a.label = evil;
  comparison.verdict = evil;
  comparison.left_out = {evil};
  comparison.quantities[0].name = evil;
  comparison.quantities[0].note = evil;
  comparison.quantities[0].verdict = evil;
  comparison.quantities[3].name = "stage." + evil;
  const std::string table = table_of(comparison);
  EXPECT_EQ(table.find_first_of("\x1b\x07\r"), std::string::npos);
  EXPECT_THAT(table, Not(HasSubstr("\u202e")));
  const std::string markdown = render_markdown(test::comparison_document(comparison));
  EXPECT_EQ(markdown.find_first_of("\x1b\x07\r"), std::string::npos);
  EXPECT_THAT(markdown, Not(HasSubstr("<b>")));
}

std::string sentence(const result::Comparison& comparison, std::size_t index = 0) {
  return sentence_of(comparison, comparison.quantities[index], true);
}

TEST(ComparisonWording, SaysEachVerdictInASentence) {
  result::Comparison comparison = test::example_comparison();
  EXPECT_EQ(sentence(comparison),
            "B takes 5.2% more time than A (95% interval: +3.9% to +6.4%; margin 2%)");
  EXPECT_EQ(sentence(comparison, 1),
            "P95 is 6.1% longer in B (95% interval: +2.1% to +11.0%; margin 2%)");
  EXPECT_EQ(sentence(comparison, 2),
            "whether P99 in B differs by more than 2% from A is open (95% interval: none; margin "
            "2%)");
  EXPECT_EQ(sentence(comparison, 4),
            "preprocess is 5.7% shorter in B (95% interval: -7.0% to -4.2%; margin 2%)");
  EXPECT_EQ(sentence(comparison, 5),
            "context_encode is as long in B as in A, within 2% (95% interval: -0.21% to +0.14%; "
            "margin 2%)");
  comparison.margin = 0;
  comparison.quantities[0] =
      test::example_quantity("latency", 1000, 0.99, 1.0001, 1.01, "inconclusive");
  EXPECT_EQ(sentence(comparison),
            "whether B differs from A is open (95% interval: -1.0% to +1.0%; margin 0%)");
  comparison.quantities[0] = test::example_quantity("latency", 1000, 11, 12.34, 13, "regressed");
  EXPECT_EQ(sentence(comparison),
            "B takes 12.3 times as much time as A (95% interval: 11 x to 13 x; margin 0%)");
}

TEST(ComparisonWording, APercentileMayDecide) {
  result::Comparison comparison = test::example_comparison();
  comparison.quantities[0].verdict = "equivalent";
  EXPECT_THAT(conclusion(comparison, true)[0].second,
              HasSubstr("regressed: P95 is 6.1% longer in B"));
  EXPECT_THAT(conclusion(comparison, true)[0].second,
              HasSubstr("the latency as a whole is equivalent"));
}

TEST(ComparisonWording, AnOpenQuestionHasANextStep) {
  result::Comparison comparison = test::open_comparison();
  const auto next = [&] { return conclusion(comparison, true).back(); };
  EXPECT_EQ(next().first, "next");
  EXPECT_THAT(next().second, HasSubstr("--samples 870"));
  EXPECT_THAT(next().second, HasSubstr("vivace compare --a"));
  comparison.paired = true;
  EXPECT_THAT(next().second, HasSubstr("take about 870 pairs"));
  comparison.quantities[0].samples_needed.reset();
  comparison.paired = false;
  EXPECT_THAT(next().second, HasSubstr("measure both in turns"));
  comparison.paired = true;
  EXPECT_THAT(next().second, HasSubstr("a wider --margin"));
  comparison.margin = 0;
  EXPECT_THAT(next().second, HasSubstr("--margin 2%"));
}

}  // namespace
}  // namespace vivace::report
