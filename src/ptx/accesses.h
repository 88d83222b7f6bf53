// Which bytes of memory an instruction touches.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace kernelcast::ptx {

enum class Direction : std::uint8_t { read, write, update };  // update: read, then written, in one piece
/// Who makes the access once: each active lane, the warp together, four warps together, or one lane for all (bulk
/// copies).
enum class Granularity : std::uint8_t { lane, warp, warpgroup, once };

struct MemoryAccess {
  std::uint8_t operand = 0;  // the address, descriptor or tensor map
  Space space = Space::generic;
  Direction direction = Direction::read;
  Granularity granularity = Granularity::lane;
  bool asynchronous = false;
  bool by_descriptor = false, by_tensor_map = false;
  /// Moved by one access of that granularity. 0: the text does not say (a register holds it, or a tensor map's box).
  std::uint64_t bytes = 0;
  /// The operand that holds the number of bytes, where it is one; -1: none. cp.async's source: bytes beyond it are
  /// zeros.
  int bytes_operand = -1;
  /// Matrices: `rows` rows of `row_bytes`; of ldmatrix and stmatrix lane i gives the address of row i.
  std::uint32_t rows = 0, row_bytes = 0;
};

/// Loads, stores, atomics, copies, textures, matrix loads, descriptors. mbarriers, prefetches, tensor memory and the
/// parameters of calls are left out.
std::vector<MemoryAccess> memory_accesses(const Instruction& instruction);

/// Bytes of tensor memory that tcgen05.ld and .st move for a warp, tcgen05.cp in all; 0 for any other instruction.
std::uint64_t tensor_memory_bytes(const Instruction& instruction);

}  // namespace kernelcast::ptx
