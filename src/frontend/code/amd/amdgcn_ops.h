// What an AMDGCN instruction costs.
#pragma once

#include <string_view>

#include "frontend/ir/assembly.h"

namespace kernelcast::frontend {

/// The operations of one instruction: v_* by lane, s_* by wave (scalar_alu, scalar_load, control). s_waitcnt, s_nop and
/// other hints cost nothing. Buffer instructions with the descriptor `scratch` are accesses to private memory ("":
/// none). `known` is false for names outside of the table; they count as one `other`.
Cost amdgcn_cost(const AsmInstruction& instruction, std::string_view scratch);

}  // namespace kernelcast::frontend
