// Roofline + LogGP + power, 2017, with the faults of its print as switches (docs/model/offload-2017.md).
// Limits of the model itself, which the corrected equations keep: a peak of clock times units ignores SIMD, fused
// multiply-add and the rate of FP64; all cores are credited to the CPU; a near-tie is given as a decision.
#include <algorithm>

#include "kernelcast/error.h"
#include "kernelcast/offload.h"

namespace kernelcast::offload {

double performance_2017(const Node2017& node, const Workload2017& work, const Faults2017& faults) {
  const double computation_roof = node.clock_hz * node.units;  // (4)
  const double bytes = faults.intensity_by_instruction ? 1 : work.access_bytes;
  const double intensity = work.operations / (work.memory_instructions * bytes);  // (5)
  const double memory_roof = node.bandwidth_bytes_per_s * intensity;
  return faults.larger_roof ? std::max(memory_roof, computation_roof) : std::min(memory_roof, computation_roof);
}

Answer2017 offload_2017(const Node2017& cpu, const Node2017& gpu, const Link& link, const Workload2017& work,
                        const Faults2017& faults) {
  Node2017 host = cpu;
  if (faults.cpu_bandwidth_tenth) host.bandwidth_bytes_per_s /= 10;
  Answer2017 a;
  a.cpu_s = work.operations / performance_2017(host, work, faults);       // (2), (3)
  a.execution_s = work.operations / performance_2017(gpu, work, faults);  // (9)
  a.transfer_s = work.in.empty() || work.out.empty() ? one_way_s(link.to, work.in) + one_way_s(link.from, work.out)
                                                     : both_ways_s(link, work.in, work.out);  // (13) to (16)
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
