// folder: ptx
// A PTX text, module or statement of inline assembly: what is read must come back from the printer.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kernelcast/error.h"
#include "ptx/accesses.h"
#include "ptx/instructions.h"
#include "ptx/matrix.h"
#include "ptx/parse.h"
#include "ptx/print.h"

using namespace kernelcast;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const ptx::Module module = ptx::parse(text, "a.ptx");
    for (const ptx::Function& function : module.functions)
      for (const ptx::Instruction& instruction : function.body) {
        for (std::size_t i = 0; i < instruction.operands.size(); ++i) (void)ptx::role_of(instruction, i);
        (void)ptx::memory_accesses(instruction);
        (void)ptx::matrix_work(instruction);
      }
    if (!ptx::same(module, ptx::parse(ptx::print(module), "b.ptx"))) std::abort();
  } catch (const Error&) {
  }
  try {
    const ptx::FragmentOperand operands[] = {{ptx::Type::b32, "x", std::nullopt, -1},
                                             {ptx::Type::b64, "", std::nullopt, -1}};
    (void)ptx::parse_fragment(text, operands, ptx::FragmentSyntax::c, "a.cu", 1, 1);
  } catch (const Error&) {
  }
  return 0;
}
