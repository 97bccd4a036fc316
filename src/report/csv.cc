#include "report/csv.h"

#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "core/check.h"
#include "report/sweep.h"

namespace vivace::report {
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string render_csv(const result::Document& document) {
  if (!document.points.empty()) return sweep_csv(document);
  const result::Samples& samples = document.samples;
  std::string out = "index,latency_ns";
  for (const result::StageSamples& stage : samples.stages) {
    VIVACE_CHECK(stage.times_ns.size() == samples.latency_ns.size());
    out += fmt::format(",{}_ns", name_of(stage.stage));
  }
  for (const result::CovariateSamples& covariate : samples.covariates) {
    VIVACE_CHECK(covariate.values.size() == samples.latency_ns.size());
    out += ',' + csv_field(covariate.name);
  }
  out += '\n';
  for (std::size_t i = 0; i < samples.latency_ns.size(); ++i) {
    fmt::format_to(std::back_inserter(out), "{},{}", i, samples.latency_ns[i]);
    for (const result::StageSamples& stage : samples.stages) {
      fmt::format_to(std::back_inserter(out), ",{}", stage.times_ns[i]);
    }
    for (const result::CovariateSamples& covariate : samples.covariates) {
      fmt::format_to(std::back_inserter(out), ",{}", covariate.values[i]);
    }
    out += '\n';
  }
  return out;
}

}  // namespace vivace::report
