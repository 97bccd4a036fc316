#include "platform/clock.h"

#include <algorithm>
#include <array>

namespace vivace::platform {

ClockFacts calibrate_clock() {
  constexpr int kBatch = 100;
  std::array<std::int64_t, 101> batch_ns;
  std::int64_t resolution_ns = 0;
  for (std::int64_t& elapsed : batch_ns) {
    const std::int64_t start = now_ns();
    std::int64_t last = start;
    for (int i = 0; i < kBatch; ++i) {
      const std::int64_t now = now_ns();
      const std::int64_t step = now - last;
      if (step > 0 && (resolution_ns == 0 || step < resolution_ns)) resolution_ns = step;
      last = now;
    }
    elapsed = last - start;
  }
  // The median of the batches: an interruption lengthens a few of them by far.
  std::nth_element(batch_ns.begin(), batch_ns.begin() + batch_ns.size() / 2, batch_ns.end());
  return {resolution_ns, batch_ns[batch_ns.size() / 2] / kBatch};
}

const char* utc_timestamp(char (&buffer)[32]) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return buffer;
}

}  // namespace vivace::platform
