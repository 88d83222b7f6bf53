// Rounding happens first and the prefix is chosen for the rounded value, so 999.96 us becomes 1 ms and never 1000 us.
#include "io/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace kernelcast {
namespace {

// No trailing zeros after the point, and no exponent. "12.30" -> "12.3"
std::string trimmed(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

double round_significant(double value, int digits) { return std::stod(fmt::format("{:.{}e}", value, digits - 1)); }

}  // namespace

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string format_si(double value, const char* unit, int digits) {
  static constexpr std::array<const char*, 13> prefixes = {"a", "f", "p", "n", "u", "m", "",
                                                           "k", "M", "G", "T", "P", "E"};
  static constexpr int plain = 6;
  const std::string tail = *unit == '\0' ? std::string() : fmt::format(" {}", unit);
  if (std::isnan(value)) return "unknown";
  if (std::isinf(value)) return fmt::format("{}{}", value < 0 ? "-inf" : "inf", tail);
  if (value == 0) return "0" + tail;
  if (std::abs(value) < 1e-18 || std::abs(value) >= 9.99e20) return fmt::format("{:.{}g}{}", value, digits, tail);
  const double rounded = round_significant(value, digits);
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(rounded)) + 1e-12));
  const int step = static_cast<int>(std::floor(exponent / 3.0));
  const double scaled = rounded / std::pow(10.0, 3 * step);
  const int decimals = std::max(0, digits - 1 - (exponent - 3 * step));
  const std::string prefix = prefixes[static_cast<std::size_t>(step + plain)];
  if (*unit == '\0' && prefix.empty()) return trimmed(scaled, decimals);
  return fmt::format("{} {}{}", trimmed(scaled, decimals), prefix, unit);
}

std::string format_seconds(double seconds) {
  if (std::isfinite(seconds) && std::abs(seconds) >= 3600)
    return trimmed(round_significant(seconds / 3600, 3), 2) + " h";
  if (std::isfinite(seconds) && std::abs(seconds) >= 60) return trimmed(round_significant(seconds / 60, 3), 2) + " min";
  return format_si(seconds, "s", 3);
}

std::string format_bytes(double bytes) { return format_si(bytes, "B", 3); }
std::string format_bandwidth(double bytes_per_second) { return format_si(bytes_per_second, "B/s", 4); }
std::string format_hertz(double hertz) { return format_si(hertz, "Hz", 3); }

std::string plural(double count, std::string_view noun) { return std::string(noun) + (count == 1 ? "" : "s"); }

std::string format_count_of(double count, std::string_view noun) {
  return format_count(count) + " " + plural(count, noun);
}

std::string format_count(double count) {
  if (!std::isfinite(count) || std::abs(count) >= 1e6 || count != std::floor(count)) return format_si(count, "", 3);
  std::string digits = fmt::format("{}", static_cast<std::int64_t>(std::abs(count)));
  for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3) {
    digits.insert(static_cast<std::size_t>(i), ",");
  }
  if (count < 0) digits.insert(digits.begin(), '-');
  return digits;
}

std::string format_percent(double fraction) {
  if (std::isnan(fraction)) return "unknown";
  return trimmed(fraction * 100, 1) + " %";
}

}  // namespace kernelcast
