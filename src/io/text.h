// Numbers for people: three significant digits and an SI prefix. Inside, everything is in plain SI units.
#pragma once

#include <string>
#include <string_view>

namespace kernelcast {

/// Up to the first line feed.
std::string first_line(const std::string& text);
/// "12.3 ms", "4.19 us", "1.5 h" (minutes and hours from 60 s and 60 min on).
std::string format_seconds(double seconds);
/// "512 B", "4.19 GB" (powers of 1000).
std::string format_bytes(double bytes);
/// "141.7 GB/s": four digits, as data sheets give bandwidths.
std::string format_bandwidth(double bytes_per_second);
/// "1.3 GHz".
std::string format_hertz(double hertz);
/// Whole numbers below a million in full with a comma every three digits ("65,536"), others as "4.19 M", "2.15 G".
std::string format_count(double count);
/// The noun for so many: "block" for 1, "blocks" for 0, 1.5 and 2.
std::string plural(double count, std::string_view noun);
/// "1 block", "16 blocks", "65,536 blocks": format_count and plural.
std::string format_count_of(double count, std::string_view noun);
/// "75.3 %" of a fraction.
std::string format_percent(double fraction);
/// `value` to `digits` significant digits with an SI prefix before `unit`: (0.0123, "s", 3) -> "12.3 ms". Zero has no
/// prefix; what is beyond the prefixes is written as "1e-21 s"; not-a-number and infinities give "unknown" and "inf".
std::string format_si(double value, const char* unit, int digits);

}  // namespace kernelcast
