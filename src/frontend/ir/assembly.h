// A kernel's assembly text in pieces, and what its instructions cost: what the PTX and the AMDGCN reader share. Free of
// LLVM.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernelcast/ops.h"

namespace kernelcast::frontend {

/// One instruction. The views point into the text that was parsed.
struct AsmInstruction {
  std::string_view guard;                  // predicate with its sign, "%p1" or "!%p1"; empty: always
  std::string_view opcode;                 // "ld.global.v4.f32", "v_fma_f32"
  std::vector<std::string_view> operands;  // split at top-level commas, blanks trimmed
  int block = 0;                           // index into AsmFunction::blocks
  int lanes_of = -1;                       // the block whose lanes do it, where `block` issues it predicated
  int file = -1;                           // index into AsmFunction::files, -1: unknown
  int line = 0;                            // 0: unknown
  bool inlined = false;                    // came from inline assembly
  bool second = false;                     // of a line that holds two: they are issued as one
};

/// A machine block: what stands between two labels (or `%bb` comments).
struct AsmBlock {
  std::string_view label;    // "$L__BB0_5", empty when nothing jumps there
  std::string_view ir_name;  // IR block that the code generator names in its comment, empty: none
  bool unrolled = false;     // PTX: .pragma "nounroll", the loop that begins here is left as it is
};

inline constexpr int max_file_index = 1 << 16;  // a larger number in the text is not one of a file

struct AsmFunction {
  std::vector<AsmBlock> blocks;  // in layout order; the first is the entry
  std::vector<AsmInstruction> instructions;
  std::vector<std::string> files;
};

/// What one instruction costs: lane operations by class, and whether the table knows it.
struct Cost {
  OpCounts ops;
  bool known = true;
};

std::string_view trim(std::string_view s);

/// Splits at commas outside of (), [] and {}.
std::vector<std::string_view> split_operands(std::string_view s);

/// The path in the comment of a `.loc` directive, "// dir/a.cu:5:54" or "; a.cl:5:54 @[ b.h:1:2 ]"; empty: none.
std::string path_in_comment(std::string_view comment);

/// Gives instructions without a line that of the next known one in their block, else of the one before.
/// Code generators mark code that they move with line 0.
void fill_unknown_lines(AsmFunction& function);

/// Parses a list of `class` or `class:count`, separated by blanks. Throws InternalError for unknown classes: the
/// texts are tables in the source.
OpCounts parse_cost(std::string_view text);

/// Adds what one matrix instruction multiplies. False: the opcode does not say its type or its shape.
bool count_products(std::string_view opcode, OpCounts& ops);

}  // namespace kernelcast::frontend
