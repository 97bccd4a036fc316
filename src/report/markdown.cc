#include "report/markdown.h"

#include <string_view>

#include <fmt/format.h>

#include "report/text_layout.h"
#include "report/wording.h"

namespace vivace::report {
namespace {

constexpr int kNameWidth = 120;

/// Safe inside a table cell and a paragraph. The texts are on one line already.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (std::string_view("\\`*_[]<>|#~&!").find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

void add_facts(std::string& out, const std::vector<std::pair<std::string, std::string>>& facts) {
  out += "| | |\n| --- | --- |\n";
  for (const auto& [label, text] : facts) {
    out += fmt::format("| {} | {} |\n", escaped(label), escaped(text));
  }
}

void add_latency(std::string& out, const result::LatencySummary& latency) {
  out += fmt::format("\n### Latency\n\n{}\n", escaped(basis_text(latency)));
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
  out += fmt::format("\nmean {}; range {}\n", escaped(mean_text(latency, true)),
                     escaped(range_text(latency, true)));
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
    out += fmt::format("| {} | {} | {} |", escaped(row.name), row.share, row.mean);
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
    out += "- " + escaped(text.statement);
    if (!text.advice.empty()) out += "; try: " + escaped(text.advice);
    out += '\n';
  }
}

}  // namespace

std::string render_markdown(const result::Document& document) {
  std::string out = fmt::format("## vivace {}", escaped(printable(document.kind)));
  if (document.model) {
    out += ": " +
           escaped(shorten_middle(printable(document.model->name.empty() ? document.model->family
                                                                         : document.model->name),
                                  kNameWidth));
  }
  out += "\n\n";
  auto facts = head_facts(document, kNameWidth, true);
  facts.emplace_back("vivace",
                     printable(document.tool.version) + ", " + printable(document.created));
  add_facts(out, facts);
  if (document.summary) {
    add_latency(out, document.summary->latency);
    add_stages(out, *document.summary);
  } else {
    out += "\n### Latency\n\nno sample was taken, so there is nothing to say about latency\n";
  }
  out += "\n### Cold start and sampling\n\nload, first inference and warm-up are apart\n\n";
  add_facts(out, run_facts(document, true));
  add_entries(out, "Verdicts", document.verdicts);
  add_entries(out, "Findings", document.findings);
  add_entries(out, "Caveats", document.caveats);
  return out;
}

}  // namespace vivace::report
