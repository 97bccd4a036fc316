// Values with units, as the command line and the tables write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace vivace {

/// "30ms", "1.5 s", "250us", "2m", "1h" -> nanoseconds. A number without a unit is refused.
Result<std::int64_t> parse_duration_ns(std::string_view text);
/// "64MiB", "2GB", "512" (bytes) -> bytes. KiB is 1024, kB is 1000.
Result<std::int64_t> parse_bytes(std::string_view text);
/// "500", "4k", "1.5M" -> a whole number in [minimum, maximum].
Result<std::int64_t> parse_count(std::string_view text, std::int64_t minimum, std::int64_t maximum);
/// "2%", "0.5 %" or "0.02" -> 0.02, in [0, 1]. Error: kUsage.
Result<double> parse_share(std::string_view text);
struct Size2 {
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool operator==(const Size2&) const = default;
};
/// "224x320" is height x width; "224" is square.
Result<Size2> parse_size(std::string_view text);

/// Three significant digits with a unit that fits: "12.5 ms", "830 ns", "1.25 s".
std::string format_duration(double nanoseconds);
/// "22.1 MB", "4.05 GB" (powers of 1000).
std::string format_bytes(double bytes);
/// "9.2 G", "22.0 M" (powers of 1000); the caller adds the noun.
std::string format_quantity(double value);

}  // namespace vivace
