#include "report/explanation.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze/explain.h"
#include "core/text.h"
#include "report/golden.h"
#include "report/text_layout.h"
#include "result/example_document.h"

namespace vivace::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Every 40th sample waits for the disk.
result::Document explained() {
  result::Document document = test::example_document(400);
  document.samples.covariates.push_back({"cpu_time_ns", std::vector<double>(400, 1)});
  document.samples.covariates.push_back({"cpu", std::vector<double>(400, 0)});
  document.findings = analyze::explain(document);
  return document;
}

result::Document quiet() {
  result::Document document = test::example_document(0);
  for (std::int64_t i = 0; i < 100; ++i) {
    document.samples.latency_ns.push_back(10'000'000 + 20'000 * (i * 37 % 100));
  }
  document.samples.stages.clear();
  document.samples.covariates.clear();
  document.summary = result::summarize(document.samples);
  document.summary->steadiness = result::Steadiness();
  document.summary->steadiness->name = "steady";
  return document;
}

TEST(Explanation, Golden) {
  test::expect_golden("explain.txt", render_explanation_table(explained(), {}));
  test::expect_golden("explain.md", render_explanation_markdown(explained()));
}

TEST(Explanation, WhatMayNotBeACauseIsNotShown) {
  const std::string text = render_explanation_table(explained(), {});
  EXPECT_THAT(text, HasSubstr("major_faults > 0"));
  EXPECT_THAT(text, Not(HasSubstr("cpu_time_ns")));
  EXPECT_THAT(text, Not(HasSubstr("cpu >")));
}

TEST(Explanation, NothingToExplainIsSaidPlainly) {
  const std::string text = render_explanation_markdown(quiet());
  EXPECT_THAT(text, HasSubstr("nothing to explain"));
  EXPECT_THAT(text, HasSubstr("P99 is 1.09 \u00d7 P50"));
  EXPECT_THAT(text, HasSubstr("the series is steady"));
  EXPECT_THAT(text, Not(HasSubstr("What was tried")));
  EXPECT_THAT(render_explanation_table({}, {}), HasSubstr("the result has no samples"));
}

TEST(Explanation, StaysWithinTheWidthAndAscii) {
  result::Document named = explained();
  named.input.name = std::string(200, 'n') + "\u00b5";
  named.samples.covariates[0].name = std::string(100, 'c');
  for (std::int64_t& ns : named.samples.latency_ns) ns /= 1000;
  for (const int width : {60, 80, 100}) {
    for (const result::Document& document : {explained(), quiet(), named, result::Document()}) {
      const std::string text =
          render_explanation_table(document, {.width = width, .colour = false, .unicode = false});
      for (const std::string_view line : split(text, '\n')) {
        EXPECT_LE(display_width(line), width) << line;
      }
      for (const char c : text) ASSERT_GE(c, 0) << text;
    }
  }
}

TEST(Explanation, MarkdownEscapesNames) {
  result::Document document = explained();
  document.findings[0].message = "<b>|*now*";
  document.samples.covariates[0].name = "a|<b>";
  const std::string text = render_explanation_markdown(document);
  EXPECT_THAT(text, HasSubstr("\\<b\\>\\|\\*now\\*"));
  EXPECT_THAT(text, HasSubstr("a\\|\\<b\\>"));
}

}  // namespace
}  // namespace vivace::report
