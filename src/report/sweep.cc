#include "report/sweep.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/text.h"
#include "report/duration_scale.h"
#include "report/text_layout.h"

namespace vivace::report {
namespace {

std::string label_of(const result::SweepPoint& point) {
  std::vector<std::string> pieces;
  for (const auto& [name, value] : point.setting) {
    pieces.push_back(name + "=" + (value.is_string() ? value.as_string() : write_json(value)));
  }
  return join(pieces, " ");
}

std::int64_t batch_of(const result::Document& document) {
  for (const auto& [name, value] : document.configuration) {
    if (name == "batch" && value.is_integer()) return std::max<std::int64_t>(1, value.as_integer());
  }
  return 1;
}

/// P50, and P95 or the last that there is.
std::vector<const result::Percentile*> shown(const result::Document& document) {
  std::vector<const result::Percentile*> found;
  if (!document.summary) return found;
  const auto& all = document.summary->latency.percentiles;
  const auto add = [&](const stats::Probability& p) {
    for (const auto& one : all) {
      if (one.p == p) found.push_back(&one);
    }
  };
  add(stats::Probability(5, 10));
  add(stats::Probability(95, 100));
  if (found.empty() && !all.empty()) found.push_back(&all.front());
  if (found.size() < 2 && !all.empty() && found.back() != &all.back()) found.push_back(&all.back());
  return found;
}

std::string with_interval(const result::Percentile& one, bool unicode) {
  const DurationScale scale(static_cast<double>(one.value_ns), unicode);
  const auto number = [&](const std::optional<std::int64_t>& ns) {
    return ns ? scale.number(static_cast<double>(*ns)) : std::string("none");
  };
  return fmt::format("{} ({}{}{})", scale.text(static_cast<double>(one.value_ns)),
                     number(one.ci_low_ns), unicode ? "\u2013" : "-", number(one.ci_high_ns));
}

/// "498 \u00b10.3%".
std::string throughput_text(const result::Summary& summary, bool unicode) {
  if (!summary.throughput_per_s) return "?";
  std::string text = fmt::format("{:.4g}", *summary.throughput_per_s);
  if (summary.throughput_ci_low && summary.throughput_ci_high) {
    const double half = (*summary.throughput_ci_high - *summary.throughput_ci_low) / 2;
    text += fmt::format(" {}{:.1f}%", unicode ? "\u00b1" : "+-",
                        100 * half / *summary.throughput_per_s);
  }
  return text;
}

}  // namespace

Grid sweep_grid(const result::Document& document, bool unicode) {
  Grid grid;
  grid.heads = {"setting", "P50", "P95", "items/s", "per item"};
  if (!document.points.empty()) {
    const auto columns = shown(document.points.front().result);
    for (std::size_t i = 0; i < columns.size(); ++i) grid.heads[1 + i] = columns[i]->p.label();
  }
  for (const result::SweepPoint& point : document.points) {
    std::vector<std::string> row = {printable(label_of(point), unicode), "none", "none", "none",
                                    "none"};
    if (const auto& summary = point.result.summary) {
      const auto columns = shown(point.result);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        row[1 + i] = with_interval(*columns[i], unicode);
      }
      row[3] = throughput_text(*summary, unicode);
      if (!columns.empty()) {
        const double each = static_cast<double>(columns.front()->value_ns) /
                            static_cast<double>(batch_of(point.result));
        row[4] = DurationScale(each, unicode).text(each);
      }
    }
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

std::vector<result::Caveat> sweep_caveats(const result::Document& document) {
  struct Held {
    result::Caveat caveat;
    std::vector<std::string> settings;
  };
  std::vector<Held> all;
  for (const result::SweepPoint& point : document.points) {
    for (const result::Caveat& caveat : point.result.caveats) {
      const auto known = std::find_if(
          all.begin(), all.end(), [&](const Held& held) { return held.caveat.id == caveat.id; });
      if (known == all.end()) {
        all.push_back({caveat, {label_of(point)}});
      } else {
        known->settings.push_back(label_of(point));
      }
    }
  }
  std::vector<result::Caveat> caveats;
  for (Held& held : all) {
    if (held.settings.size() < document.points.size()) {
      held.caveat.message = join(held.settings, ", ") + ": " + held.caveat.message;
    }
    caveats.push_back(std::move(held.caveat));
  }
  return caveats;
}

std::vector<result::Verdict> sweep_verdicts(const result::Document& document) {
  std::vector<result::Verdict> verdicts;
  for (const result::SweepPoint& point : document.points) {
    for (result::Verdict verdict : point.result.verdicts) {
      verdict.id = label_of(point) + " " + verdict.id;
      verdicts.push_back(std::move(verdict));
    }
  }
  return verdicts;
}

std::string sweep_csv(const result::Document& document) {
  std::string out = "setting,n,n_eff";
  const auto empty_or = [](const auto& value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  const auto first = document.points.empty() ? std::optional<result::Summary>()
                                             : document.points.front().result.summary;
  if (first) {
    for (const auto& one : first->latency.percentiles) {
      const std::string name = lower(one.p.label());
      out += fmt::format(",{0}_ns,{0}_low_ns,{0}_high_ns", name);
    }
  }
  out += ",throughput_per_s,throughput_low_per_s,throughput_high_per_s\n";
  for (const result::SweepPoint& point : document.points) {
    std::string label = label_of(point);
    if (label.find_first_of(",\"\n") != std::string::npos) {
      std::string quoted = "\"";
      for (const char c : label) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
      label = quoted + "\"";
    }
    out += label;
    if (const auto& summary = point.result.summary) {
      out += fmt::format(",{},{}", summary->latency.n, summary->latency.n_eff);
      for (const auto& one : summary->latency.percentiles) {
        out += fmt::format(",{},{},{}", one.value_ns, empty_or(one.ci_low_ns),
                           empty_or(one.ci_high_ns));
      }
      out +=
          fmt::format(",{},{},{}", empty_or(summary->throughput_per_s),
                      empty_or(summary->throughput_ci_low), empty_or(summary->throughput_ci_high));
    }
    out += '\n';
  }
  return out;
}

}  // namespace vivace::report
