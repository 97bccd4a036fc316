// From a command line to something that can be measured: a model of ours with its inputs, or the
// system that --system names; and the part of the result document that is known beforehand.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "cli/console.h"
#include "cli/flags.h"
#include "cli/setup.h"
#include "core/error.h"
#include "core/json.h"
#include "result/document.h"
#include "system/system.h"

namespace vivace::cli {

struct Subject {
  std::unique_ptr<system::System> system;
  result::Document head;  ///< who, on what, with which flags; what measuring adds is still empty
  std::int64_t load_ns = 0;
};

/// Opens subjects; those of one checkpoint at one resolution share its weights, so that a sweep
/// over threads loads a model once.
class SubjectOpener {
 public:
  explicit SubjectOpener(Console& console) : console_(console) {}

  /// Errors: kUsage (neither --model nor --system, or both), and the readers'.
  Result<Subject> open(const Arguments& arguments);

 private:
  Result<Subject> open_model(const Arguments& arguments);
  Result<Subject> open_uri(const Arguments& arguments);

  Console& console_;
  std::map<std::string, LoadedEngine> engines_;
};

/// The flags of `measure` that choose and shape a subject; `compare` takes them too.
std::span<const std::string> subject_flags();

/// Takes the flags out that say nothing to a system other than a model of ours.
void drop_model_flags(JsonObject& configuration);

}  // namespace vivace::cli
