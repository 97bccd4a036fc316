#include "report/comparison_table.h"

#include <algorithm>
#include <string>
#include <vector>

#include "report/comparison_wording.h"
#include "report/text_layout.h"

namespace vivace::report {
namespace {

constexpr int kLabelWidth = 11;
constexpr int kIndent = 2;
constexpr std::string_view kGap = "  ";

struct Columns {
  int name = 4;
  int a = 1;
  int b = 1;
  int change = 6;
  int interval = 8;
  int verdict = 7;
};

std::string front(const ComparedText& row, const Columns& columns) {
  return std::string(kIndent, ' ') + pad_right(row.name, columns.name) + std::string(kGap) +
         pad_left(row.a, columns.a) + std::string(kGap) + pad_left(row.b, columns.b);
}

void add_row(Page& page, const ComparedText& row, const Columns& columns, Paint verdict_paint,
             Paint paint) {
  const std::string start = front(row, columns);
  const std::string change = pad_left(row.change, columns.change) + std::string(kGap);
  const std::string interval = pad_right(row.interval, columns.interval) + std::string(kGap);
  const int whole =
      display_width(start) + 2 + display_width(change) + display_width(interval) + columns.verdict;
  if (whole <= page.width()) {
    page.raw(page.painted(paint, start + std::string(kGap) + change + interval) +
             page.painted(verdict_paint, row.verdict));
    return;
  }
  // In a narrow terminal the change has a line of its own.
  page.raw(page.painted(paint, start));
  const std::string rest = row.change + std::string(kGap) + row.interval + std::string(kGap);
  const int room = page.width() - display_width(rest) - display_width(row.verdict);
  page.raw(pad_right("", std::max(0, std::min(room, 2 * kIndent))) + page.painted(paint, rest) +
           page.painted(verdict_paint, row.verdict));
}

void add_rows(Page& page, const std::vector<ComparedText>& rows, const Columns& columns) {
  const ComparedText heads{.name = "",
                           .a = "A",
                           .b = "B",
                           .change = "change",
                           .interval = "interval",
                           .verdict = "verdict"};
  add_row(page, heads, columns, Paint::kLabel, Paint::kLabel);
  for (const ComparedText& row : rows) {
    const Paint paint = row.verdict == "regressed"  ? Paint::kWarning
                        : row.verdict == "improved" ? Paint::kStrong
                                                    : Paint::kPlain;
    add_row(page, row, columns, paint, Paint::kPlain);
  }
}

void add_quantities(Page& page, const result::Comparison& comparison) {
  std::vector<ComparedText> whole;
  std::vector<ComparedText> stages;
  Columns columns;
  for (const result::ComparedQuantity& one : comparison.quantities) {
    const ComparedText row = compared_text(one, page.unicode());
    columns.name = std::max(columns.name, display_width(row.name));
    columns.a = std::max(columns.a, display_width(row.a));
    columns.b = std::max(columns.b, display_width(row.b));
    columns.change = std::max(columns.change, display_width(row.change));
    columns.interval = std::max(columns.interval, display_width(row.interval));
    columns.verdict = std::max(columns.verdict, display_width(row.verdict));
    (is_stage(one) ? stages : whole).push_back(row);
  }
  if (!whole.empty()) {
    page.section("B AGAINST A", "+ is slower");
    add_rows(page, whole, columns);
  }
  if (!stages.empty()) {
    page.section("STAGES", "+ is slower");
    add_rows(page, stages, columns);
  }
  page.blank();
  page.paragraph(reading_aid(), kIndent, Paint::kLabel);
}

}  // namespace

void add_comparison(Page& page, const result::Document& document,
                    const result::Comparison& comparison) {
  const Paint paint = comparison.verdict == "regressed" ? Paint::kWarning : Paint::kStrong;
  for (const auto& [label, text] : conclusion(comparison, page.unicode())) {
    page.fact(label, text, 0, kLabelWidth, paint);
  }
  page.blank();
  const int name_width = page.width() - kLabelWidth;
  for (const auto& [label, text] :
       comparison_facts(document, comparison, name_width, page.unicode())) {
    page.fact(label, text, 0, kLabelWidth);
  }
  add_quantities(page, comparison);
  const auto points = open_points(comparison, page.unicode());
  if (points.empty()) return;
  int label_width = 0;
  for (const auto& [label, text] : points) {
    label_width = std::max(label_width, display_width(label) + 2);
  }
  page.section("OPEN", "");
  for (const auto& [label, text] : points) page.fact(label, text, kIndent, label_width);
}

}  // namespace vivace::report
