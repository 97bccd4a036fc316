// Systems that are named by a URI (--system): what else than a model of ours can be measured.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "system/system.h"

namespace vivace::system {

/// A system and what a result says about it.
struct OpenedSystem {
  std::unique_ptr<System> system;
  std::string kind;                   ///< "synthetic", "exec", "worker"
  std::string name;                   ///< the URI as it was given
  std::vector<std::string> includes;  ///< of the timed region, in words
  std::vector<std::string> excludes;
  std::int64_t load_ns = 0;  ///< from the start of a worker to its first answer; else 0
};

struct OpenOptions {
  std::uint64_t seed = 0;
  std::int64_t batch = 1;
  /// exec: measure the shell's own start as well and take it off each latency.
  bool subtract_startup = false;
};

/// `synthetic:mean=10ms,noise=3%,...`, `exec:COMMAND`, `worker:COMMAND`. Errors: kUsage for another
/// scheme or parameter (the nearest is named), kUnavailable for a command that cannot be started.
Result<OpenedSystem> open_system(std::string_view uri, const OpenOptions& options);

}  // namespace vivace::system
