// What instructions of Volta and later do, as classes of operations, and the flow of a kernel's code: its blocks,
// without what only calls reach.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "kernelcast/ops.h"
#include "machine/sass/instruction.h"

namespace kernelcast::sass {

/// The lowest nine bits name the operation, the three above them the form of its operands.
inline constexpr BitField operation{"operation", 0, 9};
/// The predicate that guards the instruction: a register, 7 being always true, and whether it is negated.
inline constexpr BitField guard{"guard", 12, 4};
inline constexpr std::uint32_t unguarded = 7;

/// The name before the first dot, as NVIDIA's disassembler prints it; empty: not in the table.
std::string_view name_of(const Instruction& instruction);

/// What the instruction counts as; OpClass::other where the table does not have it. OpClass::count_: it takes no slot
/// of the warp's lanes (padding, and constants that the uniform datapath loads).
OpClass class_of(const Instruction& instruction);

struct Block {
  std::size_t first = 0, end = 0;       // instructions
  std::vector<std::size_t> successors;  // blocks
};

/// Blocks in the order of the code. Code behind the kernel's end that nothing but calls reaches (slow paths of
/// divisions, padding) is not among them. A branch to a register may go to every block.
/// `architecture` is 90 for sm_90.
std::vector<Block> blocks_of(std::span<const Instruction> code, int architecture);

}  // namespace kernelcast::sass
