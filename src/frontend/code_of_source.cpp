// See code_of_source.h; the steps are those of frontend.cpp.
#include "frontend/code_of_source.h"

#include "frontend/builtins.h"
#include "frontend/compile.h"
#include "frontend/kernels.h"
#include "frontend/optimize.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace kernelcast::frontend {

std::vector<std::string> kernel_symbols(const Source& source, const std::string& target) {
  const CompiledUnit unit = compile_unit(source, target, 30);
  std::vector<std::string> symbols;
  for (const KernelEntry& k : list_kernels(*unit.module, unit.language)) symbols.push_back(k.symbol);
  return symbols;
}

TargetCode code_of_source(const Source& source, const std::string& kernel_symbol, const std::string& target) {
  const CompiledUnit unit = compile_unit(source, target, 30);
  const TargetFamily family = family_of(target);
  lower_opencl_builtins(*unit.module, family);
  link_opencl_library(*unit.module, family);
  const auto machine = make_target_machine(target, source.fast_math);
  optimize_for_target(*unit.module, kernel_symbol, *machine);
  return generate_target_code(*unit.module, kernel_symbol, target, source.fast_math);
}

}  // namespace kernelcast::frontend
