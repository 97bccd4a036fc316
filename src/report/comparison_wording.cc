#include "report/comparison_wording.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/text.h"
#include "report/duration_scale.h"
#include "report/text_layout.h"
#include "report/wording.h"

namespace vivace::report {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kStagePrefix = "stage.";

/// A factor says more than a percentage from here on.
bool is_factor(double ratio) { return ratio >= 10; }

/// Decimals that tell the ends of an interval apart.
int decimals_for(const result::ComparedQuantity& quantity) {
  if (!quantity.ci_low || !quantity.ci_high) return 1;
  const double width = 100 * (*quantity.ci_high - *quantity.ci_low);
  return width >= 0.5 ? 1 : width >= 0.05 ? 2 : 3;
}

std::string change_text(double ratio, int decimals) {
  if (is_factor(ratio)) return fmt::format("{:.3g} x", ratio);
  std::string text = fmt::format("{:+.{}f}%", 100 * (ratio - 1), decimals);
  // A zero has no sign.
  if (text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return text;
}

/// The name as a sentence has it: "latency", "P99", "decode".
std::string plain_name(const result::ComparedQuantity& quantity, bool unicode) {
  std::string name = quantity.name;
  if (is_stage(quantity)) {
    name.erase(0, kStagePrefix.size());
  } else if (name.size() > 1 && name[0] == 'p' && name[1] >= '0' && name[1] <= '9') {
    name[0] = 'P';
  }
  return shorten_middle(printable(name, unicode), 20, unicode);
}

std::string interval_text(const result::ComparedQuantity& quantity) {
  const int decimals = decimals_for(quantity);
  if (quantity.ci_low && quantity.ci_high) {
    return fmt::format("{} to {}", change_text(*quantity.ci_low, decimals),
                       change_text(*quantity.ci_high, decimals));
  }
  if (quantity.ci_low) return "above " + change_text(*quantity.ci_low, decimals);
  if (quantity.ci_high) return "below " + change_text(*quantity.ci_high, decimals);
  return "none";
}

std::string margin_text(const result::Comparison& comparison) {
  return fmt::format("{:.3g}%", 100 * comparison.margin);
}

/// "5.2% more", "5.2% less", "12.3 times as much".
std::string amount_text(double ratio, int decimals, std::string_view more, std::string_view less,
                        std::string_view times) {
  if (is_factor(ratio)) return fmt::format("{:.3g} times as {}", ratio, times);
  return fmt::format("{:.{}f}% {}", 100 * std::abs(ratio - 1), decimals, ratio >= 1 ? more : less);
}

const result::ComparedQuantity* latency_of(const result::Comparison& comparison) {
  return comparison.quantities.empty() ? nullptr : &comparison.quantities.front();
}

/// The quantity that the whole verdict rests on.
const result::ComparedQuantity* deciding(const result::Comparison& comparison) {
  for (const result::ComparedQuantity& one : comparison.quantities) {
    if (!is_stage(one) && one.verdict == comparison.verdict) return &one;
  }
  return latency_of(comparison);
}

/// The stage whose time changed most among those with the verdict of the whole.
const result::ComparedQuantity* most_changed_stage(const result::Comparison& comparison) {
  const result::ComparedQuantity* most = nullptr;
  const auto change = [](const result::ComparedQuantity& one) {
    return std::abs(static_cast<double>(one.b_ns) - static_cast<double>(one.a_ns));
  };
  for (const result::ComparedQuantity& one : comparison.quantities) {
    if (!is_stage(one) || one.verdict != comparison.verdict) continue;
    if (most == nullptr || change(one) > change(*most)) most = &one;
  }
  return most;
}

std::string next_step(const result::Comparison& comparison) {
  const result::ComparedQuantity* latency = latency_of(comparison);
  if (latency != nullptr && latency->samples_needed) {
    return comparison.paired
               ? fmt::format("take about {0} pairs: --samples {0}", *latency->samples_needed)
               : fmt::format(
                     "measure each again with about --samples {}, or both in turns: "
                     "vivace compare --a ... --b ...",
                     *latency->samples_needed);
  }
  if (!comparison.paired) return "measure both in turns: vivace compare --a ... --b ...";
  return comparison.margin > 0
             ? "a wider --margin, or a quieter machine: more samples alone may not settle it"
             : "say what is too small to matter (--margin 2%): no number of samples proves that "
               "there is no change at all";
}

std::string samples_text(const result::Comparison& comparison) {
  if (comparison.paired) {
    return fmt::format("{} pair{}, taken in turns", comparison.a.n, comparison.a.n == 1 ? "" : "s");
  }
  const auto side = [](std::string_view name, const result::ComparedSide& one) {
    const double worth = std::max(1.0, std::floor(one.latency.n_eff));
    return worth < static_cast<double>(one.n)
               ? fmt::format("{} samples of {} (n_eff {:.0f})", one.n, name, worth)
               : fmt::format("{} samples of {}", one.n, name);
  };
  return fmt::format("{} and {}, unpaired", side("A", comparison.a), side("B", comparison.b));
}

}  // namespace

bool is_stage(const result::ComparedQuantity& quantity) {
  return quantity.name.starts_with(kStagePrefix);
}

ComparedText compared_text(const result::ComparedQuantity& quantity, bool unicode) {
  DurationScale scale(static_cast<double>(std::max(quantity.a_ns, quantity.b_ns)), unicode);
  scale.separate(quantity.a_ns, quantity.b_ns);
  return {.name = plain_name(quantity, unicode),
          .a = scale.text(static_cast<double>(quantity.a_ns)),
          .b = scale.text(static_cast<double>(quantity.b_ns)),
          .change = change_text(quantity.ratio, decimals_for(quantity)),
          .interval = interval_text(quantity),
          .verdict = shorten_middle(printable(quantity.verdict, unicode), 14, unicode)};
}

std::string sentence_of(const result::Comparison& comparison,
                        const result::ComparedQuantity& quantity, bool unicode) {
  const int decimals = decimals_for(quantity);
  const bool is_latency = quantity.name == "latency";
  const std::string name = plain_name(quantity, unicode);
  std::string text;
  if (quantity.verdict == "regressed" || quantity.verdict == "improved") {
    text = is_latency
               ? fmt::format("B takes {} time {} A",
                             amount_text(quantity.ratio, decimals, "more", "less", "much"),
                             is_factor(quantity.ratio) ? "as" : "than")
               : fmt::format("{} is {} in B", name,
                             amount_text(quantity.ratio, decimals, "longer", "shorter", "long"));
  } else if (quantity.verdict == "equivalent") {
    text = is_latency ? "B takes as long as A" : fmt::format("{} is as long in B as in A", name);
    if (comparison.margin > 0) text += fmt::format(", within {}", margin_text(comparison));
  } else {
    text = fmt::format("whether {} differs",
                       is_latency ? std::string("B") : fmt::format("{} in B", name));
    if (comparison.margin > 0) text += fmt::format(" by more than {}", margin_text(comparison));
    text += " from A is open";
  }
  return text + fmt::format(" ({}% interval: {}; margin {})", comparison.confidence.percent_text(),
                            interval_text(quantity), margin_text(comparison));
}

Facts conclusion(const result::Comparison& comparison, bool unicode) {
  Facts facts;
  std::string verdict = printable(comparison.verdict, unicode);
  const result::ComparedQuantity* decider = deciding(comparison);
  if (decider != nullptr) verdict += ": " + sentence_of(comparison, *decider, unicode);
  if (decider != nullptr && decider != latency_of(comparison)) {
    verdict += fmt::format("; the latency as a whole is {}",
                           printable(latency_of(comparison)->verdict, unicode));
  }
  facts.emplace_back("verdict", verdict);
  const bool is_change = comparison.verdict == "regressed" || comparison.verdict == "improved";
  const result::ComparedQuantity* stage = most_changed_stage(comparison);
  if (is_change && stage != nullptr) {
    const ComparedText text = compared_text(*stage, unicode);
    facts.emplace_back("where", fmt::format("of the stages {} changed most, from {} to {}",
                                            text.name, text.a, text.b));
  }
  if (comparison.verdict == "inconclusive") facts.emplace_back("next", next_step(comparison));
  return facts;
}

Facts comparison_facts(const result::Document& document, const result::Comparison& comparison,
                       int name_width, bool unicode) {
  const auto label = [&](const result::ComparedSide& side) {
    return side.label.empty() ? "not named"
                              : shorten_middle(printable(side.label, unicode), name_width, unicode);
  };
  const std::string basis =
      fmt::format("{}; {}% intervals",
                  comparison.margin > 0
                      ? fmt::format("changes within {} count as none", margin_text(comparison))
                      : "every change counts",
                  comparison.confidence.percent_text());
  Facts facts = {{"A", label(comparison.a)},
                 {"B", label(comparison.b)},
                 {"compared", samples_text(comparison) + "; " + basis}};
  for (auto& fact : head_facts(document, name_width, unicode)) facts.push_back(std::move(fact));
  return facts;
}

std::string_view reading_aid() {
  return "A and B are medians and percentiles. The change of a median is the Hodges-Lehmann "
         "estimate, which uses every sample; it need not be B over A.";
}

Facts open_points(const result::Comparison& comparison, bool unicode) {
  Facts facts;
  for (const result::ComparedQuantity& one : comparison.quantities) {
    if (!one.note.empty()) {
      facts.emplace_back(plain_name(one, unicode), printable(one.note, unicode));
    }
  }
  if (!comparison.left_out.empty()) {
    facts.emplace_back("left out", printable(join(comparison.left_out, "; "), unicode));
  }
  return facts;
}

}  // namespace vivace::report
