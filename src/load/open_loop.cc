#include "load/open_loop.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.h"
#include "core/random.h"

namespace vivace::load {
namespace {

double mean_of(std::span<const std::int64_t> values) {
  double sum = 0;
  for (const std::int64_t value : values) sum += static_cast<double>(value);
  return sum / static_cast<double>(values.size());
}

/// The time average, over the span, of how many requests are in the system, from the moments at
/// which one comes or goes.
double average_in_system(std::span<const OpenRequest> requests, std::int64_t begin_ns,
                         std::int64_t span_ns) {
  std::vector<std::pair<std::int64_t, int>> moments;
  moments.reserve(2 * requests.size());
  for (const OpenRequest& request : requests) {
    moments.emplace_back(request.intended_ns, 1);
    moments.emplace_back(request.end_ns, -1);
  }
  std::sort(moments.begin(), moments.end());
  double area = 0;
  std::int64_t inside = 0;
  std::int64_t last_ns = begin_ns;
  for (const auto& [at_ns, change] : moments) {
    area += static_cast<double>(inside) * static_cast<double>(at_ns - last_ns);
    inside += change;
    last_ns = at_ns;
  }
  return area / static_cast<double>(span_ns);
}

}  // namespace

std::vector<std::int64_t> constant_schedule(std::int64_t count, double rate_hz) {
  VIVACE_CHECK(count >= 0 && rate_hz > 0);
  std::vector<std::int64_t> intended_ns;
  intended_ns.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    intended_ns.push_back(std::llround(static_cast<double>(i) * 1e9 / rate_hz));
  }
  return intended_ns;
}

std::vector<std::int64_t> poisson_schedule(std::int64_t count, double rate_hz, std::uint64_t seed) {
  VIVACE_CHECK(count >= 0 && rate_hz > 0);
  const std::uint64_t key = stream_key(seed, "poisson schedule");
  std::vector<std::int64_t> intended_ns;
  double at_ns = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    intended_ns.push_back(std::llround(at_ns));
    const std::uint64_t bits = random_bits(key, static_cast<std::uint64_t>(i));
    const double uniform = (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
    at_ns -= portable_log(uniform) * 1e9 / rate_hz;
  }
  return intended_ns;
}

Result<std::vector<std::int64_t>> trace_schedule(std::span<const std::int64_t> recorded_ns) {
  if (recorded_ns.empty()) {
    return fail(ErrorCode::kUsage, {.what = "the trace is empty",
                                    .expected = "the time of one request at least",
                                    .got = "none",
                                    .advice = {}});
  }
  std::vector<std::int64_t> intended_ns(recorded_ns.begin(), recorded_ns.end());
  std::sort(intended_ns.begin(), intended_ns.end());
  const std::int64_t first = intended_ns.front();
  for (std::int64_t& at_ns : intended_ns) at_ns -= first;
  return intended_ns;
}

std::vector<OpenRequest> serve_in_order(std::span<const std::int64_t> intended_ns,
                                        std::span<const std::int64_t> service_ns,
                                        std::int64_t servers) {
  VIVACE_CHECK(intended_ns.size() == service_ns.size() && servers >= 1);
  std::vector<std::int64_t> free_ns(static_cast<std::size_t>(servers), INT64_MIN);
  std::vector<OpenRequest> requests;
  for (std::size_t i = 0; i < intended_ns.size(); ++i) {
    const auto server = std::min_element(free_ns.begin(), free_ns.end());
    OpenRequest request;
    request.intended_ns = request.sent_ns = intended_ns[i];
    request.start_ns = std::max(intended_ns[i], *server);
    request.end_ns = request.start_ns + service_ns[i];
    *server = request.end_ns;
    requests.push_back(request);
  }
  return requests;
}

std::int64_t last_send_of_a_waiting_caller_ns(std::span<const std::int64_t> intended_ns,
                                              std::span<const std::int64_t> service_ns) {
  VIVACE_CHECK(!intended_ns.empty() && intended_ns.size() == service_ns.size());
  std::int64_t sent_ns = intended_ns[0];
  for (std::size_t i = 1; i < intended_ns.size(); ++i) {
    const std::int64_t gap_ns = intended_ns[i] - intended_ns[i - 1];
    sent_ns += std::max(gap_ns, service_ns[i - 1]);
  }
  return sent_ns;
}

OpenLoopAccount account(std::span<const OpenRequest> requests, std::int64_t servers) {
  VIVACE_CHECK(!requests.empty() && servers >= 1);
  OpenLoopAccount result;
  std::int64_t first_ns = requests[0].intended_ns;
  std::int64_t last_ns = requests[0].end_ns;
  double busy_ns = 0;
  for (const OpenRequest& request : requests) {
    VIVACE_CHECK(request.intended_ns <= request.start_ns && request.start_ns <= request.end_ns);
    result.response_ns.push_back(request.end_ns - request.intended_ns);
    result.service_ns.push_back(request.end_ns - request.start_ns);
    result.wait_ns.push_back(request.start_ns - request.intended_ns);
    result.lag_ns.push_back(std::max<std::int64_t>(0, request.sent_ns - request.intended_ns));
    first_ns = std::min(first_ns, request.intended_ns);
    last_ns = std::max(last_ns, request.end_ns);
    busy_ns += static_cast<double>(result.service_ns.back());
  }
  result.span_ns = last_ns - first_ns;
  if (result.span_ns == 0) return result;
  const auto span_ns = static_cast<double>(result.span_ns);
  result.arrival_rate_hz = static_cast<double>(requests.size()) * 1e9 / span_ns;
  result.mean_in_system = average_in_system(requests, first_ns, result.span_ns);
  result.utilisation = busy_ns / (span_ns * static_cast<double>(servers));
  const double by_rate = result.arrival_rate_hz * mean_of(result.response_ns) * 1e-9;
  if (by_rate > 0) result.little_difference = std::abs(result.mean_in_system / by_rate - 1);
  return result;
}

}  // namespace vivace::load
