// What a PTX instruction costs on the hardware.
#pragma once

#include "frontend/ir/assembly.h"

namespace kernelcast::frontend {

/// The operations that ptxas makes of one instruction on sm_`sm`, one count an issued instruction of a lane: a
/// 64-bit addition is two int64_add. `known` is false for opcodes that the table does not have; they count as one
/// `other`. Copies, parameters and operand modifiers cost nothing (see the table in ptx_ops.cpp).
Cost ptx_cost(const AsmInstruction& instruction, int sm);

}  // namespace kernelcast::frontend
