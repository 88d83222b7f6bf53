// See code_of_source.h; the steps are those of frontend.cpp.
#include "frontend/pipeline/code_of_source.h"

#include "frontend/lower/lower_kernel.h"
#include "frontend/source/kernels.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {

std::vector<std::string> kernel_symbols(const Source& source, const std::string& target) {
  const CompiledUnit unit = compile_unit(source, target, 30);
  std::vector<std::string> symbols;
  for (const KernelEntry& k : list_kernels(*unit.module, unit.language)) symbols.push_back(k.symbol);
  return symbols;
}

PreparedKernel::PreparedKernel(const Source& source, std::string kernel_symbol, std::string target)
    : unit_(compile_unit(source, target, 30)),
      symbol_(std::move(kernel_symbol)),
      target_(std::move(target)),
      fast_math_(source.fast_math) {
  lower_kernel(unit_, symbol_, target_, fast_math_, {});
}

TargetCode PreparedKernel::generate(const std::string& ptxas) const {
  return generate_target_code(*unit_.module, symbol_, target_, fast_math_, ptxas);
}

TargetCode code_of_source(const Source& source, const std::string& kernel_symbol, const std::string& target) {
  return PreparedKernel(source, kernel_symbol, target).generate();
}

}  // namespace kernelcast::frontend
