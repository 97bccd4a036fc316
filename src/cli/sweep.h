// --sweep FLAG=LIST: one command line for each setting.
#pragma once

#include <string>
#include <vector>

#include "cli/flags.h"
#include "core/error.h"
#include "core/json.h"

namespace vivace::cli {

struct SweepSetting {
  std::string label;   ///< "threads=2 batch=4"
  JsonObject setting;  ///< {"threads": "2", "batch": "4"}
  Arguments arguments;
};

/// All combinations, the last --sweep varying fastest; without --sweep the line itself, without a
/// label. A list is "1,2,4", "8:64:8" (first:last:step), or separated by ";" where its values hold
/// commas. Errors: kUsage for a flag that is no subject's, a value that it does not take, or more
/// than 64 settings.
Result<std::vector<SweepSetting>> sweep_settings(const Arguments& arguments);

}  // namespace vivace::cli
