#include "report/wording.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/text.h"
#include "core/units.h"
#include "report/text_layout.h"

namespace vivace::report {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string duration(double ns, bool unicode) { return DurationScale(ns, unicode).text(ns); }

std::string scalar_text(const Json& value, bool unicode) {
  if (value.is_string()) return printable(value.as_string(), unicode);
  if (value.is_integer()) return std::to_string(value.as_integer());
  if (value.is_number()) return fmt::format("{:.4g}", value.as_number());
  if (value.is_bool()) return value.as_bool() ? "yes" : "no";
  return "";
}

std::string joined(const std::vector<std::string>& pieces, bool unicode) {
  if (pieces.empty()) return "nothing";
  return printable(join(pieces, ", "), unicode);
}

std::string model_text(const result::Model& model, int name_width, bool unicode) {
  std::vector<std::string> details;
  if (!model.family.empty()) details.push_back(printable(model.family, unicode));
  if (model.parameters) {
    details.push_back(format_quantity(static_cast<double>(*model.parameters)) + " parameters");
  }
  if (model.flops) {
    const std::string quantity = format_quantity(static_cast<double>(*model.flops));
    details.push_back(quantity + (quantity.find(' ') == std::string::npos ? " FLOP" : "FLOP"));
  }
  if (model.stand_in) details.emplace_back("stand-in weights");
  std::string text = join(details, ", ");
  if (model.name.empty()) return text;
  return shorten_middle(printable(model.name, unicode), name_width, unicode) +
         (text.empty() ? "" : " (" + text + ")");
}

std::string machine_text(const result::Environment& environment, const result::Tool& tool,
                         bool unicode) {
  std::vector<std::string> pieces;
  const auto add = [&](std::string_view before, std::string_view text) {
    if (text.empty() || text == "none" || text == "unknown") return;
    pieces.push_back(std::string(before) + printable(text, unicode));
  };
  add("", environment.cpu);
  if (environment.cores > 0) {
    pieces.push_back(
        fmt::format("{} core{}", environment.cores, environment.cores == 1 ? "" : "s"));
  }
  add("", tool.isa);
  if (environment.memory_bytes > 0) {
    pieces.push_back(format_bytes(static_cast<double>(environment.memory_bytes)));
  }
  add("", scalar_text(environment.device, unicode));
  add("kernel ", environment.kernel);
  add("governor ", environment.governor);
  add("in ", environment.container);
  return pieces.empty() ? "not recorded" : join(pieces, ", ");
}

std::string configuration_text(const JsonObject& configuration, bool unicode) {
  std::vector<std::string> pieces;
  for (const char* key :
       {"system", "backend", "device", "precision", "threads", "batch", "frames", "resolution"}) {
    for (const auto& [name, value] : configuration) {
      const std::string text = name == key ? scalar_text(value, unicode) : "";
      if (!text.empty()) pieces.push_back(fmt::format("{} {}", key, text));
    }
  }
  return join(pieces, ", ");
}

const result::Percentile* percentile_of(const std::vector<result::Percentile>& percentiles,
                                        const stats::Probability& p) {
  const auto found =
      std::find_if(percentiles.begin(), percentiles.end(),
                   [&](const result::Percentile& percentile) { return percentile.p == p; });
  return found == percentiles.end() ? nullptr : &*found;
}

std::string first_inference_text(const result::Document& document, std::int64_t first_ns,
                                 bool unicode) {
  std::string text = duration(static_cast<double>(first_ns), unicode);
  if (!document.summary) return text;
  const auto* median = percentile_of(document.summary->latency.percentiles, stats::Probability());
  if (median == nullptr || median->value_ns <= 0) return text;
  const double ratio = static_cast<double>(first_ns) / static_cast<double>(median->value_ns);
  if (ratio < 0.05) return text;
  return text + fmt::format(", {:.{}f} {} the median", ratio, ratio < 10 ? 1 : 0,
                            unicode ? "\u00d7" : "x");
}

std::string steadiness_text(const result::Steadiness& steadiness, bool unicode) {
  std::string text = printable(steadiness.name, unicode);
  if (!steadiness.change_points.empty()) {
    text += fmt::format(", {} change point{}", steadiness.change_points.size(),
                        steadiness.change_points.size() == 1 ? "" : "s");
  }
  if (steadiness.bimodal && steadiness.lower_mode_ns && steadiness.upper_mode_ns) {
    text += fmt::format(", two modes: {} and {}",
                        duration(static_cast<double>(*steadiness.lower_mode_ns), unicode),
                        duration(static_cast<double>(*steadiness.upper_mode_ns), unicode));
  }
  if (steadiness.outliers > 0) {
    text += fmt::format(", {} outlier{} (kept)", steadiness.outliers,
                        steadiness.outliers == 1 ? "" : "s");
  }
  return text;
}

/// In the unit of its neighbours, unless it is far too large or too small for it.
std::string beside(const DurationScale& scale, std::int64_t ns, bool unicode) {
  const auto value = static_cast<double>(ns);
  return scale.suits_finely(value) ? scale.fine_text(value) : duration(value, unicode);
}

std::string processes_text(const result::Processes& processes, bool unicode) {
  if (processes.medians_ns.empty()) return std::to_string(processes.count);
  const auto [least, most] =
      std::minmax_element(processes.medians_ns.begin(), processes.medians_ns.end());
  return fmt::format(
      "{}, medians {} to {}; standard deviation between them {}, by their own sampling {}",
      processes.count, duration(static_cast<double>(*least), unicode),
      duration(static_cast<double>(*most), unicode),
      duration(std::sqrt(processes.between_ns2), unicode),
      duration(std::sqrt(processes.within_ns2), unicode));
}

std::string throughput_text(double per_s) {
  const bool is_plain = per_s >= 1000 && per_s < 1e9;
  return is_plain ? fmt::format("{:.0f} per second", per_s)
                  : fmt::format("{:.3g} per second", per_s);
}

std::string whole(double value) {
  // What n_eff is worth is counted in whole samples, one at least.
  return fmt::format("{:.0f}", std::max(1.0, std::floor(value)));
}

}  // namespace

Facts head_facts(const result::Document& document, int name_width, bool unicode) {
  Facts facts;
  if (document.model) {
    facts.emplace_back("model", model_text(*document.model, name_width, unicode));
  }
  const result::Input& input = document.input;
  if (!input.name.empty() || !input.kind.empty()) {
    const std::string kind = printable(input.kind, unicode);
    facts.emplace_back("input", input.name.empty() ? kind
                                                   : shorten_middle(printable(input.name, unicode),
                                                                    name_width, unicode) +
                                                         (kind.empty() ? "" : " (" + kind + ")"));
  }
  facts.emplace_back("machine", machine_text(document.environment, document.tool, unicode));
  const std::string configuration = configuration_text(document.configuration, unicode);
  if (!configuration.empty()) facts.emplace_back("run", configuration);
  facts.emplace_back("timed", joined(document.timed_region.includes, unicode));
  facts.emplace_back("not timed", joined(document.timed_region.excludes, unicode));
  if (!document.clock.resolution_ns || !document.clock.cost_ns) return facts;
  std::string clock =
      fmt::format("resolution {}, one reading costs {}",
                  duration(static_cast<double>(*document.clock.resolution_ns), unicode),
                  duration(static_cast<double>(*document.clock.cost_ns), unicode));
  if (document.clock.covariates_cost_ns) {
    clock +=
        fmt::format(", covariates {} a sample (outside)",
                    duration(static_cast<double>(*document.clock.covariates_cost_ns), unicode));
  }
  if (document.clock.surroundings_cost_ns) {
    clock +=
        fmt::format(", surroundings {}",
                    duration(static_cast<double>(*document.clock.surroundings_cost_ns), unicode));
    const std::int64_t every = document.clock.surroundings_every.value_or(1);
    clock += every == 1 ? " between samples" : fmt::format(" every {} samples", every);
  }
  facts.emplace_back("clock", clock);
  return facts;
}

std::string no_latency_text(const result::Document& document) {
  for (const result::Caveat& caveat : document.caveats) {
    if (caveat.id == "async_system") {
      return "no latency is given: calls return before their work is done";
    }
  }
  return "no sample was taken, so there is nothing to say about latency";
}

Facts run_facts(const result::Document& document, bool unicode) {
  Facts facts;
  const result::Phases& phases = document.phases;
  if (phases.cold_start.load_ns) {
    facts.emplace_back("load", duration(static_cast<double>(*phases.cold_start.load_ns), unicode));
  }
  if (phases.cold_start.first_inference_ns) {
    facts.emplace_back(
        "first inference",
        first_inference_text(document, *phases.cold_start.first_inference_ns, unicode));
  }
  const std::string method = printable(phases.warm_up.method, unicode);
  facts.emplace_back("warm-up", fmt::format("{} run{} discarded{}", phases.warm_up.discarded,
                                            phases.warm_up.discarded == 1 ? "" : "s",
                                            method.empty() ? "" : " (" + method + ")"));
  const std::string reason = printable(phases.sampling.stop_reason, unicode);
  facts.emplace_back("samples", fmt::format("{}{}", phases.sampling.count,
                                            reason.empty() ? "" : ", stopped: " + reason));
  if (!document.summary) return facts;
  if (document.summary->throughput_per_s) {
    std::string text = throughput_text(*document.summary->throughput_per_s);
    const auto& low = document.summary->throughput_ci_low;
    const auto& high = document.summary->throughput_ci_high;
    if (low && high) text += fmt::format(" ({:.4g} to {:.4g})", *low, *high);
    facts.emplace_back("throughput", text);
  }
  if (document.processes)
    facts.emplace_back("processes", processes_text(*document.processes, unicode));
  if (document.summary->steadiness) {
    facts.emplace_back("steadiness", steadiness_text(*document.summary->steadiness, unicode));
  }
  return facts;
}

DurationScale scale_of(const std::vector<result::Percentile>& percentiles, bool unicode) {
  if (percentiles.empty()) return DurationScale(0, unicode);
  DurationScale scale(static_cast<double>(percentiles.front().value_ns), unicode);
  for (const result::Percentile& one : percentiles) {
    if (one.ci_low_ns) scale.separate(one.value_ns, *one.ci_low_ns);
    if (one.ci_high_ns) scale.separate(one.value_ns, *one.ci_high_ns);
  }
  return scale;
}

PercentileText percentile_text(const result::Percentile& percentile, std::int64_t n,
                               const DurationScale& block_scale, bool unicode) {
  const auto value = static_cast<double>(percentile.value_ns);
  const DurationScale scale =
      block_scale.suits(value) ? block_scale : DurationScale(value, unicode);
  const std::string_view dash = unicode ? "\u2013" : "-";
  // Scaled for dependence the need is an estimate.
  const bool dependent = percentile.n_eff < static_cast<double>(n);
  const std::string need =
      fmt::format("(needs {}{} samples)", dependent ? "~" : "", percentile.samples_needed);
  const auto bound = [&](const std::optional<std::int64_t>& ns) {
    return ns ? scale.text(static_cast<double>(*ns)) : "";
  };

  PercentileText text;
  text.label = percentile.p.label();
  text.value = scale.text(value);
  text.n_eff = whole(percentile.n_eff);
  if (percentile.ci_low_ns && percentile.ci_high_ns) {
    text.interval =
        fmt::format("{} {} {}", scale.number(static_cast<double>(*percentile.ci_low_ns)), dash,
                    bound(percentile.ci_high_ns));
  } else if (percentile.ci_low_ns) {
    text.interval = fmt::format("{} {} no upper bound {}", bound(percentile.ci_low_ns), dash, need);
  } else if (percentile.ci_high_ns) {
    text.interval =
        fmt::format("no lower bound {} {} {}", dash, bound(percentile.ci_high_ns), need);
  } else {
    text.interval = "no bounds " + need;
  }
  const auto rank = [](const std::optional<std::int64_t>& value_or_none) {
    return value_or_none ? std::to_string(*value_or_none) : "none";
  };
  text.ranks =
      percentile.rank_low || percentile.rank_high
          ? fmt::format("{}{}{}", rank(percentile.rank_low), dash, rank(percentile.rank_high))
          : "none";
  return text;
}

std::string mean_text(const result::LatencySummary& latency, bool unicode) {
  const DurationScale scale(static_cast<double>(latency.mean_ns), unicode);
  const std::string spread =
      latency.standard_deviation_ns
          ? fmt::format("{} {} (standard deviation)", unicode ? "\u00b1" : "+/-",
                        beside(scale, *latency.standard_deviation_ns, unicode))
          : "(one sample has no standard deviation)";
  return fmt::format("{} {}, MAD {}", beside(scale, latency.mean_ns, unicode), spread,
                     beside(scale, latency.mad_ns, unicode));
}

std::string range_text(const result::LatencySummary& latency, bool unicode) {
  const DurationScale scale(static_cast<double>(latency.mean_ns), unicode);
  return fmt::format("{} to {}", beside(scale, latency.min_ns, unicode),
                     beside(scale, latency.max_ns, unicode));
}

std::string basis_text(const result::LatencySummary& latency) {
  const std::string confidence =
      latency.percentiles.empty()
          ? ""
          : latency.percentiles.front().confidence.percent_text() + "% intervals, ";
  return fmt::format("{}n = {}, n_eff = {}", confidence, latency.n, whole(latency.n_eff));
}

std::vector<stats::Probability> stage_columns(const result::Summary& summary) {
  if (summary.stages.empty() || summary.stages.front().percentiles.empty()) return {};
  const auto& percentiles = summary.stages.front().percentiles;
  const stats::Probability p50;
  const stats::Probability p95(95, 100);
  if (percentile_of(percentiles, p50) != nullptr && percentile_of(percentiles, p95) != nullptr) {
    return {p50, p95};
  }
  if (percentiles.size() == 1) return {percentiles.front().p};
  return {percentiles.front().p, percentiles.back().p};
}

StageText stage_text(const result::StageSummary& stage,
                     const std::vector<stats::Probability>& columns, bool unicode) {
  const DurationScale scale(static_cast<double>(stage.mean_ns), unicode);
  const auto in_scale = [&](std::int64_t ns) {
    const auto value = static_cast<double>(ns);
    return scale.suits(value) ? scale.text(value) : duration(value, unicode);
  };
  StageText text;
  text.name = name_of(stage.stage);
  text.share = fmt::format("{:.1f}%", 100 * stage.share);
  for (const stats::Probability& p : columns) {
    const auto* percentile = percentile_of(stage.percentiles, p);
    text.percentiles.push_back(percentile == nullptr ? "?" : in_scale(percentile->value_ns));
  }
  // Without a percentile beside it a mean says nothing.
  text.mean = columns.empty() ? "?" : in_scale(stage.mean_ns);
  return text;
}

EntryText entry_text(const result::Verdict& verdict, bool unicode) {
  std::string statement = verdict.id;
  if (!verdict.target.empty()) statement += " " + verdict.target;
  statement += ": " + verdict.verdict;
  if (!verdict.message.empty()) statement += ", " + verdict.message;
  return {printable(statement, unicode), printable(verdict.advice, unicode)};
}

EntryText entry_text(const result::Finding& finding, bool unicode) {
  return {printable(finding.id + ": " + finding.message, unicode),
          printable(finding.advice, unicode)};
}

EntryText entry_text(const result::Caveat& caveat, bool unicode) {
  return {printable(caveat.id + ": " + caveat.message, unicode), printable(caveat.advice, unicode)};
}

}  // namespace vivace::report
