// What the verbs that run a model have in common: flags to an engine and its inputs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "cli/flags.h"
#include "core/error.h"
#include "core/json.h"
#include "pipeline/engine.h"
#include "pipeline/input.h"
#include "result/document.h"

namespace vivace::cli {

/// --threads, or as many CPUs as this process may use.
int thread_count(const Arguments& arguments);

struct LoadedEngine {
  std::shared_ptr<const pipeline::Engine> engine;
  std::int64_t load_ns = 0;  ///< from the folder to packed weights
};

/// Loads the engine of --model, --resolution, --seed, --max-pixels. Errors: kUnavailable for a
/// --backend, --device or --precision that this build has not, and the loader's.
Result<LoadedEngine> load_engine(const Arguments& arguments, Console& console);

/// The positional inputs and those of --input. Error: kUsage without any, and the readers'.
Result<std::vector<pipeline::Input>> collect_inputs(const Arguments& arguments, Console& console);

/// Refuses a --FLAG that names a file which could not be written later. Error: kCannotCreate,
/// saying whether its folder is missing.
Result<void> check_output(std::string_view flag, const std::string& path);

/// Who measures on what machine, and when: created, tool, environment.
void fill_environment(result::Document& document);

/// Every flag of the verb with the value that took effect, in the order of the verb's list.
JsonObject effective_flags(const Arguments& arguments);

}  // namespace vivace::cli
