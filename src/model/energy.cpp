// Energy = time * busy power. Where the device file has the energy of an instruction, energy beyond idle is that of the
// instructions and bytes (20). Else power is one number for a device, whatever the kernel does. The interval is as wide
// as what is sure: no less than idle power over the shortest time, no more than design power (the limit at which boards
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

/// Idle power over design power in the device files that have a reading: median and least. test/unit/model/energy_test
/// computes both again from the files.
struct IdleShare {
  double median, least;
};
constexpr IdleShare gpu_idle_share{0.097, 0.016}, cpu_idle_share{0.189, 0.122};
constexpr std::array<std::pair<BusyPower, std::string_view>, 2> busy_power_names{
    {{BusyPower::tdp_times, "tdp-times-0.6"}, {BusyPower::tdp_over, "tdp-over-0.6"}}};

}  // namespace

std::string_view name_of(BusyPower reading) { return busy_power_names[static_cast<std::size_t>(reading)].second; }

std::optional<BusyPower> busy_power_named(std::string_view name) {
  for (const auto& [reading, its] : busy_power_names)
    if (its == name) return reading;
  return std::nullopt;
}

IdleWatts idle_watts(const Device& d) {
  if (const auto watts = d.get(Field::system_idle_w)) return {watts, *watts, false, "device file"};
  const auto tdp = d.get(Field::system_tdp_w);
  if (!tdp)
    return {std::nullopt, 0, false,
            "idle power of " + d.name + " is not known; set " + describe::where_to_set(d, "system.idle_w")};
  const IdleShare& share = d.kind == "cpu" ? cpu_idle_share : gpu_idle_share;
  return {
      share.median * *tdp, share.least * *tdp, true,
      describe::number(share.median) + " of the thermal design power, the median of the device files with a reading"};
}

std::optional<double> energy_beyond_idle_j(const Device& d, const Activity& a) {
  const auto each = d.get(Field::energy_instruction_j);
  if (!each) return std::nullopt;
  return a.instructions * *each + a.dram_bytes * d.get_or(Field::energy_dram_byte_j, 0);
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

void put_energy(const Device& d, const Activity& activity, Estimate& e) {
  const IdleWatts idle = idle_watts(d);
  if (!e.time_s.value || !idle.watts) {
    e.energy_j.reason = e.time_s.value ? idle.how : "the time is unknown";
    return;
  }
  BusyWatts busy = busy_watts(d, *idle.watts, BusyPower::tdp_times);
  const bool measured = d.get(Field::system_busy_w).has_value();
  if (const auto beyond = energy_beyond_idle_j(d, activity); beyond && !measured)
    busy = {d.get_or(Field::energy_constant_w, *idle.watts) + *beyond / *e.time_s.value,
            "constant + instructions and DRAM bytes at their energy"};
  if (!busy.watts) {
    e.energy_j.reason = busy.how;
    return;
  }
  e.energy_j = {*e.time_s.value * *busy.watts, ""};
  if (idle.assumed)
    e.assumptions.push_back({"kernelcast: idle power of " + d.name,
                             describe::number(*idle.watts) + " W (" + idle.how + ")",
                             describe::where_to_set(d, "system.idle_w")});
  e.assumptions.push_back({"kernelcast: power of " + d.name + " while the kernel runs" +
                               (d.get(Field::energy_instruction_j) && !measured ? "" : ", whatever it does"),
                           describe::number(*busy.watts) + " W (" + busy.how + ")",
                           describe::where_to_set(d, "system.busy_w")});
  if (!e.interval_lo_s || !e.interval_hi_s) return;
  e.energy_lo_j = *e.interval_lo_s * idle.least;
  e.energy_hi_j = *e.interval_hi_s * std::max(*busy.watts, d.get_or(Field::system_tdp_w, 0));
}

}  // namespace kernelcast
