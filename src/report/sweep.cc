#include "report/sweep.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/text.h"
#include "report/csv.h"
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

/// Items of one request: of the setting, else of the point's configuration, where a text is a
/// flag's value as it was given.
std::int64_t batch_of(const result::SweepPoint& point) {
  for (const JsonObject* object : {&point.setting, &point.result.configuration}) {
    for (const auto& [name, value] : *object) {
      if (name != "batch") continue;
      std::int64_t batch = value.is_integer() ? value.as_integer() : 0;
      if (value.is_string()) {
        const std::string& text = value.as_string();
        std::from_chars(text.data(), text.data() + text.size(), batch);
      }
      if (batch >= 1) return batch;
    }
  }
  return 1;
}

const result::Percentile* percentile_of(const result::Summary& summary,
                                        const stats::Probability& p) {
  const auto& all = summary.latency.percentiles;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.p == p; });
  return found == all.end() ? nullptr : &*found;
}

/// The percentiles of the first point that has any: the columns of all.
std::vector<stats::Probability> percentiles_of(const result::Document& document) {
  std::vector<stats::Probability> found;
  for (const result::SweepPoint& point : document.points) {
    if (!point.result.summary || !found.empty()) continue;
    for (const auto& one : point.result.summary->latency.percentiles) found.push_back(one.p);
  }
  return found;
}

/// P50 and P95, or the first and the last that there are.
std::vector<stats::Probability> columns_of(const result::Document& document) {
  std::vector<stats::Probability> all = percentiles_of(document);
  const stats::Probability p50;
  const stats::Probability p95(95, 100);
  const auto has = [&](const auto& p) { return std::find(all.begin(), all.end(), p) != all.end(); };
  if (has(p50) && has(p95)) return {p50, p95};
  if (all.size() < 2) return all;
  return {all.front(), all.back()};
}

/// The median of a request by its items.
std::optional<double> item_ns(const result::SweepPoint& point) {
  if (!point.result.summary) return std::nullopt;
  const auto* median = percentile_of(*point.result.summary, stats::Probability());
  if (median == nullptr) return std::nullopt;
  return static_cast<double>(median->value_ns) / static_cast<double>(batch_of(point));
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

result::Document sweep_head(const result::Document& document) {
  result::Document head;
  if (document.points.empty()) return head;
  const auto& [setting, first, unknown] = document.points.front();
  head.tool = first.tool;
  head.environment = first.environment;
  head.model = first.model;
  head.input = first.input;
  head.timed_region = first.timed_region;
  head.clock = first.clock;
  for (const auto& flag : first.configuration) {
    const bool swept = std::any_of(setting.begin(), setting.end(),
                                   [&](const auto& one) { return one.first == flag.first; });
    if (!swept) head.configuration.push_back(flag);
  }
  return head;
}

Grid sweep_grid(const result::Document& document, bool unicode) {
  const std::vector<stats::Probability> columns = columns_of(document);
  Grid grid;
  grid.heads = {"setting"};
  for (const stats::Probability& p : columns) grid.heads.push_back(p.label());
  for (const char* head : {"items/s", "per item", "n_eff"}) grid.heads.emplace_back(head);
  for (const result::SweepPoint& point : document.points) {
    std::vector<std::string> row = {printable(label_of(point), unicode)};
    const auto& summary = point.result.summary;
    for (const stats::Probability& p : columns) {
      const auto* one = summary ? percentile_of(*summary, p) : nullptr;
      row.push_back(one == nullptr ? "none" : with_interval(*one, unicode));
    }
    row.push_back(summary ? throughput_text(*summary, unicode) : "none");
    const std::optional<double> each = item_ns(point);
    row.push_back(each ? DurationScale(*each, unicode).text(*each) : "none");
    row.push_back(summary ? fmt::format("{:.0f}", std::max(1.0, std::floor(summary->latency.n_eff)))
                          : "none");
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
  const auto empty_or = [](const auto& value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  const std::vector<stats::Probability> columns = percentiles_of(document);
  std::string out = "setting,n,n_eff";
  for (const stats::Probability& p : columns) {
    out += fmt::format(",{0}_ns,{0}_low_ns,{0}_high_ns", lower(p.label()));
  }
  out += ",item_ns,throughput_per_s,throughput_low_per_s,throughput_high_per_s\n";
  for (const result::SweepPoint& point : document.points) {
    out += csv_field(label_of(point));
    const auto& summary = point.result.summary;
    out += summary ? fmt::format(",{},{}", summary->latency.n, summary->latency.n_eff) : ",,";
    for (const stats::Probability& p : columns) {
      const auto* one = summary ? percentile_of(*summary, p) : nullptr;
      out += one == nullptr ? ",,,"
                            : fmt::format(",{},{},{}", one->value_ns, empty_or(one->ci_low_ns),
                                          empty_or(one->ci_high_ns));
    }
    out += "," + empty_or(item_ns(point));
    out += summary ? fmt::format(",{},{},{}", empty_or(summary->throughput_per_s),
                                 empty_or(summary->throughput_ci_low),
                                 empty_or(summary->throughput_ci_high))
                   : ",,,";
    out += '\n';
  }
  return out;
}

}  // namespace vivace::report
