#include "system/open.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/text.h"
#include "core/units.h"
#include "platform/clock.h"
#include "system/exec_system.h"
#include "system/synthetic_system.h"
#include "system/worker_system.h"

namespace vivace::system {
namespace {

tl::unexpected<Error> no_batch(std::int64_t batch) {
  return fail(ErrorCode::kUsage, {.what = "a command takes no --batch",
                                  .expected = "a batch of 1",
                                  .got = std::to_string(batch),
                                  .advice = "use a worker, which is told of it"});
}

Result<OpenedSystem> open_synthetic(std::string_view rest, const OpenOptions& options,
                                    OpenedSystem opened) {
  VIVACE_TRY(SyntheticSpec spec, parse_synthetic(rest));
  opened.kind = "synthetic";
  opened.includes = {"a made-up time"};
  opened.system = std::make_unique<SyntheticSystem>(std::move(spec), options.seed, options.batch);
  return opened;
}

Result<OpenedSystem> open_exec(std::string_view rest, const OpenOptions& options,
                               OpenedSystem opened) {
  if (options.batch != 1) return no_batch(options.batch);
  opened.kind = "exec";
  opened.includes = {"the start of a shell and of the command", "the command until its end"};
  opened.system = std::make_unique<ExecSystem>(std::string(rest), options.subtract_startup);
  if (options.subtract_startup) {
    VIVACE_CHECK_OK(opened.system->prepare());  // the first estimate, for the facts
    const auto startup_ns = static_cast<double>(opened.system->untimed_ns());
    opened.includes = {"the command until its end"};
    opened.excludes = {fmt::format(
        "the start of the shell ({} taken off: the median of empty commands, estimated anew "
        "before each run)",
        format_duration(startup_ns))};
  }
  return opened;
}

Result<OpenedSystem> open_worker(std::string_view rest, const OpenOptions& options,
                                 OpenedSystem opened) {
  opened.kind = "worker";
  const std::int64_t start_ns = platform::now_ns();
  VIVACE_TRY(auto worker, WorkerSystem::start(std::string(rest), options.batch));
  opened.load_ns = platform::now_ns() - start_ns;
  if (!worker->hello().name.empty()) opened.name += " (" + worker->hello().name + ")";
  opened.includes = {"the worker's run",
                     fmt::format("a round trip through its pipe ({})",
                                 format_duration(static_cast<double>(worker->round_trip_ns())))};
  opened.excludes = {"the worker's prepare and finish"};
  opened.system = std::move(worker);
  return opened;
}

}  // namespace

Result<OpenedSystem> open_system(std::string_view uri, const OpenOptions& options) {
  static const std::vector<std::string> kSchemes = {"synthetic", "exec", "worker"};
  const auto colon = uri.find(':');
  const std::string scheme(uri.substr(0, colon));
  const std::string_view rest = colon == std::string_view::npos ? "" : uri.substr(colon + 1);
  OpenedSystem opened;
  opened.name = uri;
  if (options.subtract_startup && scheme != "exec") {
    return fail(ErrorCode::kUsage, {.what = "--subtract-startup is for exec:COMMAND",
                                    .expected = {},
                                    .got = quote(uri),
                                    .advice = "leave it out"});
  }
  if (scheme == "synthetic") return open_synthetic(rest, options, std::move(opened));
  if (scheme == "http" || scheme == "https") {
    return fail(ErrorCode::kUnavailable,
                {.what = "this version measures no endpoints yet",
                 .expected = "synthetic:..., exec:COMMAND or worker:COMMAND",
                 .got = quote(uri),
                 .advice = "wrap a client in a worker (docs/systems.md)"});
  }
  const std::string near = nearest_name(scheme, kSchemes);
  if ((scheme != "exec" && scheme != "worker") || colon == std::string_view::npos) {
    return fail(ErrorCode::kUsage,
                {.what = "not a system",
                 .expected = "synthetic:..., exec:COMMAND or worker:COMMAND",
                 .got = quote(uri),
                 .advice = near.empty() ? std::string() : fmt::format("did you mean {}:?", near)});
  }
  if (rest.find_first_not_of(" \t") == std::string_view::npos) {
    return fail(ErrorCode::kUsage, {.what = scheme + ": names no command",
                                    .expected = scheme + ":COMMAND",
                                    .got = quote(uri),
                                    .advice = {}});
  }
  return scheme == "exec" ? open_exec(rest, options, std::move(opened))
                          : open_worker(rest, options, std::move(opened));
}

}  // namespace vivace::system
