#include "report/markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/golden.h"
#include "result/example_document.h"

namespace vivace::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Markdown, Golden) {
  test::expect_golden("measure.md", render_markdown(test::example_document()));
}

TEST(Markdown, NamesCannotAddMarkup) {
  result::Document document = test::example_document(10);
  document.input.name = "a|b<img src=x>\n# `c`.jpg";
  document.caveats[0].message = "[click](http://x)\n\n- x";
  const std::string text = render_markdown(document);
  EXPECT_THAT(text, HasSubstr("a\\|b\\<img src=x\\>\ufffd\\# \\`c\\`.jpg"));
  EXPECT_THAT(text, HasSubstr("\\[click\\](http://x)\ufffd\ufffd- x"));
}

TEST(Markdown, WithoutSamplesItSaysSo) {
  const std::string text = render_markdown(test::example_document(0));
  EXPECT_THAT(text, HasSubstr("no sample was taken"));
  EXPECT_THAT(text, Not(HasSubstr("P50")));
}

}  // namespace
}  // namespace vivace::report
