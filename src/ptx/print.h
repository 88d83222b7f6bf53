// A module back to PTX text.
#pragma once

#include <string>

#include "ptx/module.h"

namespace kernelcast::ptx {

/// Text that parse() reads to the same module. Scopes are flat, names are unique, comments are gone.
std::string print(const Module& module);

/// One instruction, without what stands around it: "@!%p1 ld.global.f32 %f1, [%rd1+4];"
std::string print(const Instruction& instruction, const Function& function);

/// ".align 16 .b8 name[4][8]", behind its linkage and space.
void print_declaration(std::string& out, const Variable& variable);
/// " = {...}"; nothing where the variable has none.
void print_initializer(std::string& out, const Variable& variable);
/// "0f3F800000", "0d..."
void print_real(std::string& out, std::uint64_t bits, int width);
void print_integer(std::string& out, std::uint64_t bits, bool is_unsigned);
/// "+4", "+-4"; nothing for 0.
void print_offset(std::string& out, std::int64_t offset);

}  // namespace kernelcast::ptx
