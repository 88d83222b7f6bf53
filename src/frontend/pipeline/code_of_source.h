// Source text straight to target code: what tests, benchmarks and development tools use of the front end's middle.
#pragma once

#include <string>
#include <vector>

#include "frontend/pipeline/pipeline.h"
#include "frontend/source/compile.h"
#include "kernelcast/frontend.h"

namespace kernelcast::frontend {

/// The symbols of the kernels in `source`.
std::vector<std::string> kernel_symbols(const Source& source, const std::string& target);

/// One kernel, compiled and optimised as analyze() does, from which code can be generated any number of times.
class PreparedKernel {
 public:
  PreparedKernel(const Source& source, std::string kernel_symbol, std::string target);
  /// `ptxas` as in analyze_ptx().
  [[nodiscard]] TargetCode generate(const std::string& ptxas = "") const;

 private:
  CompiledUnit unit_;
  std::string symbol_, target_;
  bool fast_math_;
};

/// PreparedKernel(...).generate().
TargetCode code_of_source(const Source& source, const std::string& kernel_symbol, const std::string& target);

}  // namespace kernelcast::frontend
