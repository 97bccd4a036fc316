// Where a result document goes: the file of --json, and standard output in the form of --format.
#pragma once

#include "cli/console.h"
#include "cli/flags.h"
#include "core/error.h"
#include "result/document.h"

namespace vivace::cli {

/// Refuses an output that could not be written later, before anything is measured.
Result<void> check_outputs(const Arguments& arguments);

/// Writes and prints the document; the file first, since a closed pipe must not cost the result.
Result<void> deliver(const result::Document& document, const Arguments& arguments,
                     Console& console);

}  // namespace vivace::cli
