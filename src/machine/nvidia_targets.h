// What code generation for NVIDIA's targets goes by: one table, so that no code asks for a compute capability.
#pragma once

#include <span>

namespace kernelcast::machine {

struct NvidiaTarget {
  int sm = 0;  // compute capability times ten
  /// Nominal latency of arithmetic: it orders instructions, the device's own is used when stalls are evaluated.
  double alu_cycles = 0;
  /// Instructions that a point where a warp's lanes meet again costs it.
  double reconvergence_instructions = 0;
  double registers_per_unit = 0, registers_per_thread = 0;  // 32 bits; of a thread: what an instruction can name
  /// Registers of a thread up to which ptxas spends them freely: occupancy is full with that many.
  double full_occupancy_registers = 0;
  bool begins_generation = false;   // instructions that older targets lack may be there
  bool funnel_shift = false;        // SHF: a rotation is one instruction
  bool three_inputs = false;        // IADD3, LOP3
  bool wide_multiply_add = false;   // IMAD.WIDE
  bool factor_in_register = false;  // of an address: the size of an element that indices are multiplied by
  bool global_descriptor = false;   // accesses to global memory name a uniform register, which a kernel sets once
  bool loads_constants = false;     // parameters and sizes of the grid are no operands of arithmetic: LDC, ULDC
  bool readable_code = false;       // machine code that src/machine/sass reads
};

/// In ascending order of sm.
std::span<const NvidiaTarget> nvidia_targets();
/// The row of sm_`sm`, or of the newest target before it.
const NvidiaTarget& nvidia_target(int sm);

}  // namespace kernelcast::machine
