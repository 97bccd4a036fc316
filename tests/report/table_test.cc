#include "report/table.h"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text.h"
#include "report/golden.h"
#include "report/text_layout.h"
#include "result/example_document.h"

namespace vivace::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string without_colour(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      plain += text[i];
    }
  }
  return plain;
}

void expect_within(const std::string& text, int width) {
  ASSERT_TRUE(is_utf8(text));
  ASSERT_TRUE(text.ends_with('\n'));
  const std::string plain = without_colour(text);
  for (const std::string_view line : split(plain, '\n')) {
    EXPECT_LE(display_width(line), width) << line;
  }
}

result::Finding finding(const std::string& id, const std::string& message,
                        const std::string& advice) {
  result::Finding one;
  one.id = id;
  one.message = message;
  one.advice = advice;
  return one;
}

/// Documents that strain a layout.
std::vector<result::Document> odd_documents() {
  std::vector<result::Document> documents;
  for (const int count : {0, 1, 2, 30, 100, 500}) {
    documents.push_back(test::example_document(count));
  }
  const auto add = [&]() -> result::Document& {
    return documents.emplace_back(test::example_document(50));
  };
  documents.emplace_back();  // nothing known at all
  add().model->name = "/srv/" + std::string(300, 'm') + "/model.safetensors";
  add().input.name = "/data/\u732b\u732b\u732b/" + std::string(200, 'x') + "/cat.jpg";
  add().caveats[0].message = std::string(500, 'w') + " and then some more words";
  add().caveats[0].id = std::string(120, 'i');
  add().timed_region.includes = {std::string(200, 's')};
  add().environment.cpu = std::string(200, 'c');
  add().tool.version = std::string(200, 'v');
  add().model.reset();
  add().summary->stages.clear();
  add().summary->latency.percentiles.clear();
  for (result::StageSummary& stage : add().summary->stages) stage.percentiles.clear();
  add().findings = {finding("tail.major_faults", "", "pin the files")};
  result::Document& huge = add();
  for (std::int64_t& x : huge.samples.latency_ns) x = std::numeric_limits<std::int64_t>::max();
  huge.summary = result::summarize(huge.samples);
  huge.summary->throughput_per_s = 1e300;
  result::Document& mixed = add();  // from nanoseconds to days
  mixed.samples.latency_ns.back() = 400'000'000'000'000;
  for (std::size_t i = 0; i < 40; ++i) mixed.samples.latency_ns[i] = 17;
  mixed.summary = result::summarize(mixed.samples);
  result::Document& zero = add();
  for (std::int64_t& x : zero.samples.latency_ns) x = 0;
  zero.summary = result::summarize(zero.samples);
  return documents;
}

TEST(Table, SaysWhatSurroundsTheSamples) {
  result::Document document = test::full_document();
  document.comparison.reset();
  document.points.clear();
  document.processes = result::Processes{.count = 3,
                                         .medians_ns = {10'400'000, 10'100'000, 10'200'000},
                                         .within_ns2 = 1e8,
                                         .between_ns2 = 4e10,
                                         .over_processes = true,
                                         .unknown = {}};
  const std::string text =
      render_table(document, {.width = 100, .colour = false, .unicode = false});
  EXPECT_THAT(text, HasSubstr("(48.25 to 50.75)"));
  EXPECT_THAT(text, HasSubstr("3, medians 10.1 ms to 10.4 ms"));
  EXPECT_THAT(text, HasSubstr("between them 200 us"));
  EXPECT_THAT(text, HasSubstr("180 us every 16 samples"));
}

TEST(Table, AnAsynchronousSystemHasNoLatencyForAReason) {
  result::Document document = test::example_document(0);
  EXPECT_THAT(render_table(document, {}), HasSubstr("no sample was taken"));
  document.caveats = {{.id = "async_system", .message = "m", .advice = "a", .unknown = {}}};
  const std::string text = render_table(document, {});
  EXPECT_THAT(text, HasSubstr("no latency is given: calls return before their work is done"));
  EXPECT_THAT(text, Not(HasSubstr("no sample was taken")));
}

TEST(Table, Golden) {
  test::expect_golden("table.txt", render_table(test::example_document(), {}));
}

TEST(Table, GoldenFewSamplesNoStages) {
  result::Document document = test::example_document(50);
  document.samples.stages.clear();
  document.samples.latency_ns.resize(50);
  document.summary = result::summarize(document.samples);
  document.model->stand_in = false;
  document.caveats = {{.id = "sampling.few",
                       .message = "50 samples give no upper bound for P99",
                       .advice = "--samples 368 or more",
                       .unknown = {}}};
  document.findings = {finding("tail.major_faults", "major faults explain 92% of the slow samples",
                               "read the file once before measuring")};
  document.findings[0].evidence = {{"share", 0.92}};
  document.findings[0].threshold = JsonObject{{"share", 0.1}};
  test::expect_golden("table_few.txt", render_table(document, {}));
}

TEST(Table, GoldenOneSample) {
  test::expect_golden("table_one.txt", render_table(test::example_document(1), {}));
}

TEST(Table, GoldenAsciiInAWideTerminal) {
  const std::string text =
      render_table(test::example_document(), {.width = 200, .colour = false, .unicode = false});
  test::expect_golden("table_ascii.txt", text);
  for (const char c : text) ASSERT_GE(c, 0);
}

TEST(Table, NoLineIsWiderThanAsked) {
  for (const result::Document& document : odd_documents()) {
    for (const int width : {60, 72, 80, 100}) {
      for (const bool unicode : {true, false}) {
        for (const bool colour : {true, false}) {
          const TableStyle style{.width = width, .colour = colour, .unicode = unicode};
          expect_within(render_table(document, style), width);
        }
      }
    }
  }
}

TEST(Table, AbsurdWidthsAreHeldWithinReason) {
  expect_within(render_table(test::example_document(), {.width = -5}), 60);
  expect_within(render_table(test::example_document(), {.width = 10'000}), 100);
}

TEST(Table, ColourOnlyWhenAskedAndNothingElseChanges) {
  const result::Document document = test::example_document();
  const std::string plain = render_table(document, {});
  const std::string coloured = render_table(document, {.colour = true});
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  EXPECT_THAT(coloured, HasSubstr("\x1b[1m"));
  EXPECT_EQ(without_colour(coloured), plain);
}

TEST(Table, MissingBoundsSayWhatTheyNeed) {
  result::Document document = test::example_document(100);
  // Independent samples: the need is exact.
  document.summary->latency.percentiles[3].n_eff = 100;
  document.summary->latency.percentiles[3].samples_needed = 368;
  EXPECT_THAT(render_table(document, {}), HasSubstr("no upper bound (needs 368 samples)"));
  document.summary->latency.percentiles[3].ci_low_ns.reset();
  EXPECT_THAT(render_table(document, {}), HasSubstr("no bounds (needs 368 samples)"));
  document.summary->latency.percentiles[3].ci_high_ns = 40'000'000;
  EXPECT_THAT(render_table(document, {}), HasSubstr("no lower bound"));
  document.summary->latency.percentiles[3].n_eff = 50;
  document.summary->latency.percentiles[3].samples_needed = 736;
  EXPECT_THAT(render_table(document, {}), HasSubstr("(needs ~736 samples)"));
}

TEST(Table, AMeanNeverStandsAlone) {
  for (const result::Document& document : odd_documents()) {
    const std::string text = render_table(document, {});
    if (text.find("  mean") == std::string::npos) continue;
    // A percentile, or where a foreign document carries none, the spread and the range.
    EXPECT_TRUE(text.find("P50") != std::string::npos ||
                text.find("standard deviation") != std::string::npos)
        << text;
  }
  result::Document bare = test::example_document(50);
  for (result::StageSummary& stage : bare.summary->stages) stage.percentiles.clear();
  EXPECT_THAT(render_table(bare, {}), HasSubstr("context_encode"));
  EXPECT_THAT(render_table(bare, {}), Not(HasSubstr("18.0 ms")));
}

TEST(Table, LongNamesLoseTheirMiddle) {
  result::Document document = test::example_document(10);
  document.input.name = "/data/" + std::string(200, 'x') + "/cat.jpg";
  const std::string text = render_table(document, {});
  EXPECT_THAT(text, HasSubstr("/data/xxx"));
  EXPECT_THAT(text, HasSubstr("\u2026"));
  EXPECT_THAT(text, HasSubstr("x/cat.jpg (image)"));
}

TEST(Table, NamesCannotControlTheTerminal) {
  result::Document document = test::example_document(10);
  const std::string evil = "a\x1b]0;title\x07\r\nb\u202e";
  document.model->name = evil;
  document.model->family = evil;
  document.input.name = evil;
  document.input.kind = evil;
  document.environment.cpu = evil;
  document.environment.device = evil;
  document.timed_region.includes = {evil};
  document.phases.warm_up.method = evil;
  document.phases.sampling.stop_reason = evil;
  document.summary->steadiness.emplace().name = evil;
  document.caveats = {{.id = evil, .message = evil, .advice = evil, .unknown = {}}};
  document.findings = {finding(evil, evil, evil)};
  document.findings[0].evidence = {{evil, evil}};
  document.verdicts.emplace_back().id = evil;
  document.created = evil;
  document.kind = evil;
  document.tool.version = evil;
  document.configuration.emplace_back("system", evil);
  const std::string text = render_table(document, {});
  EXPECT_EQ(text.find_first_of("\x1b\x07\r"), std::string::npos);
  EXPECT_THAT(text, Not(HasSubstr("\u202e")));
}

TEST(Table, StatesWhatWasMeasuredAndHow) {
  const std::string text = render_table(test::example_document(), {});
  for (const char* part : {"models/ijepa-vit-b16",
                           "photos/cat.jpg",
                           "Example CPU 9000",
                           "threads 2",
                           "timed",
                           "not timed",
                           "one reading costs 24 ns",
                           "n = 500",
                           "P50",
                           "P90",
                           "P95",
                           "P99",
                           "P99.9",
                           "standard deviation",
                           "MAD",
                           "first inference",
                           "20 runs discarded",
                           "count reached",
                           "49.5 per second",
                           "model.stand_in",
                           "try: name a trained checkpoint"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

}  // namespace
}  // namespace vivace::report
