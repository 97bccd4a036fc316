// What the readers of single formats share; only the import itself includes it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "result/document.h"
#include "result/import.h"

namespace vivace::result {

/// What a reader found.
struct Imported {
  Samples samples;
  std::string created;
  std::string cpu;
  TimedRegion timed_region;
  std::int64_t warm_up_discarded = 0;
  JsonObject configuration;  ///< beside the format and the file
  std::vector<Caveat> caveats;
};

/// Nanoseconds in one "ns", "us", "ms" or "s" (and their long names); none for other words.
std::optional<double> unit_ns(std::string_view unit);

/// To whole nanoseconds. Error: kBadData, naming `place`, for what is negative, not finite or
/// beyond 64 bits.
Result<std::int64_t> duration_ns(double value, double unit_in_ns, const std::string& place);

/// The place of the run that is wanted among those named; the only one where none is. Errors:
/// kUsage, listing the names; kBadData when there are none.
Result<std::size_t> choose(std::span<const std::string> names, std::string_view wanted,
                           std::string_view noun);

/// Orders the samples by their start, counted from the first.
void sort_by_start(Samples& samples);

Caveat caveat(std::string id, std::string message, std::string advice);
/// Says how many requests have no latency and are left out; nothing for none.
void add_failed_caveat(std::int64_t failed, std::vector<Caveat>& caveats);

Result<Imported> import_hyperfine(const Json& json, const ImportOptions& options);
Result<Imported> import_pytest_benchmark(const Json& json, const ImportOptions& options);
Result<Imported> import_trtexec(const Json& json, const ImportOptions& options);
Result<Imported> import_perf_analyzer(const Json& json, const ImportOptions& options);
Result<Imported> import_aiperf(std::string_view text, const ImportOptions& options);
Result<Imported> import_csv(std::string_view text, const ImportOptions& options);

}  // namespace vivace::result
