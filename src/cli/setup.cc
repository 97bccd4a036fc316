#include "cli/setup.h"

#include <fmt/format.h>

#include "cli/version.h"
#include "core/text.h"
#include "core/units.h"
#include "media/source.h"
#include "ops/backend.h"
#include "platform/clock.h"
#include "platform/file.h"
#include "platform/host.h"

namespace vivace::cli {
namespace {

/// The flags whose other values belong to other builds.
Result<void> check_available(const Arguments& arguments) {
  struct Only {
    std::string_view flag;
    std::string_view value;
  };
  for (const Only& only :
       {Only{"backend", "cpu"}, Only{"device", "cpu"}, Only{"precision", "f32"}}) {
    const auto value = arguments.text(only.flag);
    if (value && *value != only.value) {
      return fail(ErrorCode::kUnavailable,
                  {.what = fmt::format("--{} {} is not in this build", only.flag, *value),
                   .expected = std::string(only.value),
                   .got = quote(*value),
                   .advice = fmt::format("leave --{} out", only.flag)});
    }
  }
  return {};
}

/// The folder of --model. Error: kUsage without it.
Result<std::filesystem::path> model_folder(const Arguments& arguments) {
  const auto folder = arguments.text("model");
  if (folder) return std::filesystem::path(*folder);
  return fail(ErrorCode::kUsage,
              {.what = "--model is missing",
               .expected = "a checkpoint folder",
               .got = {},
               .advice = fmt::format("see `vivace {} --help`; `vivace init` writes a stand-in",
                                     arguments.verb().name)});
}

}  // namespace

int thread_count(const Arguments& arguments) {
  if (!arguments.given("threads")) return platform::usable_cpu_count();
  return static_cast<int>(arguments.count("threads"));
}

Result<LoadedEngine> load_engine(const Arguments& arguments, Console& console) {
  VIVACE_CHECK_OK(check_available(arguments));
  VIVACE_TRY(const std::filesystem::path folder, model_folder(arguments));
  pipeline::EngineOptions options;
  options.resolution = arguments.size("resolution");
  options.seed = static_cast<std::uint64_t>(arguments.count("seed"));
  options.limits.pixels_max = arguments.count("max-pixels");
  const std::int64_t start_ns = platform::now_ns();
  LoadedEngine loaded;
  VIVACE_TRY(loaded.engine, pipeline::Engine::load(folder, options));
  loaded.load_ns = platform::now_ns() - start_ns;
  console.note(
      fmt::format("loaded {}: {} parameters, input {}x{}, {} threads, in {}", folder.string(),
                  format_quantity(static_cast<double>(loaded.engine->model().facts().parameters)),
                  loaded.engine->size().height, loaded.engine->size().width,
                  thread_count(arguments), format_duration(static_cast<double>(loaded.load_ns))));
  return loaded;
}

Result<std::vector<pipeline::Input>> collect_inputs(const Arguments& arguments, Console& console) {
  std::vector<std::string> names = arguments.positionals();
  for (const std::string& name : arguments.all("input")) names.push_back(name);
  if (names.empty()) {
    return fail(ErrorCode::kUsage,
                {.what = "there is no input",
                 .expected = "an image, a folder, a glob, @list.txt, - or synthetic",
                 .got = {},
                 .advice = fmt::format("example: {}", arguments.verb().example)});
  }
  VIVACE_TRY(const std::vector<media::Source> sources, media::expand_inputs(names));
  VIVACE_TRY(auto inputs, pipeline::make_inputs(sources));
  console.note(fmt::format("inputs: {}", pipeline::describe_kinds(inputs)));
  return inputs;
}

Result<void> check_output(std::string_view flag, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    const bool exists = std::filesystem::exists(folder, ignored);
    return fail(
        ErrorCode::kCannotCreate,
        {.what = fmt::format("--{} {}: the folder {} {}", flag, quote(path, 400),
                             quote(folder.string(), 400), exists ? "is a file" : "does not exist"),
         .expected = {},
         .got = {},
         .advice = exists ? "choose another place" : "create it first"});
  }
  return platform::check_writable(path);
}

void fill_environment(result::Document& document) {
  char stamp[32];
  document.created = platform::utc_timestamp(stamp);
  document.tool.version = version_number();
  document.tool.build = build_name();
  document.tool.isa = ops::cpu_backend().target();
  const platform::HostFacts host = platform::host_facts();
  document.environment.fingerprint = platform::fingerprint_of(host);
  document.environment.cpu = host.cpu;
  document.environment.cores = host.cores_available;
  document.environment.isa = host.isa;
  document.environment.kernel = host.kernel;
  document.environment.governor = host.governor;
  document.environment.container = host.container;
  document.environment.memory_bytes = static_cast<std::int64_t>(host.memory_bytes);
}

JsonObject effective_flags(const Arguments& arguments) {
  JsonObject flags;
  for (const std::string& name : arguments.verb().flags) {
    const Flag flag = flag_of(arguments.verb(), name);
    if (name == "help") continue;
    Json value;
    if (flag.kind == FlagKind::kSwitch) {
      value = arguments.enabled(name);
    } else if (flag.repeatable) {
      JsonArray all;
      for (const std::string& text : arguments.all(name)) all.emplace_back(text);
      value = std::move(all);
    } else if (name == "threads") {
      value = thread_count(arguments);
    } else if (flag.kind == FlagKind::kCount) {
      value = arguments.count(name);
    } else if (const auto text = arguments.text(name)) {
      value = *text;
    }
    flags.emplace_back(name, std::move(value));
  }
  JsonArray inputs;
  for (const std::string& name : arguments.positionals()) inputs.emplace_back(name);
  flags.emplace_back("inputs", std::move(inputs));
  return flags;
}

}  // namespace vivace::cli
