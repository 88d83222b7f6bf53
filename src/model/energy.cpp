// Energy = time * busy power. Power is one number for a device, whatever the kernel does, so its interval is as wide as
// what is sure: no less than idle power over the shortest time, no more than design power (the limit at which boards
// throttle) over the longest.
#include "model/models.h"

#include <algorithm>
#include <array>
#include <utility>

#include "device/describe.h"
#include "kernelcast/busy_power.h"

namespace kernelcast {
namespace {

constexpr double share_of_2017 = 0.6;  // (19)
constexpr std::array<std::pair<BusyPower, std::string_view>, 2> busy_power_names{
    {{BusyPower::tdp_times, "tdp-times-0.6"}, {BusyPower::tdp_over, "tdp-over-0.6"}}};

}  // namespace

std::string_view name_of(BusyPower reading) { return busy_power_names[static_cast<std::size_t>(reading)].second; }

std::optional<BusyPower> busy_power_named(std::string_view name) {
  for (const auto& [reading, its] : busy_power_names)
    if (its == name) return reading;
  return std::nullopt;
}

BusyWatts busy_watts(const Device& d, double idle_w, BusyPower reading) {
  if (const auto measured = d.get(Field::system_busy_w)) return {measured, "measured (device file)"};
  const auto tdp = d.get(Field::system_tdp_w);
  if (!tdp)
    return {std::nullopt,
            "thermal design power of " + d.name + " is not known; set " + describe::where_to_set(d, "system.tdp_w")};
  if (const auto share = d.get(Field::system_busy_share_of_tdp))
    return {idle_w + *share * *tdp, "idle + " + describe::number(*share) + " of the thermal design power"};
  return reading == BusyPower::tdp_times
             ? BusyWatts{idle_w + share_of_2017 * *tdp, "idle + 0.6 of the thermal design power"}
             : BusyWatts{idle_w + *tdp / share_of_2017, "idle + the thermal design power / 0.6"};
}

void put_energy(const Device& d, Estimate& e) {
  const auto idle = d.get(Field::system_idle_w);
  if (!e.time_s.value || !idle) {
    e.energy_j.reason =
        e.time_s.value ? "idle power of " + d.name + " is not known; set " + describe::where_to_set(d, "system.idle_w")
                       : "the time is unknown";
    return;
  }
  const BusyWatts busy = busy_watts(d, *idle, BusyPower::tdp_times);
  if (!busy.watts) {
    e.energy_j.reason = busy.how;
    return;
  }
  e.energy_j = {*e.time_s.value * *busy.watts, ""};
  e.assumptions.push_back({"kernelcast: power of " + d.name + " while the kernel runs, whatever it does",
                           describe::number(*busy.watts) + " W (" + busy.how + ")",
                           describe::where_to_set(d, "system.busy_w")});
  if (!e.interval_lo_s || !e.interval_hi_s) return;
  e.energy_lo_j = *e.interval_lo_s * *idle;
  e.energy_hi_j = *e.interval_hi_s * std::max(*busy.watts, d.get_or(Field::system_tdp_w, 0));
}

}  // namespace kernelcast
