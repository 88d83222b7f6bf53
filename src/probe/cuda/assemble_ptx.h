// NVIDIA's assembler, where it happens to be installed: what cannot be written in PTX (control fields, register
// numbers) is patched into what it makes.
#pragma once

#include <string>

namespace kernelcast::probe::cuda {

struct Assembled {
  std::string cubin;  // empty: see `message`
  std::string message;
};
/// The cubin of `ptx` for sm_`architecture`, with ptxas's own message when it refuses. Throws LimitError when no
/// temporary file can be made.
Assembled assemble(const std::string& ptxas, const std::string& ptx, int architecture);

}  // namespace kernelcast::probe::cuda
