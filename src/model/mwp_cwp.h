// MWP-CWP (S. Hong, H. Kim: An Analytical Model for a GPU Architecture with Memory-level and Thread-level Parallelism
// Awareness, ISCA 2009): formulas only, over plain numbers in the units of the paper.
#pragma once

namespace kernelcast::mwp_cwp {

/// What the paper's table of architectures gives.
struct MwpCwpDevice {
  double multiprocessors = 1;
  double clock_hz = 1e9;             // Freq
  double bandwidth_bytes_per_s = 1;  // Mem_Bandwidth
  double mem_ld_cycles = 420;        // Mem_LD: DRAM latency of one transaction
  double departure_del_uncoal = 10;  // cycles between transactions of one uncoalesced request
  double departure_del_coal = 4;     // cycles between coalesced requests
  double issue_cycles = 4;           // #Issue_cycles: of one warp instruction
};

/// Counts of one warp, and of the launch.
struct Kernel {
  double comp_insts = 0, coal_mem_insts = 0, uncoal_mem_insts = 0, synch_insts = 0;  // a warp
  double uncoal_per_mw = 1;          // transactions of one uncoalesced request of a warp
  double load_bytes_per_warp = 128;  // bytes of one memory request of a warp
  double active_warps = 1;           // N: resident on a multiprocessor
  double active_blocks = 1;          // resident on a multiprocessor
  double active_multiprocessors = 1;
  double blocks = 1;
};

/// All intermediate results under the paper's names; numbers are its equations.
struct MwpCwpCycles {
  double mem_l = 0, departure_delay = 0;                // (10)-(15)
  double mwp_without_bw = 0, mwp_peak_bw = 0, mwp = 0;  // (16)-(17), (2)-(4), (1)
  double mem_cycles = 0, comp_cycles = 0, cwp = 0;      // (18)-(19), (5)-(8)
  double repetitions = 0;                               // (21)
  double exec_cycles = 0, synch_cycles = 0;             // (22)-(24), (25)
  enum class Case { enough_of_neither, memory, computation, no_memory } which = Case::memory;
  [[nodiscard]] double total_cycles() const { return exec_cycles + synch_cycles; }
};
MwpCwpCycles forecast(const MwpCwpDevice&, const Kernel&);

}  // namespace kernelcast::mwp_cwp
