// The open loop: requests come when they were meant to come, whether or not the ones before are
// done, and a latency is counted from the moment a request was *meant* to be sent. A caller that
// waits for each reply stops sending while the server stalls, and so asks it least when it is worst
// ("coordinated omission", Tene 2015): the stall of a second then shows in one sample of hundreds.
//
// This header has the schedules and the accounting; whoever sends the requests reports when each
// was sent and done.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/error.h"

namespace vivace::load {

/// `count` intended send times from 0, `rate_hz` > 0 (checked): evenly spaced.
std::vector<std::int64_t> constant_schedule(std::int64_t count, double rate_hz);
/// The same with exponential gaps: independent users. The same seed gives the same schedule.
std::vector<std::int64_t> poisson_schedule(std::int64_t count, double rate_hz, std::uint64_t seed);
/// Recorded send times: from any start, in any order; they are sorted and begin at 0. Error: kUsage
/// for none.
Result<std::vector<std::int64_t>> trace_schedule(std::span<const std::int64_t> recorded_ns);

/// One request, on one clock.
struct OpenRequest {
  std::int64_t intended_ns = 0;  ///< when it should have been sent
  std::int64_t sent_ns = 0;      ///< when the generator did send it
  std::int64_t start_ns = 0;     ///< when the server began with it
  std::int64_t end_ns = 0;       ///< when the answer was there
};

/// What FIFO service by `servers` makes of a schedule: each request goes to the server that is free
/// first. `service_ns` has one time per request (checked).
std::vector<OpenRequest> serve_in_order(std::span<const std::int64_t> intended_ns,
                                        std::span<const std::int64_t> service_ns,
                                        std::int64_t servers);

/// When a caller that waits for each reply, and then keeps the schedule's gaps, sends its last
/// request. The samples that it would report are the service times.
std::int64_t last_send_of_a_waiting_caller_ns(std::span<const std::int64_t> intended_ns,
                                              std::span<const std::int64_t> service_ns);

struct OpenLoopAccount {
  std::vector<std::int64_t> response_ns;  ///< end - intended: what a user waits
  std::vector<std::int64_t> service_ns;   ///< end - start: what the server takes
  std::vector<std::int64_t> wait_ns;      ///< start - intended
  std::vector<std::int64_t> lag_ns;       ///< sent - intended: the generator's own lateness
  std::int64_t span_ns = 0;               ///< first intended to last end
  double arrival_rate_hz = 0;             ///< requests over the span
  double mean_in_system = 0;              ///< time average of requests sent and not ended
  double utilisation = 0;                 ///< busy share of the servers
  /// mean_in_system against arrival_rate_hz times the mean response (Little 1961): relative
  /// difference. Beyond 5% the bookkeeping is wrong.
  double little_difference = 0;
};

/// At least one request, each with intended <= start <= end (checked).
OpenLoopAccount account(std::span<const OpenRequest> requests, std::int64_t servers);

}  // namespace vivace::load
