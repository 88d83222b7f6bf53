// Counts of a kernel from the code that NVIDIA's assembler made of it, in place of those from PTX.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ir/assembly.h"
#include "frontend/ir/machine_code.h"
#include "kernelcast/profile.h"
#include "machine/sass/instruction.h"

namespace kernelcast::frontend {

/// PTX whose line table says where each instruction came from.
struct MarkedPtx {
  std::string text;
  int file = 0;  // number of the file that it says so of
};

/// `ptx`, which `kernel` views, with the place of each instruction as its line: the n-th of the kernel is of line n of
/// a file of its own, from 1.
MarkedPtx marked_ptx(std::string_view ptx, const AsmFunction& kernel);

/// The machine's instructions per instruction of PTX.
struct SassCounts {
  std::vector<OpCounts> costs;       // of each PTX instruction
  Walk walk;                         // of each PTX block
  std::vector<bool> removed;         // of each PTX instruction: a conditional branch that is not made
  std::vector<std::string> unknown;  // names or numbers of instructions that the table of operations does not have
};

/// `code`: of sm_`architecture`. `lines[i]`: place of machine instruction i, as lines_of_cubin() gives it for that
/// file. A block of the machine counts for the PTX block that most of its unguarded instructions come from.
SassCounts count_sass(const AsmFunction& kernel, std::span<const sass::Instruction> code, int architecture,
                      const std::vector<int>& lines);

}  // namespace kernelcast::frontend
