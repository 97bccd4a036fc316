#include "cli/verbs.h"

#include <vector>

namespace vivace::cli {

std::span<const Verb> all_verbs() {
  static const std::vector<Verb> verbs = {
      info_verb(),    init_verb(),  measure_verb(),  import_verb(),     explain_verb(),
      compare_verb(), embed_verb(), selftest_verb(), completion_verb(), man_verb()};
  return verbs;
}

}  // namespace vivace::cli
