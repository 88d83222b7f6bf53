// AMDGCN assembly text: the body of one kernel, what its instructions cost, and what the code generator says of its
// resources.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/code/target_code.h"
#include "frontend/ir/assembly.h"

namespace kernelcast::frontend {

struct AmdgcnKernel {
  AsmFunction code;
  int vector_registers = 0;                  // a thread's, ArchVGPRs and AccVGPRs together
  int scalar_registers = 0;                  // a wave's
  std::int64_t scratch_bytes = 0;            // private segment of a thread, spills included
  std::int64_t lds_bytes = 0;                // static
  int vector_spills = 0, scalar_spills = 0;  // spilled registers, once for each time
  std::string scratch_descriptor;            // registers that describe private memory, such as "s[0:3]"; empty: none
};

/// Parses the kernel `symbol`; the result views `text`. Throws InternalError when the text has no such kernel.
AmdgcnKernel parse_amdgcn(std::string_view text, std::string_view symbol);

/// The operations of one instruction: v_* by lane, s_* by wave (scalar_alu, scalar_load, control). s_waitcnt, s_nop and
/// other hints cost nothing. Buffer instructions with the descriptor `scratch` are accesses to private memory ("":
/// none). `known` is false for names outside of the table; they count as one `other`.
Cost amdgcn_cost(const AsmInstruction& instruction, std::string_view scratch);

/// Counts and resources of one kernel of `text`. `ir_blocks` as in join_blocks().
TargetCode analyze_amdgcn(std::string_view text, const std::string& kernel_symbol,
                          const std::vector<std::string>& ir_blocks);

}  // namespace kernelcast::frontend
