// A module back to PTX text.
#pragma once

#include <string>

#include "ptx/module.h"

namespace kernelcast::ptx {

/// Text that parse() reads to the same module. Scopes are flat, names are unique, comments and .section are gone.
std::string print(const Module& module);

/// One instruction, without what stands around it: "@!%p1 ld.global.f32 %f1, [%rd1+4];"
std::string print(const Instruction& instruction, const Function& function);

}  // namespace kernelcast::ptx
