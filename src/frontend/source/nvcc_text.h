// Spellings that nvcc takes and Clang does not.
#pragma once

#include <string>
#include <string_view>

namespace kernelcast::frontend {

/// `__shared__ alignas(16)` as `alignas(16) __shared__`, and names of PTX registers in asm statements with operands,
/// "%globaltimer", as "%%globaltimer"; two operands of an asm statement without a comma get one; `extern __shared__` of
/// something that has a size without `extern`, the definition that nvcc takes it for; the brackets "<< <" and ">> >" of
/// a launch as "<<<" and ">>>"; `#define UNROLL #pragma unroll` with `_Pragma("unroll")`. Lines stay.
std::string as_clang_spells(std::string_view text);

}  // namespace kernelcast::frontend
