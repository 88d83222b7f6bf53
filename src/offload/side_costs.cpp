// Power, energy and cost of one side: what the user gave, the device file, or why there is none.
#include "offload/side_costs.h"

#include <algorithm>
#include <utility>

#include "device/describe.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast::offload {

void merge(std::vector<Assumption>& into, const std::vector<Assumption>& more) {
  for (const Assumption& a : more)
    if (std::find(into.begin(), into.end(), a) == into.end()) into.push_back(a);
}

void set_idle(Side& side, const Given& given, const Device& d, const char* flag) {
  if (given.watts) {
    side.idle_w.value = given.watts;
    side.idle_method = given.how;
    return;
  }
  if (IdleWatts idle = idle_watts(d); idle.watts) {
    side.idle_w.value = idle.watts;
    side.idle_method = std::move(idle.how);
    if (idle.assumed && !given.how.empty()) side.idle_method += "; " + given.how;
    return;
  }
  side.idle_w.reason = "idle power of " + d.name + " is not known: " + (given.how.empty() ? "" : given.how + "; ") +
                       "give " + flag + ", or set " + describe::where_to_set(d, "system.idle_w");
}

void energies(Side& side, const Device& d, const Given& busy, double transfer_s, double execution_s, BusyPower reading,
              const Weights& weights) {
  const BusyWatts by_file = busy_watts(d, side.idle_w.value.value_or(0), reading);
  if (!side.idle_w.value || (!by_file.watts && !busy.watts)) {
    const std::string why = side.idle_w.value ? by_file.how : side.idle_w.reason;
    side.busy_w = side.energy_j = {std::nullopt, why};
    side.cost = weights.energy > 0 ? Maybe{std::nullopt, why} : Maybe{side.time.time_s * weights.time, ""};
    return;
  }
  side.busy_w.value = busy.watts ? *busy.watts : *by_file.watts;
  side.busy_method = busy.watts ? busy.how : by_file.how;
  side.energy_j.value = transfer_s * *side.idle_w.value + execution_s * *side.busy_w.value;
  side.cost.value = cost(weights, transfer_s, *side.idle_w.value, execution_s, *side.busy_w.value);
}

/// Instructions and traffic where the device file has their energy: in place of the share of the design power.
void energy_by_instructions(Side& side, const Device& cpu, const std::vector<KernelTimes>& kernels, double reps,
                            const Weights& weights) {
  const auto each = cpu.get(Field::energy_instruction_j);
  if (!each || !side.idle_w.value) return;
  double uops = 0, dram = 0;
  for (const KernelTimes& k : kernels) {
    uops += k.cpu.uops * reps;
    dram += k.cpu.dram_bytes * reps;
  }
  const double byte = cpu.get_or(Field::energy_dram_byte_j, 0);
  side.busy_w.value =
      busy_power_by_instructions(*side.idle_w.value, uops / side.time.time_s, *each) + dram * byte / side.time.time_s;
  side.busy_method =
      byte > 0 ? "idle + instructions and DRAM bytes at their energy" : "idle + instructions at their energy";
  side.energy_j.value = side.time.time_s * *side.busy_w.value;
  side.cost.value = cost(weights, 0, *side.idle_w.value, side.time.time_s, *side.busy_w.value);
}

BusyWatts busy_by_instructions(const Device& d, const std::vector<KernelTimes>& kernels) {
  if (!d.get(Field::energy_instruction_j) || d.get(Field::system_busy_w)) return {};
  double energy = 0, time = 0;
  for (const KernelTimes& k : kernels) {
    if (!k.gpu.energy_j.value) return {};
    energy += *k.gpu.energy_j.value;
    time += *k.gpu.time_s.value;
  }
  return {energy / time, "constant + instructions and DRAM bytes at their energy"};
}

void check_costs(const OffloadDecision& a, const Weights& weights) {
  for (const Side* side : {&a.cpu, &a.gpu})
    if (!side->cost.value)
      throw UserError(KC_SETTING(weights) " energy=" + describe::number(weights.energy) + ": " + side->cost.reason);
}

}  // namespace kernelcast::offload
