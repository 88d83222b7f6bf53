// Of print(): declarations of variables, numbers.
#pragma once

#include <string>

#include "ptx/module.h"

namespace kernelcast::ptx {

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
