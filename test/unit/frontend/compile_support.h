// Shared by the tests of compile_*.cpp.
#pragma once

#include <string>
#include <vector>

#include "frontend/source/compile.h"
#include "frontend/source/kernels.h"

namespace kernelcast::frontend {

inline Source source(const std::string& name, const std::string& text) {
  Source result;
  result.path = name;
  result.text = text;
  return result;
}

inline CompiledUnit compiled(const std::string& name, const std::string& text, const std::string& target = "sm_70",
                             const std::string& kernel = {}) {
  return compile_unit(source(name, text), target, 60, kernel);
}

inline std::vector<std::string> names(const CompiledUnit& unit) {
  std::vector<std::string> result;
  for (const auto& kernel : list_kernels(*unit.module, unit.language)) result.push_back(kernel.demangled);
  return result;
}

inline std::string module_of(const std::string& name, const std::string& text, const std::string& target = "sm_70") {
  return module_text(compiled(name, text, target));
}

}  // namespace kernelcast::frontend
