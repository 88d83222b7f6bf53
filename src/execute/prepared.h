// A program made ready for one warp width: registers have places in a warp's register file, and each arithmetic
// instruction has the function that computes it for all lanes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernelcast/program.h"

namespace kernelcast::interpreter {

inline constexpr int lanes_at_once = 32;  // rows are whole multiples of this

enum class OperandCheck : std::uint8_t { none, divisor, shift };  // of b

struct PreparedOp;
/// Computes the rows of all lanes, active or not; `file` is the warp's register file.
using Handler = void (*)(unsigned char* file, const PreparedOp& op);

struct PreparedOp {
  Handler handler = nullptr;                   // null: a memory, warp or block operation
  std::uint32_t dst = 0, a = 0, b = 0, c = 0;  // bytes from the start of the file
  std::uint32_t dst2 = 0;
  std::uint16_t groups = 1;   // of 32 lanes
  std::uint8_t dst_size = 0;  // bytes of a lane
  bool keep_inactive = false;
  OperandCheck check = OperandCheck::none;
  std::int64_t imm = 0;
  std::uint32_t source = 0;  // index into Program::code
};

struct PreparedCopy {
  std::uint32_t dst, src;
  std::uint8_t size;
};

struct PreparedProgram {
  PreparedProgram(const Program& program, int warp_size);
  const Program& program;
  int warp_size;
  std::vector<PreparedOp> code;
  std::vector<std::vector<std::vector<PreparedCopy>>> copies;  // [block][edge]
  std::vector<std::uint32_t> place;                            // of each register
  std::uint32_t file_bytes = 0;
};

/// The function for an arithmetic instruction, for this processor; null for what is no arithmetic.
Handler handler_for(const SimtInstruction& i);

}  // namespace kernelcast::interpreter
