#include "report/junit.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/example_comparison.h"
#include "report/golden.h"

namespace vivace::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Junit, Golden) {
  test::expect_golden("compare.xml",
                      render_junit(test::comparison_document(test::example_comparison())));
}

TEST(Junit, VerdictsOfAMeasurementAreCases) {
  const result::Document document = [] {
    result::Document one = test::full_document();
    one.comparison.reset();
    return one;
  }();
  const std::string text = render_junit(document);
  EXPECT_THAT(text, HasSubstr("name=\"slo p95&lt;30ms\""));
  EXPECT_THAT(text, HasSubstr("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(text, HasSubstr("<skipped message=\"1 of 60 samples is above 30 ms; take 34 more"));
}

TEST(Junit, NothingThatANameHoldsBreaksTheXml) {
  result::Comparison comparison = test::example_comparison();
  comparison.a.label = "a\"><x y='&'>\x01\x1b\xff\xef\xbf\xbf\n";
  comparison.quantities[0].name = "]]>";
  comparison.quantities[0].note = "\xef\xbf\xbe";
  result::Document document = test::comparison_document(comparison);
  document.kind = "\"'<&>";
  const std::string text = render_junit(document);
  EXPECT_THAT(text, HasSubstr("value=\"a&quot;&gt;&lt;x y=&apos;&amp;&apos;&gt;\ufffd"));
  EXPECT_THAT(text, HasSubstr("name=\"]]&gt;\""));
  for (const char* bad : {"\x01", "\x1b", "\xff", "\xef\xbf\xbf", "\xef\xbf\xbe", "<x"}) {
    EXPECT_THAT(text, Not(HasSubstr(bad)));
  }
}

TEST(Junit, WithoutVerdictsTheSuiteIsEmpty) {
  EXPECT_THAT(render_junit(test::example_document(5)), HasSubstr("tests=\"0\""));
}

}  // namespace
}  // namespace vivace::report
