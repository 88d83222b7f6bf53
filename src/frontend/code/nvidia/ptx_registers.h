// How many registers ptxas will need for a kernel: an estimate without ptxas.
#pragma once

#include <cstdint>
#include <vector>

#include "frontend/code/nvidia/ptx_flow.h"
#include "frontend/code/nvidia/ptx_spills.h"
#include "kernelcast/profile.h"

namespace kernelcast::frontend {

/// Largest number of live 32-bit registers: with the instructions in the order of the text, and with the loads of each
/// block moved up as far as their addresses allow.
struct PtxPressure {
  int in_order = 0, loads_first = 0;  // in_order: or in one that keeps fewer values alive, where there is one
  int text = 0;                       // in the order of the text
  int in_order_block = 0;             // where the largest in_order stands
};
/// `most`: registers that values may have; other orders are sought where more are needed.
PtxPressure ptx_pressure(const AsmFunction& kernel, int sm, int most);

struct PtxRegisters {
  Registers registers;
  std::vector<SpillAccess> spills;             // of each instruction of the kernel; empty: none
  std::vector<SpillAccess> text_order_spills;  // likewise, for Registers::in_text_order
};

/// Registers per thread with the interval that held for nine of ten kernels (docs/lab/registers.md), and what is
/// spilled when the cap binds. `max_threads_per_block` (0: not declared) makes ptxas keep to 65536 / threads registers.
PtxRegisters estimate_ptx_registers(const AsmFunction& kernel, int sm, std::int64_t max_threads_per_block);

/// Loads and stores of spilled registers at each instruction when `registers` are there for values, and the bytes of
/// local memory that a thread then needs. Values on their way back from local memory take registers as other loads do.
/// Blocks run in the order that keeps fewest values alive, or `as_text` in that of the text.
std::vector<SpillAccess> ptx_spills(const AsmFunction& kernel, int sm, int registers, bool as_text, double& bytes);

}  // namespace kernelcast::frontend
