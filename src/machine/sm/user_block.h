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
  int product = -1, mbarrier = -1, open = 0;
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
  enum class Copy : std::uint8_t { none, lanes, bulk } copy = Copy::none;  // to shared memory, beside the warp
};

/// What the asynchronous parts of a block stand for in the program: products on registers and asynchronous ones, each
/// execution the next of its list in turn, and the mbarriers that its arrivals and waits are at (-1: they cost
/// nothing).
struct BlockAsync {
  std::vector<int> matrix, product;
  int filled = -1, emptied = -1, waited = -1;
  int unarrived = 0;  // fills of blocks before whose copies are still to come
};

/// What executes a class of operation. Throws LimitError for what no spec has.
Op op_of(OpClass c);

/// `branches`: control instructions that the caller writes itself.
/// `parallel`: changed by fills whose copies stand in another block.
BlockCode block_code(const kernelcast::Block& block, const std::vector<BlockAccess>& accesses, int branches,
                     BlockAsync& parallel, Carries& carries);

/// Whether the order of a block's asynchronous events is known and matters.
bool has_events(const kernelcast::Block& block);

}  // namespace kernelcast::sm
