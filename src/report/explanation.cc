#include "report/explanation.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "analyze/tail.h"
#include "analyze/tail_findings.h"
#include "report/grid.h"
#include "report/text_layout.h"
#include "report/wording.h"

namespace vivace::report {
namespace {

std::string percent_text(double share) { return fmt::format("{:.0f}%", 100 * share); }

std::string share_of(std::int64_t part, std::int64_t rest) {
  return part + rest == 0
             ? "none"
             : percent_text(static_cast<double>(part) / static_cast<double>(part + rest));
}

/// Three digits, and no more than is worth reading.
std::string odds_text(double odds) {
  if (odds > 999) return ">999";
  return odds < 0.01 ? "<0.01" : fmt::format("{:.3g}", odds);
}

/// One row for each covariate that was tested, the largest share first.
Grid tested_grid(const analyze::TailDiagnosis& diagnosis, bool unicode) {
  Grid grid;
  grid.heads = {"covariate", "slow", "others", "share", "odds ratio", "p", "cause"};
  auto tested = diagnosis.exposures.tested;
  std::sort(tested.begin(), tested.end(), [](const auto& a, const auto& b) {
    return a.share != b.share ? a.share > b.share : a.index < b.index;
  });
  for (const analyze::TestedCovariate& one : tested) {
    const auto& table = one.table;
    grid.rows.push_back({printable(fmt::format("{} > {:.4g}", one.name, one.threshold), unicode),
                         share_of(table.exposed_tail, table.unexposed_tail),
                         share_of(table.exposed_body, table.unexposed_body),
                         percent_text(one.share),
                         fmt::format("{} ({} to {})", odds_text(one.odds.estimate),
                                     odds_text(one.odds.lower), odds_text(one.odds.upper)),
                         one.p_holm < 1e-4 ? "<0.0001" : fmt::format("{:.4f}", one.p_holm),
                         one.claimed ? "yes" : "no"});
  }
  return grid;
}

std::optional<analyze::TailDiagnosis> diagnosis_of(const result::Document& document) {
  std::vector<analyze::Covariate> covariates;
  return analyze::diagnose(document.samples, covariates);
}

/// What to say where there is no finding.
std::string nothing_text(const result::Document& document, bool unicode) {
  if (document.samples.latency_ns.empty()) return "the result has no samples";
  std::string text = "nothing to explain: no sample lies far above the others";
  const auto percentile = [&](std::int64_t hundredths) {
    std::vector<std::int64_t> values = document.samples.latency_ns;
    const auto place = values.begin() + (stats::rank_of(std::ssize(values), {hundredths, 100}) - 1);
    std::nth_element(values.begin(), place, values.end());
    return static_cast<double>(*place);
  };
  if (const double p50_ns = percentile(50); p50_ns > 0) {
    text +=
        fmt::format(" (P99 is {:.3g} {} P50)", percentile(99) / p50_ns, unicode ? "\u00d7" : "x");
  }
  if (document.summary && document.summary->steadiness) {
    text += fmt::format(", and the series is {}",
                        printable(document.summary->steadiness->name, unicode));
  }
  return text;
}

std::string tail_text(const analyze::TailDiagnosis& diagnosis, const result::Document& document,
                      bool unicode) {
  return fmt::format("{} of {} samples are slow: above {}", diagnosis.samples.size(),
                     document.samples.latency_ns.size(),
                     DurationScale(diagnosis.cut_ns, unicode).text(diagnosis.cut_ns));
}

constexpr std::string_view kTestedNote =
    "how many of the slow samples and of the others lie above the covariate's median, the share of "
    "the tail that it explains, the odds ratio with its 95% interval, and p after Holm";

}  // namespace

std::string render_explanation_table(const result::Document& document, const TableStyle& style) {
  Page page(style);
  page.raw(page.painted(Paint::kTitle,
                        shorten_middle(fmt::format("vivace explain: {}",
                                                   printable(document.input.name, page.unicode())),
                                       page.width(), page.unicode())));
  page.rule();
  for (const auto& [label, text] : head_facts(document, page.width() - 27, page.unicode())) {
    if (label == "input" || label == "machine" || label == "model") page.fact(label, text, 0, 11);
  }
  page.section("FINDINGS", "the first cause first");
  if (document.findings.empty()) page.paragraph(nothing_text(document, page.unicode()), 2);
  int place = 0;
  for (const result::Finding& finding : document.findings) {
    const EntryText text = entry_text(finding, page.unicode());
    page.fact(fmt::format("{}", ++place), text.statement, 2, 3, Paint::kStrong);
    if (!text.advice.empty()) page.fact("", "try: " + text.advice, 2, 3);
  }
  const auto diagnosis = diagnosis_of(document);
  if (!diagnosis) return page.take();
  page.section("WHAT WAS TRIED", "");
  page.paragraph(tail_text(*diagnosis, document, page.unicode()), 2);
  if (diagnosis->exposures.tested.empty()) {
    page.paragraph("no covariate was recorded that varies", 2);
  } else {
    page.paragraph(kTestedNote, 2);
    add_grid(page, tested_grid(*diagnosis, page.unicode()));
  }
  return page.take();
}

std::string render_explanation_markdown(const result::Document& document) {
  std::string out = "## vivace explain\n\n";
  if (document.findings.empty()) out += escaped_markdown(nothing_text(document, true)) + "\n";
  int place = 0;
  for (const result::Finding& finding : document.findings) {
    const EntryText text = entry_text(finding, true);
    out += fmt::format("{}. **{}** {}", ++place, escaped_markdown(printable(finding.id)),
                       escaped_markdown(printable(finding.message)));
    if (!text.advice.empty()) out += "; try: " + escaped_markdown(text.advice);
    out += '\n';
  }
  const auto diagnosis = diagnosis_of(document);
  if (!diagnosis) return out;
  out += fmt::format("\n### What was tried\n\n{}\n",
                     escaped_markdown(tail_text(*diagnosis, document, true)));
  if (!diagnosis->exposures.tested.empty()) {
    out += fmt::format("{}\n\n{}", kTestedNote, markdown_grid(tested_grid(*diagnosis, true)));
  }
  return out;
}

}  // namespace vivace::report
