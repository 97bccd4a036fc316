#include "report/markdown.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/comparison_wording.h"
#include "report/grid.h"
#include "report/sweep.h"
#include "report/text_layout.h"
#include "report/wording.h"

namespace vivace::report {
namespace {

constexpr int kNameWidth = 120;

void add_facts(std::string& out, const std::vector<std::pair<std::string, std::string>>& facts) {
  out += "| | |\n| --- | --- |\n";
  for (const auto& [label, text] : facts) {
    out += fmt::format("| {} | {} |\n", escaped_markdown(label), escaped_markdown(text));
  }
}

std::pair<std::string, std::string> version_fact(const result::Document& document) {
  return {"vivace", printable(document.tool.version) + ", " + printable(document.created)};
}

void add_latency(std::string& out, const result::LatencySummary& latency) {
  out += fmt::format("\n### Latency\n\n{}\n", escaped_markdown(basis_text(latency)));
  if (!latency.percentiles.empty()) {
    out +=
        "\n| percentile | value | interval | ranks | n\\_eff |\n| --- | ---: | --- | ---: | ---: "
        "|\n";
    const DurationScale scale = scale_of(latency.percentiles, true);
    for (const result::Percentile& percentile : latency.percentiles) {
      const PercentileText row = percentile_text(percentile, latency.n, scale, true);
      out += fmt::format("| {} | {} | {} | {} | {} |\n", row.label, row.value, row.interval,
                         row.ranks, row.n_eff);
    }
  }
  out += fmt::format("\nmean {}; range {}\n", escaped_markdown(mean_text(latency, true)),
                     escaped_markdown(range_text(latency, true)));
}

void add_stages(std::string& out, const result::Summary& summary) {
  if (summary.stages.empty()) return;
  const std::vector<stats::Probability> columns = stage_columns(summary);
  out += "\n### Stages\n\n| stage | share | mean |";
  for (const stats::Probability& p : columns) out += fmt::format(" {} |", p.label());
  out += "\n| --- | ---: | ---: |";
  for (std::size_t i = 0; i < columns.size(); ++i) out += " ---: |";
  out += '\n';
  for (const result::StageSummary& stage : summary.stages) {
    const StageText row = stage_text(stage, columns, true);
    out += fmt::format("| {} | {} | {} |", escaped_markdown(row.name), row.share, row.mean);
    for (const std::string& text : row.percentiles) out += fmt::format(" {} |", text);
    out += '\n';
  }
}

template <class Entry>
void add_entries(std::string& out, std::string_view title, const std::vector<Entry>& entries) {
  if (entries.empty()) return;
  out += fmt::format("\n### {}\n\n", title);
  for (const Entry& entry : entries) {
    const EntryText text = entry_text(entry, true);
    out += "- " + escaped_markdown(text.statement);
    if (!text.advice.empty()) out += "; try: " + escaped_markdown(text.advice);
    out += '\n';
  }
}

void add_compared(std::string& out, const result::Comparison& comparison, bool stages) {
  out += "\n| | A | B | change | interval | verdict |\n| --- | ---: | ---: | ---: | --- | --- |\n";
  for (const result::ComparedQuantity& one : comparison.quantities) {
    if (is_stage(one) != stages) continue;
    const ComparedText row = compared_text(one, true);
    const bool is_change = one.verdict == "regressed" || one.verdict == "improved";
    const std::string_view strong = is_change ? "**" : "";
    out +=
        fmt::format("| {} | {} | {} | {} | {} | {}{}{} |\n", escaped_markdown(row.name), row.a,
                    row.b, row.change, row.interval, strong, escaped_markdown(row.verdict), strong);
  }
}

/// The verdict and its figures are in sight; what it rests on is folded away.
std::string comparison_markdown(const result::Document& document,
                                const result::Comparison& comparison) {
  std::string out =
      fmt::format("## vivace compare: {}\n", escaped_markdown(printable(comparison.verdict)));
  for (const auto& [label, text] : conclusion(comparison, true)) {
    out += label == "verdict"
               ? fmt::format("\n**{}**\n", escaped_markdown(text))
               : fmt::format("\n{}: {}\n", escaped_markdown(label), escaped_markdown(text));
  }
  add_compared(out, comparison, false);
  const auto& quantities = comparison.quantities;
  if (std::any_of(quantities.begin(), quantities.end(), is_stage)) {
    out += "\n### Stages\n";
    add_compared(out, comparison, true);
  }
  out += fmt::format("\nA plus is slower. {}\n", escaped_markdown(reading_aid()));
  const auto points = open_points(comparison, true);
  if (!points.empty()) out += "\n### Open\n\n";
  for (const auto& [label, text] : points) {
    out += fmt::format("- {}: {}\n", escaped_markdown(label), escaped_markdown(text));
  }
  add_entries(out, "Caveats", document.caveats);
  out += "\n<details>\n<summary>What was compared</summary>\n\n";
  auto facts = comparison_facts(document, comparison, kNameWidth, true);
  facts.push_back(version_fact(document));
  add_facts(out, facts);
  return out + "\n</details>\n";
}

std::string sweep_markdown(const result::Document& document) {
  std::string out = "## vivace sweep\n\n";
  add_facts(out, head_facts(sweep_head(document), kNameWidth, true));
  out += "\n" + markdown_grid(sweep_grid(document, true));
  add_entries(out, "Verdicts", sweep_verdicts(document));
  add_entries(out, "Caveats", sweep_caveats(document));
  return out;
}

}  // namespace

std::string render_markdown(const result::Document& document) {
  if (document.comparison) return comparison_markdown(document, *document.comparison);
  if (!document.points.empty()) return sweep_markdown(document);
  std::string out = fmt::format("## vivace {}", escaped_markdown(printable(document.kind)));
  if (document.model) {
    out +=
        ": " +
        escaped_markdown(shorten_middle(
            printable(document.model->name.empty() ? document.model->family : document.model->name),
            kNameWidth));
  }
  out += "\n\n";
  auto facts = head_facts(document, kNameWidth, true);
  facts.push_back(version_fact(document));
  add_facts(out, facts);
  if (document.summary) {
    add_latency(out, document.summary->latency);
    add_stages(out, *document.summary);
  } else {
    out += "\n### Latency\n\n" + no_latency_text(document) + "\n";
  }
  out += "\n### Cold start and sampling\n\nload, first inference and warm-up are apart\n\n";
  add_facts(out, run_facts(document, true));
  add_entries(out, "Verdicts", document.verdicts);
  add_entries(out, "Findings", document.findings);
  add_entries(out, "Caveats", document.caveats);
  return out;
}

}  // namespace vivace::report
