// The verbs, one file each, in the order in which help lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/flags.h"

namespace vivace::cli {

Verb info_verb();
Verb init_verb();
Verb measure_verb();
Verb import_verb();
Verb explain_verb();
Verb compare_verb();
Verb selftest_verb();
Verb embed_verb();
Verb completion_verb();
Verb man_verb();

std::span<const Verb> all_verbs();

/// What the shell sources. `shell` is one of completion_shells() (checked).
std::string completion_script(std::span<const Verb> verbs, std::string_view shell);
std::span<const std::string> completion_shells();
/// The manual page vivace(1), in roff.
std::string man_page(std::span<const Verb> verbs, std::string_view version);

}  // namespace vivace::cli
