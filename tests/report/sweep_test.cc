#include "report/sweep.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text.h"
#include "report/csv.h"
#include "report/golden.h"
#include "report/markdown.h"
#include "report/table.h"
#include "report/text_layout.h"
#include "result/example_document.h"

namespace vivace::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

result::Document sweep() {
  result::Document document;
  document.kind = "sweep";
  document.created = "2025-01-31T12:00:00Z";
  document.tool.version = "0.1.0";
  for (const int batch : {1, 4}) {
    result::SweepPoint point{.setting = {{"batch", std::to_string(batch)}},
                             .result = test::example_document(batch == 1 ? 500 : 40)};
    point.result.summary->throughput_ci_low = 49.25;
    point.result.summary->throughput_ci_high = 49.75;
    document.points.push_back(std::move(point));
  }
  result::Document& last = document.points.back().result;
  last.caveats.push_back({.id = "sampling.few",
                          .message = "40 samples give no upper bound for P99",
                          .advice = "--samples 368 or more",
                          .unknown = {}});
  last.verdicts = test::full_document().verdicts;
  return document;
}

TEST(Sweep, Golden) {
  test::expect_golden("sweep.txt", render_table(sweep(), {}));
  test::expect_golden("sweep.md", render_markdown(sweep()));
  test::expect_golden("sweep.csv", render_csv(sweep()));
}

TEST(Sweep, TimePerItemTakesTheBatchOfTheSettingThenOfTheConfiguration) {
  result::Document document = sweep();
  for (result::SweepPoint& point : document.points) {
    point.result.summary->latency.percentiles[0].value_ns = 20'000'000;
  }
  ASSERT_EQ(sweep_grid(document, false).heads[4], "per item");
  EXPECT_EQ(sweep_grid(document, false).rows[0][4], "20.0 ms");
  EXPECT_EQ(sweep_grid(document, false).rows[1][4], "5.00 ms");
  document.points[1].setting = {{"threads", "2"}};
  document.points[1].result.configuration = {{"batch", 8}};
  EXPECT_EQ(sweep_grid(document, false).rows[1][4], "2.50 ms");
  document.points[1].setting = {{"batch", "0"}};
  document.points[1].result.configuration.clear();
  EXPECT_EQ(sweep_grid(document, false).rows[1][4], "20.0 ms");
}

TEST(Sweep, ACaveatIsNamedOnceWithTheSettingsItHoldsFor) {
  const auto caveats = sweep_caveats(sweep());
  ASSERT_EQ(caveats.size(), 2u);
  EXPECT_EQ(caveats[0].id, "model.stand_in");
  EXPECT_THAT(caveats[0].message, Not(HasSubstr("batch=")));
  EXPECT_EQ(caveats[1].message, "batch=4: 40 samples give no upper bound for P99");
  const auto verdicts = sweep_verdicts(sweep());
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].id, "batch=4 slo");
}

// Files may hold points that lack a summary, or that differ in their percentiles.
TEST(Sweep, PointsThatDifferKeepTheirColumns) {
  result::Document document = sweep();
  document.points.front().result.summary.reset();
  auto& percentiles = document.points.back().result.summary->latency.percentiles;
  percentiles.insert(percentiles.end(), 6, percentiles.front());
  document.points.push_back(document.points.back());
  auto& fewer = document.points.back().result.summary->latency.percentiles;
  fewer.erase(fewer.begin(), fewer.begin() + 2);
  for (const auto& row : sweep_grid(document, true).rows) {
    EXPECT_EQ(row.size(), sweep_grid(document, true).heads.size());
  }
  EXPECT_EQ(sweep_grid(document, true).rows[0][1], "none");
  const std::string csv = sweep_csv(document);
  const auto lines = split(csv, '\n');
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(split(lines[i], ',').size(), split(lines[0], ',').size()) << lines[i];
  }
}

TEST(Sweep, StaysWithinTheWidthAndQuotesNames) {
  result::Document document = sweep();
  document.points.front().setting = {{"input", std::string(90, 'x') + ",\"a\""}};
  EXPECT_THAT(render_csv(document), HasSubstr("x,\"\"a\"\"\","));
  for (const int width : {60, 80, 100}) {
    const std::string text =
        render_table(document, {.width = width, .colour = false, .unicode = false});
    for (const std::string_view line : split(text, '\n')) {
      EXPECT_LE(display_width(line), width) << line;
    }
    for (const char c : text) ASSERT_GE(c, 0) << text;
  }
}

}  // namespace
}  // namespace vivace::report
