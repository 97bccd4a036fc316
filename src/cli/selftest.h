// Calibrates the instrument on the machine at hand: what its clock and its noise allow to be seen,
// and whether systems of known behaviour come out as they are.
#pragma once

#include <vector>

#include "cli/console.h"
#include "core/error.h"
#include "result/document.h"

namespace vivace::cli {

struct SelftestReport {
  std::vector<result::Verdict> checks;  ///< "pass" or "fail", each with its figures
  bool instrument_sound = true;         ///< the checks that do not depend on the machine
  bool machine_sound = true;            ///< those that do
};

/// Takes half a minute or less. Error: kInterrupted, and those of measuring, which are bugs here.
Result<SelftestReport> run_selftest(std::uint64_t seed, Console& console);

}  // namespace vivace::cli
