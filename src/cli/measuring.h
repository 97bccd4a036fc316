// How long to measure and what to ask of the samples, from the flags; and the run of one or several
// subjects to finished documents, which `measure` and `compare` share.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cli/console.h"
#include "cli/flags.h"
#include "cli/subject.h"
#include "core/error.h"
#include "load/measure.h"
#include "load/service_level.h"
#include "result/document.h"
#include "stats/probability.h"

namespace vivace::cli {

struct MeasureOrder {
  load::MeasurePlan plan;
  std::vector<stats::Probability> percentiles;
  stats::Probability confidence{95, 100};
  std::optional<load::ServiceLevel> level;
};

/// Errors, all kUsage: a goal, level or confidence that cannot be read, or a goal without its
/// level.
Result<MeasureOrder> measure_order(const Arguments& arguments);

/// --confidence as the decimal that was written.
Result<stats::Probability> confidence_of(const Arguments& arguments);

/// Measures the subjects side by side (one alone, several interleaved) and completes their
/// documents: samples, summary, verdict on the level, findings. A system whose calls return before
/// their work is done gets no summary: what was measured is no latency.
Result<std::vector<result::Document>> measure_subjects(std::span<Subject> subjects,
                                                       const MeasureOrder& order, Console& console);

}  // namespace vivace::cli
