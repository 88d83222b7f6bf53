// folder: machine
// A cubin: the answer is a value or an Error, whatever the bytes.
#include <cstddef>
#include <cstdint>
#include <string>

#include <vector>

#include "kernelcast/error.h"
#include "machine/sass/code.h"
#include "machine/sass/cubin.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelcast::sass;
  constexpr std::size_t most = 4096;  // an indirect branch goes to all blocks: no more than 16 million edges
  try {
    const Cubin cubin({reinterpret_cast<const char*>(data), size}, "fuzz.cubin");
    for (const Cubin::Kernel& k : cubin.kernels()) {
      std::vector<Instruction> code;
      for (std::size_t i = 0; i < k.instructions && i < most; ++i) code.push_back(cubin.at(k, i));
      (void)blocks_of(code, cubin.architecture());
    }
  } catch (const kernelcast::Error&) {
  }
  return 0;
}
