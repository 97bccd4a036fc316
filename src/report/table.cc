#include "report/table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "report/comparison_table.h"
#include "report/grid.h"
#include "report/sweep.h"
#include "report/text_layout.h"
#include "report/wording.h"

namespace vivace::report {
namespace {

constexpr int kLabelWidth = 11;
constexpr int kIndent = 2;

void add_title(Page& page, const result::Document& document) {
  const std::string_view dot = page.unicode() ? " \u00b7 " : " - ";
  std::string title = "vivace";
  if (!document.tool.version.empty()) {
    title += " " + printable(document.tool.version, page.unicode());
  }
  for (const std::string& piece : {document.kind, document.created}) {
    if (!piece.empty()) title += std::string(dot) + printable(piece, page.unicode());
  }
  page.raw(page.painted(Paint::kTitle, shorten_middle(title, page.width(), page.unicode())));
  page.rule();
}

void add_head(Page& page, const result::Document& document) {
  const int name_width = page.width() - kLabelWidth - 16;
  for (const auto& [label, text] : head_facts(document, name_width, page.unicode())) {
    page.fact(label, text, 0, kLabelWidth);
  }
}

/// Widths of the columns before the interval, which comes last and may run to the edge.
struct LatencyColumns {
  int label = 0;
  int value = 5;
  int ranks = 5;
  int n_eff = 5;

  int interval_start() const { return kIndent + label + 2 + value + 2 + ranks + 2 + n_eff + 2; }
};

void add_latency_row(Page& page, const LatencyColumns& columns, const PercentileText& row,
                     Paint value_paint) {
  const std::string before = std::string(kIndent, ' ') + pad_right(row.label, columns.label) +
                             "  " + page.painted(value_paint, pad_left(row.value, columns.value)) +
                             "  " + pad_left(row.ranks, columns.ranks) + "  " +
                             pad_left(row.n_eff, columns.n_eff);
  if (columns.interval_start() + display_width(row.interval) <= page.width()) {
    page.raw(before + "  " + row.interval);
    return;
  }
  // On a line of its own, as near to its column as the words leave room.
  page.raw(before);
  const int room = page.width() - kIndent - columns.label - 2;
  for (const std::string& line : wrap(row.interval, room, page.unicode())) {
    const int start = std::min(columns.interval_start(), page.width() - display_width(line));
    page.raw(pad_right("", start) + line);
  }
}

void add_latency(Page& page, const result::LatencySummary& latency) {
  page.section("LATENCY", basis_text(latency));
  const DurationScale scale = scale_of(latency.percentiles, page.unicode());
  std::vector<PercentileText> rows;
  LatencyColumns columns;
  for (const result::Percentile& percentile : latency.percentiles) {
    rows.push_back(percentile_text(percentile, latency.n, scale, page.unicode()));
    const PercentileText& row = rows.back();
    columns.label = std::max(columns.label, display_width(row.label));
    columns.value = std::max(columns.value, display_width(row.value));
    columns.ranks = std::max(columns.ranks, display_width(row.ranks));
    columns.n_eff = std::max(columns.n_eff, display_width(row.n_eff));
  }
  if (!rows.empty()) {
    const PercentileText heads{
        .label = "", .value = "value", .interval = "interval", .ranks = "ranks", .n_eff = "n_eff"};
    page.raw(page.painted(Paint::kLabel, std::string(kIndent, ' ') + pad_right("", columns.label) +
                                             "  " + pad_left(heads.value, columns.value) + "  " +
                                             pad_left(heads.ranks, columns.ranks) + "  " +
                                             pad_left(heads.n_eff, columns.n_eff) + "  " +
                                             heads.interval));
  }
  for (const PercentileText& row : rows) add_latency_row(page, columns, row, Paint::kStrong);
  const int label_width = std::max(7, columns.label + 2);
  page.fact("mean", mean_text(latency, page.unicode()), kIndent, label_width);
  page.fact("range", range_text(latency, page.unicode()), kIndent, label_width);
}

/// `share` of `width` columns, to an eighth of a column where the character set has eighths.
std::string bar_of(double share, int width, bool unicode) {
  const double filled = std::clamp(share, 0.0, 1.0) * width;
  if (!unicode) {
    return std::string(static_cast<std::size_t>(std::lround(filled)), '#');
  }
  constexpr std::array<std::string_view, 8> kEighths = {"",       "\u258f", "\u258e", "\u258d",
                                                        "\u258c", "\u258b", "\u258a", "\u2589"};
  const auto eighths = static_cast<std::size_t>(std::lround(filled * 8));
  std::string bar;
  for (std::size_t i = 0; i < eighths / 8; ++i) bar += "\u2588";
  return bar + std::string(kEighths[eighths % 8]);
}

void add_stages(Page& page, const result::Summary& summary) {
  if (summary.stages.empty()) return;
  page.section("STAGES", "largest first, share of all latency");
  const std::vector<stats::Probability> columns = stage_columns(summary);
  std::vector<StageText> rows;
  int name_width = 0;
  int share_width = 0;
  int time_width = 7;
  for (const result::StageSummary& stage : summary.stages) {
    rows.push_back(stage_text(stage, columns, page.unicode()));
    name_width = std::max(name_width, display_width(rows.back().name));
    share_width = std::max(share_width, display_width(rows.back().share));
    time_width = std::max(time_width, display_width(rows.back().mean));
    for (const std::string& text : rows.back().percentiles) {
      time_width = std::max(time_width, display_width(text));
    }
  }
  const int times = 1 + static_cast<int>(columns.size());
  const int fixed = kIndent + name_width + 2 + share_width + 2 + times * (time_width + 2);
  const int bar_width = std::clamp(page.width() - fixed, 0, 40);

  std::string head = std::string(kIndent, ' ') + pad_right("", name_width) + "  " +
                     pad_left("", share_width) + "  " + pad_right("", bar_width) + "  " +
                     pad_left("mean", time_width);
  for (const stats::Probability& p : columns) head += "  " + pad_left(p.label(), time_width);
  page.raw(page.painted(Paint::kLabel, head));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const StageText& row = rows[i];
    const std::string bar = bar_of(summary.stages[i].share, bar_width, page.unicode());
    std::string line = std::string(kIndent, ' ') + pad_right(row.name, name_width) + "  " +
                       pad_left(row.share, share_width) + "  " + page.painted(Paint::kBar, bar) +
                       pad_right("", bar_width - display_width(bar)) + "  " +
                       pad_left(row.mean, time_width);
    for (const std::string& text : row.percentiles) line += "  " + pad_left(text, time_width);
    page.raw(line);
  }
}

void add_run(Page& page, const result::Document& document) {
  page.section("COLD START AND SAMPLING", "load, first inference and warm-up are apart");
  for (const auto& [label, text] : run_facts(document, page.unicode())) {
    page.fact(label, text, kIndent, 17);
  }
}

template <class Entry>
void add_entries(Page& page, std::string_view title, const std::vector<Entry>& entries,
                 std::string_view mark, Paint mark_paint) {
  if (entries.empty()) return;
  page.section(title, "");
  for (const Entry& entry : entries) {
    const EntryText text = entry_text(entry, page.unicode());
    page.fact(mark, text.statement, kIndent, 2, mark_paint);
    if (!text.advice.empty()) page.fact("", "try: " + text.advice, kIndent, 2);
  }
}

void add_measurement(Page& page, const result::Document& document) {
  add_head(page, document);
  if (document.summary) {
    add_latency(page, document.summary->latency);
    add_stages(page, *document.summary);
  } else {
    page.section("LATENCY", "");
    page.paragraph(no_latency_text(document), kIndent);
  }
  add_run(page, document);
}

void add_sweep(Page& page, const result::Document& document) {
  const result::Document head = sweep_head(document);
  const int name_width = page.width() - kLabelWidth - 16;
  for (const auto& [label, text] : head_facts(head, name_width, page.unicode())) {
    if (label != "clock") page.fact(label, text, 0, kLabelWidth);
  }
  page.section("SWEEP", "settings taken in turns");
  add_grid(page, sweep_grid(document, page.unicode()));
}

}  // namespace

std::string render_table(const result::Document& document, const TableStyle& style) {
  Page page(style);
  add_title(page, document);
  const std::string_view bullet = page.unicode() ? "\u2022" : "*";
  if (document.comparison) {
    add_comparison(page, document, *document.comparison);
  } else if (!document.points.empty()) {
    add_sweep(page, document);
    add_entries(page, "VERDICTS", sweep_verdicts(document), bullet, Paint::kLabel);
    add_entries(page, "CAVEATS", sweep_caveats(document), "!", Paint::kWarning);
    return page.take();
  } else {
    add_measurement(page, document);
  }
  add_entries(page, "VERDICTS", document.verdicts, bullet, Paint::kLabel);
  add_entries(page, "FINDINGS", document.findings, bullet, Paint::kLabel);
  add_entries(page, "CAVEATS", document.caveats, "!", Paint::kWarning);
  return page.take();
}

}  // namespace vivace::report
