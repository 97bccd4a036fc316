
#include <fmt/format.h>

#include "cli/console.h"
#include "cli/flags.h"
#include "cli/setup.h"
#include "cli/verbs.h"
#include "core/text.h"
#include "model/init.h"

namespace vivace::cli {
namespace {

tl::unexpected<Error> missing(std::string_view flag, std::string expected) {
  return fail(ErrorCode::kUsage, {.what = fmt::format("--{} is missing", flag),
                                  .expected = std::move(expected),
                                  .got = {},
                                  .advice = "see `vivace init --help`"});
}

Result<int> run(const Arguments& arguments, Console& console) {
  const auto name = arguments.text("preset");
  std::vector<std::string> names;
  for (const model::Preset& preset : model::presets()) names.emplace_back(preset.name);
  if (!name) return missing("preset", "one of " + join(names, ", "));
  const auto out = arguments.text("out");
  if (!out) return missing("out", "a folder to write to");
  VIVACE_TRY(const model::Preset preset, model::find_preset(*name));
  const auto seed = static_cast<std::uint64_t>(arguments.count("seed"));
  console.note(fmt::format("writing {} with seed {} to {}", preset.name, seed, *out));
  VIVACE_CHECK_OK(model::write_stand_in(
      preset, seed, *out, thread_count(arguments),
      [&](double share) { console.progress("writing", share, -1); },
      [&] { return console.interrupted().load(); }));
  console.end_progress();
  if (!arguments.enabled("quiet")) {
    VIVACE_CHECK_OK(console.print(
        fmt::format("wrote a stand-in for {} to {}: right sizes and speed, no knowledge\n",
                    preset.published_as.empty() ? preset.name : preset.published_as, *out)));
  }
  return 0;
}

}  // namespace

Verb init_verb() {
  return {
      .name = "init",
      .summary = "write a stand-in checkpoint of a named model",
      .description =
          "Writes a checkpoint folder in Hugging Face's layout with the sizes of a published "
          "model and seeded weights: the same bytes on every machine. Its speed, memory and "
          "shapes are the real model's; what it says about a picture means nothing, and results "
          "measured on it are marked.",
      .positional = "",
      .flags = {"preset", "out", "seed", "threads", "quiet", "verbose", "no-progress", "help"},
      .defaults = {},
      .example = "vivace init --preset ijepa-vits16 --seed 0 --out ijepa-vits16",
      .exit_codes = "",
      .run = run};
}

}  // namespace vivace::cli
