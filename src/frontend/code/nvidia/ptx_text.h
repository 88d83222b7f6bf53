// PTX text: the body of one kernel as blocks and instructions, and what an instruction costs on the hardware.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/ir/assembly.h"

namespace kernelcast::frontend {

struct PtxKernel {
  AsmFunction code;
  std::int64_t shared_bytes = 0;  // static .shared variables of the kernel and of the module
  std::int64_t stack_bytes = 0;   // .local variables of the kernel
};

/// Parses the `.entry` named `symbol`. The result views `text`, which must outlive it. Throws InternalError when the
/// text has no such entry or ends inside of it.
PtxKernel parse_ptx(std::string_view text, std::string_view symbol);

/// The operations that ptxas makes of one instruction on sm_`sm`, one count an issued instruction of a lane: a
/// 64-bit addition is two int64_add. `known` is false for opcodes that the table does not have; they count as one
/// `other`. Copies, parameters and operand modifiers cost nothing (see the table in ptx_ops.cpp).
Cost ptx_cost(const AsmInstruction& instruction, int sm);

}  // namespace kernelcast::frontend
