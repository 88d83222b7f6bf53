// One basic block of a user's kernel as instructions of the SM, with what waits for what.
#pragma once

#include <array>
#include <vector>

#include "kernelcast/profile.h"
#include "kernelcast/sm.h"

namespace kernelcast::sm {

/// An instruction before registers are given.
struct Piece {
  Op op = Op::nop;
  Latency latency = Latency::alu;
  int access = -1;
  double key = 0;  // place in the block, 0 to 1
};

/// A piece whose result another one waits for, so many instructions later.
struct Wait {
  std::size_t producer = 0;
  double distance = 1;
};

struct BlockCode {
  std::vector<Piece> pieces;  // in order
  std::vector<Wait> waits;    // producer: index into pieces
};

/// Whole numbers from fractions: what is left over goes to the next.
class Carry {
 public:
  int take(double n) {
    rest_ += n;
    const int whole = static_cast<int>(rest_ + 0.5);
    rest_ -= whole;
    return whole;
  }

 private:
  double rest_ = 0;
};

struct Carries {
  std::array<Carry, op_class_count> ops;
  std::array<Carry, latency_count> waits;
};

/// A memory instruction of the block: index of the access in the program, how many of them an execution has.
struct BlockAccess {
  MemorySpace space = MemorySpace::global;
  AccessKind kind = AccessKind::load;
  int access = -1;
  int count = 0;
};

/// What executes a class of operation. Throws LimitError for what no spec has.
Op op_of(OpClass c);

/// `branches`: control instructions that the caller writes itself.
BlockCode block_code(const kernelcast::Block& block, const std::vector<BlockAccess>& accesses, int branches,
                     Carries& carries);

}  // namespace kernelcast::sm
