// What an AMDGCN instruction costs.
#pragma once

#include "frontend/assembly.h"

namespace kernelcast::frontend {

/// The operations of one instruction: v_* by lane, s_* by wave (scalar_alu, scalar_load, control). s_waitcnt, s_nop and
/// other hints cost nothing. `has_scratch`: the kernel has private memory, so that buffer instructions may mean it.
/// `known` is false for names outside of the table; they count as one `other`.
Cost amdgcn_cost(const AsmInstruction& instruction, bool has_scratch);

}  // namespace kernelcast::frontend
