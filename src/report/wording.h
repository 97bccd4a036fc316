// The words that table and Markdown share, so that the same fact reads the same everywhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/duration_scale.h"
#include "result/document.h"

namespace vivace::report {

/// Labels and texts of the head: model, input, machine, run, timed, not timed, clock. Texts are
/// printable; names are at most `name_width` columns.
std::vector<std::pair<std::string, std::string>> head_facts(const result::Document& document,
                                                            int name_width, bool unicode);

/// Load, first inference, warm-up, samples, throughput, steadiness: what surrounds the percentiles.
std::vector<std::pair<std::string, std::string>> run_facts(const result::Document& document,
                                                           bool unicode);

/// Why a result has no latency: no sample, or samples that are none.
std::string no_latency_text(const result::Document& document);

/// One scale for the percentiles of a block, fine enough to tell values from their bounds.
DurationScale scale_of(const std::vector<result::Percentile>& percentiles, bool unicode);

/// One percentile in words, all in one unit.
struct PercentileText {
  std::string label;     ///< "P99"
  std::string value;     ///< "19.1 ms"
  std::string interval;  ///< "18.7 – 19.6 ms", "18.7 ms – no upper bound (needs 368 samples)"
  std::string ranks;     ///< "483–497", "97–none"
  std::string n_eff;     ///< whole independent samples
};
PercentileText percentile_text(const result::Percentile& percentile, std::int64_t n,
                               const DurationScale& block_scale, bool unicode);

/// "21.0 ms ± 1.84 ms (standard deviation), MAD 0.331 ms".
std::string mean_text(const result::LatencySummary& latency, bool unicode);
/// "19.7 ms to 34.1 ms".
std::string range_text(const result::LatencySummary& latency, bool unicode);

/// "95% intervals, n = 500, n_eff = 480".
std::string basis_text(const result::LatencySummary& latency);

/// A stage's mean with the percentiles beside it; a mean is never shown alone.
struct StageText {
  std::string name;
  std::string share;  ///< "86.2%"
  std::string mean;
  std::vector<std::string> percentiles;  ///< as in stage_columns
};
/// Which percentiles the stages show: P50 and P95, or the first and last that there are.
std::vector<stats::Probability> stage_columns(const result::Summary& summary);
StageText stage_text(const result::StageSummary& stage,
                     const std::vector<stats::Probability>& columns, bool unicode);

/// A verdict, finding or caveat: its id and what it says, and what to try.
struct EntryText {
  std::string statement;  ///< "tail.major_faults: 11 of 11 slow samples had ..."
  std::string advice;     ///< or ""
};
EntryText entry_text(const result::Verdict& verdict, bool unicode);
EntryText entry_text(const result::Finding& finding, bool unicode);
EntryText entry_text(const result::Caveat& caveat, bool unicode);

}  // namespace vivace::report
