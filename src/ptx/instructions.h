// What the instructions of PTX are: instructions.def as functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ptx/module.h"

namespace kernelcast::ptx {

enum class InstructionKind : std::uint8_t {
  add,
  multiply,
  multiply_add,
  divide,
  sign,
  min_max,
  special_function,
  dot_product,
  bits,
  shift,
  logic,
  compare,
  select,
  video,
  move,
  convert,
  address,
  load,
  store,
  atomic,
  cache_control,
  stack,
  async_copy,
  async_group,
  texture,
  texture_query,
  surface,
  control,
  shuffle,
  vote,
  barrier,
  fence,
  mbarrier,
  grid,
  pause,
  matrix_load,
  matrix_store,
  matrix_move,
  matrix,
  tensor_memory,
  unknown,
};

enum class Role : std::uint8_t {
  written,
  read,
  read_and_written,
  address,  // computed, hinted at
  memory_read,
  memory_written,
  memory_updated,
  mbarrier,
  tensor_map,         // global memory, by a tensor map and coordinates
  shared_descriptor,  // shared memory, by a matrix descriptor
  tensor_memory_read,
  tensor_memory_written,
  tensor_memory_updated,
  label,
  callee,
  values,  // values: what a call hands over; what it returns is `written`
};

InstructionKind kind_of(Op op);

/// Of operand `index` of the instruction. Operands of an unknown instruction are read, addresses `memory_updated`, the
/// first one `written` unless it is an address.
Role role_of(const Instruction& instruction, std::size_t index);

/// Least and most operands that the instruction takes.
struct OperandCount {
  std::size_t least = 0, most = 0;
};
OperandCount operand_count(Op op);

}  // namespace kernelcast::ptx
