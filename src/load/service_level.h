// A service level as it is asked for, "p95<30ms", and what the samples say of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "result/document.h"
#include "stats/probability.h"

namespace vivace::load {

struct ServiceLevel {
  stats::Probability p{95, 100};
  std::int64_t limit_ns = 0;
  std::string text;  ///< as given
};

/// "p95<30ms", "p99.9 <= 1s" (both mean "at most"). Error: kUsage.
Result<ServiceLevel> parse_service_level(std::string_view text);

/// The three-way verdict at a number of samples that was fixed beforehand, on the effective size.
result::Verdict judge(const ServiceLevel& level, std::span<const std::int64_t> latency_ns,
                      const stats::Probability& confidence);

/// The verdict of a test that may be read at any time, for sampling that stopped on it.
result::Verdict judge_at_any_time(const ServiceLevel& level,
                                  std::span<const std::int64_t> latency_ns,
                                  const stats::Probability& confidence);

}  // namespace vivace::load
