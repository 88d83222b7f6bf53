// A GPU at another clock or under another power limit. Idea: whatever a device file gives in cycles stays as it is;
// what it gives in seconds and bytes a second changes with the clock where it runs on it (the L2), and stays where it
// has a clock of its own (DRAM).
#include <array>
#include <charconv>

#include "device/describe.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast {
namespace {

constexpr const char* asked_for = "asked for";
constexpr double least_hz = 1e7, most_hz = 1e10;
constexpr double least_w = 1, most_w = 5000;

FieldValue& value_of(Device& d, Field f) { return d.values[static_cast<std::size_t>(f)]; }

/// A number and the unit behind it; nothing: neither "", "Hz", "MHz" nor "GHz" follows, or it is out of range.
std::optional<double> hertz(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  constexpr std::array<std::pair<std::string_view, double>, 4> units{{{"", 1}, {"Hz", 1}, {"MHz", 1e6}, {"GHz", 1e9}}};
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const auto& [name, factor] : units)
    if (unit == name && value * factor >= least_hz && value * factor <= most_hz) return value * factor;
  return std::nullopt;
}

void set_clock(double hz, const char* source, Device& d) {
  const auto boost = d.get(Field::clock_boost_clock_hz);
  const double before = boost ? *boost : d.get_or(Field::clock_base_clock_hz, hz);
  scale_clock(hz / before, d);
  for (const Field f : {Field::clock_base_clock_hz, Field::clock_boost_clock_hz, Field::clock_sustained_clock_hz})
    value_of(d, f) = {hz, source, d.file};
  value_of(d, Field::clock_boosts_beyond_rating) = {0, source, d.file};
  value_of(d, Field::energy_tensor_clock_hz) = {std::nullopt, "the clock is given", d.file};  // no limit lowers it
}

bool knows_power(const Device& d) {
  if (!d.get(Field::energy_tensor_clock_hz)) return false;
  for (std::size_t t = 0; t < tensor_type_count; ++t)
    if (const auto field = tensor_energy_field(static_cast<TensorType>(t)); field && d.get(*field)) return true;
  return false;
}

}  // namespace

OperatingPoint operating_point(std::string_view clock, std::string_view power_limit) {
  OperatingPoint point;
  if (clock == "base") {
    point.clock = OperatingPoint::Clock::base;
  } else if (clock == "boost") {
    point.clock = OperatingPoint::Clock::boost;
  } else if (!clock.empty()) {
    const auto hz = hertz(clock);
    if (!hz)
      throw UsageError(KC_SETTING(clock) " " + std::string(clock) +
                       ": expected base, boost or 1e7 to 1e10 Hz, such as 1.41e9, 1410MHz or 1.41GHz");
    point.clock = OperatingPoint::Clock::given;
    point.clock_hz = *hz;
  }
  if (!power_limit.empty()) {
    double watts = 0;
    const auto [end, error] = std::from_chars(power_limit.data(), power_limit.data() + power_limit.size(), watts);
    const std::string_view unit = power_limit.substr(static_cast<std::size_t>(end - power_limit.data()));
    if (error != std::errc{} || !(unit.empty() || unit == "W") || !(watts >= least_w && watts <= most_w))
      throw UsageError(KC_SETTING(power_limit) " " + std::string(power_limit) + ": expected 1 to 5000 W");
    if (point.clock != OperatingPoint::Clock::automatic)
      throw UsageError(KC_SETTING(clock) " and " KC_SETTING(power_limit) " both set the clock: give one of them");
    point.power_limit_w = watts;
  }
  return point;
}

bool is_asked_for(const Device& d, Field f) { return d.values[static_cast<std::size_t>(f)].source == asked_for; }

void scale_clock(double factor, Device& d) {
  for (const Field f : {Field::clock_base_clock_hz, Field::clock_boost_clock_hz, Field::clock_sustained_clock_hz,
                        Field::memory_l2_bandwidth_bytes_per_s})
    if (auto& value = value_of(d, f).value) *value *= factor;
  const auto l2 = d.get(Field::memory_l2_latency_cycles), dram = d.get(Field::memory_dram_latency_cycles);
  if (l2 && dram && *dram > *l2) value_of(d, Field::memory_dram_latency_cycles).value = *l2 + (*dram - *l2) * factor;
}

void run_at(const OperatingPoint& point, Device& d) {
  if (d.kind == "cpu") return;
  switch (point.clock) {
    case OperatingPoint::Clock::automatic:
      break;
    case OperatingPoint::Clock::base:
      set_clock(d.require(Field::clock_base_clock_hz), "asked for: the base clock", d);
      break;
    case OperatingPoint::Clock::boost:
      set_clock(d.require(Field::clock_boost_clock_hz), "asked for: the rated boost clock", d);
      break;
    case OperatingPoint::Clock::given:
      set_clock(point.clock_hz, asked_for, d);
      break;
  }
  if (!point.power_limit_w) return;
  if (!knows_power(d))
    throw UsageError(
        d.name + ": " KC_SETTING(power_limit) " needs to know what work draws; give " KC_SETTING(clock) ", or set " +
        describe::where_to_set(d, "energy.tensor_clock_hz") + " and the energies beside it");
  if (const double idle = d.get_or(Field::system_idle_w, 0); *point.power_limit_w <= idle)
    throw UsageError(d.name + ": " KC_SETTING(power_limit) " " + describe::number(*point.power_limit_w) +
                     " W is no more than it draws when idle, " + describe::number(idle) + " W");
  value_of(d, Field::system_tdp_w) = {*point.power_limit_w, asked_for, d.file};
}

}  // namespace kernelcast
