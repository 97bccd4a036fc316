// The verbs, one file each.
#pragma once

#include <span>

#include "cli/flags.h"

namespace vivace::cli {

Verb info_verb();
Verb init_verb();
Verb measure_verb();
Verb embed_verb();

}  // namespace vivace::cli
