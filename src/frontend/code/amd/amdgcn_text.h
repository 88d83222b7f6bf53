// Reads AMDGCN assembly text: the body of one kernel, and what the code generator says of its resources.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace kernelcast::frontend
