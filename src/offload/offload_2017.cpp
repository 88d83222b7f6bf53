// Roofline + LogGP + power, 2017, with the faults of its print as switches (docs/model/offload-2017.md).
// Limits of the model itself, which the corrected equations keep: a peak of clock times units ignores SIMD, fused
// multiply-add and the rate of FP64; all cores are credited to the CPU; a near-tie is given as a decision.
#include <algorithm>
#include <array>

#include "io/nearest.h"
#include "kernelcast/error.h"
#include "kernelcast/offload.h"
#include "kernelcast/setting.h"

namespace kernelcast::offload {

std::span<const FaultName2017> fault_names_2017() {
  static constexpr std::array<FaultName2017, 4> names{
      {{"larger-roof", &Faults2017::larger_roof, "the larger of the two roofs (8, 10)"},
       {"intensity-by-instruction", &Faults2017::intensity_by_instruction,
        "operations per memory instruction taken for operations per byte (5)"},
       {"cpu-bandwidth-tenth", &Faults2017::cpu_bandwidth_tenth,
        "a tenth of the CPU's bandwidth (2.56 GB/s for 25.6 in the table of platforms)"},
       {"gap-added", &Faults2017::gap_added,
        "the gap between messages to the GPU added to the overhead, not taken off (14)"}}};
  return names;
}

Faults2017 faults_2017(std::span<const std::string> names) {
  const std::string none = "none", all = "as-printed";
  Faults2017 faults;
  for (const std::string& name : names) {
    if (name == none || name == all) {
      if (names.size() > 1) throw UsageError(KC_SETTING(faults) ": " + name + " stands alone");
      return name == all ? as_printed : Faults2017{};
    }
    std::vector<std::string> known{none, all};
    bool found = false;
    for (const FaultName2017& f : fault_names_2017()) {
      known.emplace_back(f.name);
      if (name != f.name) continue;
      if (faults.*f.fault) throw UsageError(KC_SETTING(faults) ": " + name + " is given twice");
      faults.*f.fault = found = true;
    }
    if (found) continue;
    const std::vector<std::string> near = nearest_names(name, known, 1);
    std::string text = KC_SETTING(faults) ": there is no fault \"" + name + "\"";
    if (!near.empty()) text += "; the nearest is \"" + near.front() + "\"";
    text += ". Faults:";
    for (const std::string& k : known) text += " " + k;
    throw UsageError(text);
  }
  return faults;
}

std::vector<std::string> names_of(const Faults2017& faults) {
  std::vector<std::string> names;
  for (const FaultName2017& f : fault_names_2017())
    if (faults.*f.fault) names.emplace_back(f.name);
  return names;
}

double performance_2017(const Node2017& node, const Workload2017& work, const Faults2017& faults) {
  const double computation_roof = node.clock_hz * node.units;  // (4)
  const double bytes = faults.intensity_by_instruction ? 1 : work.access_bytes;
  const double intensity = work.operations / (work.memory_instructions * bytes);  // (5)
  const double memory_roof = node.bandwidth_bytes_per_s * intensity;
  return faults.larger_roof ? std::max(memory_roof, computation_roof) : std::min(memory_roof, computation_roof);
}

Times2017 offload_2017(const Node2017& cpu, const Node2017& gpu, const Link& link, const Workload2017& work,
                       const Faults2017& faults) {
  Node2017 host = cpu;
  if (faults.cpu_bandwidth_tenth) host.bandwidth_bytes_per_s /= 10;
  Times2017 a;
  a.cpu_performance = performance_2017(host, work, faults);
  a.gpu_performance = performance_2017(gpu, work, faults);
  a.cpu_s = work.operations / a.cpu_performance;        // (2), (3)
  a.execution_s = work.operations / a.gpu_performance;  // (9)
  a.transfer_s = work.in.empty() || work.out.empty() ? one_way_s(link.to, work.in) + one_way_s(link.from, work.out)
                                                     : both_ways_s(link, work.in, work.out);  // (13) to (16)
  if (faults.gap_added && !work.in.empty() && !work.out.empty()) a.transfer_s += 2 * link.to.gap_s;
  return a;
}

Node2017 node_2017(const Device& d) {
  Node2017 n;
  n.clock_hz = d.require(Field::clock_base_clock_hz);
  n.units = d.require(Field::compute_units);
  if (d.kind == "gpu") n.units *= d.require(Field::compute_fp32_lanes_per_unit);
  n.bandwidth_bytes_per_s = d.require(Field::memory_dram_bandwidth_bytes_per_s);
  return n;
}

}  // namespace kernelcast::offload
