// Shared by the tests that look at the PTX of small CUDA kernels.
#pragma once

#include <string>

#include "frontend/pipeline/code_of_source.h"
#include "frontend/pipeline/pipeline.h"

namespace kernelcast::frontend {

/// PTX of a kernel with the body given and the parameters `const float* a, TYPE* c, const int* d, int n`.
inline std::string ptx_of(const std::string& body, const std::string& type = "float",
                          const std::string& target = "sm_80") {
  Source s;
  s.path = "test.cu";
  s.text = "extern \"C\" __global__ void k(const float* a, " + type + "* c, const int* d, int n) {\n" + body + "}\n";
  return code_of_source(s, "k", target).assembly;
}

}  // namespace kernelcast::frontend
