// Repeats in one process share its memory layout, placement and caches, so their spread understates
// what the next start of the program will show (Kalibera and Jones, "Rigorous benchmarking in
// reasonable time", ISMM 2013). From the medians of several processes: how far apart they lie, and
// how far each may be off by its own sampling.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stats/probability.h"
#include "stats/summary.h"

namespace vivace::stats {

struct ProcessSpread {
  double within_ns2 = 0;        ///< mean of the squared standard errors of the processes' medians
  double between_ns2 = 0;       ///< variance of the medians, over count - 1
  bool over_processes = false;  ///< between exceeds within: an interval has to be over processes
};

/// `medians` holds the estimate of P50 of each process, two at least (checked). A standard error is
/// the width of the median's interval over the normal interval's; a median without an interval has
/// none and is left out of `within`.
ProcessSpread process_spread(std::span<const PercentileEstimate> medians,
                             const Probability& confidence);

/// An interval for a percentile over processes: the signed-rank interval of the logarithms of what
/// each process gave. Nothing below 6 processes (at 95%), or where a value is 0.
struct OverProcesses {
  std::optional<std::int64_t> lower_ns;
  std::optional<std::int64_t> upper_ns;
};
OverProcesses interval_over_processes(std::span<const std::int64_t> values_ns,
                                      const Probability& confidence);

}  // namespace vivace::stats
