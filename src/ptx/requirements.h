// Which GPUs have an instruction: compute capabilities as the "Target ISA Notes" of the PTX ISA 9.0 give them.
#pragma once

#include <string>
#include <string_view>

#include "ptx/module.h"

namespace kernelcast::ptx {

/// Compute capabilities times ten, the last included: {90, 90} for what sm_90a alone has.
struct Requirement {
  int first = 0;
  int last = 1000;
  [[nodiscard]] bool met_by(int capability) const { return capability >= first && capability <= last; }
};

/// 90 of "sm_90" and "sm_90a"; 0: no such name.
int sm_number(std::string_view architecture);

/// Of the operation by itself: instructions.def. {0, 1000}: all have it.
Requirement requirement_of(Op op);
/// With what its types and shapes ask for beyond that.
Requirement requirement_of(const Instruction& i);

/// "'wgmma.mma_async' is no instruction of sm_80; NVIDIA H100 (sm_90) has it": the first GPU of those that do.
std::string refusal(const Instruction& i, const std::string& architecture);

}  // namespace kernelcast::ptx
