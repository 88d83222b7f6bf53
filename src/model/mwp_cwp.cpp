// Idea: while one warp waits for memory, MWP others can have requests under way, and CWP others could compute. If CWP
// exceeds MWP the memory system is the bottleneck and computation hides behind it; otherwise memory hides behind
// computation; with too few warps neither hides the other.
//
// A warp without memory instructions has no MWP; its time is Comp_cycles * N * #Rep, which is (24) without the leading
// latency. The paper only treats kernels with memory instructions.
#include "model/mwp_cwp.h"

#include <algorithm>
#include <cmath>

namespace kernelcast::mwp_cwp {

MwpCwpCycles forecast(const MwpCwpDevice& m, const Kernel& k) {
  MwpCwpCycles f;
  const double mem_insts = k.coal_mem_insts + k.uncoal_mem_insts, n = k.active_warps;
  f.repetitions = std::max(1.0, k.blocks / (k.active_blocks * k.active_multiprocessors));  // (21)
  f.comp_cycles = m.issue_cycles * (k.comp_insts + mem_insts);                             // (19)
  if (mem_insts <= 0) {
    f.which = MwpCwpCycles::Case::no_memory;
    f.mwp = f.cwp = 1;
    f.exec_cycles = f.comp_cycles * n * f.repetitions;
    return f;
  }
  const double weight_uncoal = k.uncoal_mem_insts / mem_insts, weight_coal = 1 - weight_uncoal;  // (13), (14)
  const double uncoal_l = m.mem_ld_cycles + (k.uncoal_per_mw - 1) * m.departure_del_uncoal;      // (10)
  f.mem_l = uncoal_l * weight_uncoal + m.mem_ld_cycles * weight_coal;                            // (11), (12)
  f.departure_delay = m.departure_del_uncoal * k.uncoal_per_mw * weight_uncoal + m.departure_del_coal * weight_coal;
  f.mwp_without_bw = std::min(f.mem_l / f.departure_delay, n);                                // (16), (17)
  const double bandwidth_per_warp = m.clock_hz * k.load_bytes_per_warp / f.mem_l;             // (3)
  f.mwp_peak_bw = m.bandwidth_bytes_per_s / (bandwidth_per_warp * k.active_multiprocessors);  // (2)
  f.mwp = std::max(1.0, std::min({f.mwp_without_bw, f.mwp_peak_bw, n}));                      // (1)
  f.mem_cycles = uncoal_l * k.uncoal_mem_insts + m.mem_ld_cycles * k.coal_mem_insts;          // (18)
  f.cwp = std::min((f.mem_cycles + f.comp_cycles) / f.comp_cycles, n);                        // (7), (8)
  const double between = f.comp_cycles / mem_insts * (f.mwp - 1);
  if (f.mwp >= n && f.cwp >= n) {
    f.which = MwpCwpCycles::Case::enough_of_neither;
    f.exec_cycles = (f.mem_cycles + f.comp_cycles + between) * f.repetitions;  // (22)
  } else if (f.cwp >= f.mwp || f.comp_cycles > f.mem_cycles) {
    f.which = MwpCwpCycles::Case::memory;
    f.exec_cycles = (f.mem_cycles * n / f.mwp + between) * f.repetitions;  // (23)
  } else {
    f.which = MwpCwpCycles::Case::computation;
    f.exec_cycles = (f.mem_l + f.comp_cycles * n) * f.repetitions;  // (24)
  }
  f.synch_cycles = f.departure_delay * (f.mwp - 1) * k.synch_insts * k.active_blocks * f.repetitions;  // (25)
  return f;
}

}  // namespace kernelcast::mwp_cwp
