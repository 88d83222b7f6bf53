// The flow of a kernel's code: its blocks, without what only calls reach.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "machine/sass/instruction.h"

namespace kernelcast::sass {

struct Block {
  std::size_t first = 0, end = 0;       // instructions
  std::vector<std::size_t> successors;  // blocks
};

/// Blocks in the order of the code. Code behind the kernel's end that nothing but calls reaches (slow paths of
/// divisions, padding) is not among them. A branch to a register may go to every block.
/// `architecture` is 90 for sm_90.
std::vector<Block> blocks_of(std::span<const Instruction> code, int architecture);

}  // namespace kernelcast::sass
