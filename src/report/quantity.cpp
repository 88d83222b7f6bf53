// Three significant digits for measures; counts in full while they fit twelve digits.
#include "report/quantity.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace kernelcast::report {

std::string time_text(double seconds) {
  struct Unit {
    double scale;
    const char* name;
  };
  static constexpr std::array<Unit, 4> units{{{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  if (!std::isfinite(seconds)) return "unknown";
  if (seconds >= 1000) return fmt::format("{:.0f} s", seconds);
  for (const Unit& unit : units) {
    // 0.9995 is where three digits round up to the next unit.
    if (std::abs(seconds) >= 0.9995 * unit.scale) return fmt::format("{:.3g} {}", seconds / unit.scale, unit.name);
  }
  return fmt::format("{:.3g} ns", seconds / 1e-9);
}

std::string bytes_text(double bytes) {
  static constexpr std::array<const char*, 5> names{"bytes", "kB", "MB", "GB", "TB"};
  if (bytes < 10000) return fmt::format("{:.6g} bytes", bytes);
  std::size_t i = 0;
  while (bytes >= 999.5 && i + 1 < names.size()) bytes /= 1000, ++i;
  return fmt::format("{:.3g} {}", bytes, names[i]);
}

std::string count_text(double n) {
  if (std::abs(n) < 1e12 && n == std::floor(n)) return fmt::format("{:.0f}", n);
  return fmt::format("{:.4g}", n);
}

std::string percent_text(double share) {
  const double percent = 100 * share;
  return percent >= 99.95 || percent == 0 ? fmt::format("{:.0f} %", percent) : fmt::format("{:.1f} %", percent);
}

std::string dim_text(const Dim3& d) {
  if (d.z != 1) return fmt::format("{} x {} x {}", d.x, d.y, d.z);
  if (d.y != 1) return fmt::format("{} x {}", d.x, d.y);
  return fmt::format("{}", d.x);
}

}  // namespace kernelcast::report
