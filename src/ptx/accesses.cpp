// Sizes follow from PTX ISA 9.0: "ld", "cp.async", "ldmatrix", "wmma.load", "wgmma.mma_async", "tcgen05.ld",
// "tcgen05.cp".
#include "ptx/accesses.h"

#include <optional>
#include <string_view>

#include "ptx/instructions.h"
#include "ptx/matrix.h"

namespace kernelcast::ptx {
namespace {

std::optional<std::uint64_t> immediate(const Instruction& instruction, std::size_t index) {
  if (index >= instruction.operands.size() || instruction.operands[index].kind != OperandKind::integer)
    return std::nullopt;
  return instruction.operands[index].bits;
}

std::uint64_t bytes_of_bits(std::uint64_t bits) { return (bits + 7) / 8; }

/// The last type is that of the memory: tex.2d.v4.f32.s32 has f32 in registers and s32 coordinates.
std::uint64_t lane_bytes(const Instruction& instruction) {
  return bytes_of_bits(static_cast<std::uint64_t>(bits_of(instruction.type()))) * instruction.vector;
}

Direction direction_of(Role role) {
  if (role == Role::memory_written) return Direction::write;
  return role == Role::memory_updated ? Direction::update : Direction::read;
}

bool is_memory_role(Role role) {
  return role == Role::memory_read || role == Role::memory_written || role == Role::memory_updated ||
         role == Role::tensor_map || role == Role::shared_descriptor;
}

/// ldmatrix, stmatrix: 8 rows of 16 bytes for each .x, also of .m8n16 (6- and 4-bit elements are padded to 16 bytes)
/// and of .m16n8 (stored transposed); .m16n16 has 16 rows of 16 bytes.
void matrix_rows(MemoryAccess& access, const Instruction& instruction) {
  access.rows = (instruction.shape.m == 16 && instruction.shape.n == 16 ? 16U : 8U) * instruction.repeat;
  access.row_bytes = 16;
  access.bytes = std::uint64_t{access.rows} * access.row_bytes;
  access.granularity = Granularity::warp;
}

/// wmma.load.a.sync.aligned.row.m16n16k16.shared.f16: which matrix is the first modifier.
void fragment_rows(MemoryAccess& access, const Instruction& instruction) {
  const MatrixShape& shape = instruction.shape;
  std::uint32_t rows = shape.m, columns = shape.n;
  if (instruction.has("a")) columns = shape.k;
  if (instruction.has("b")) rows = shape.k;
  if (instruction.has("col")) std::swap(rows, columns);
  access.rows = rows;
  access.row_bytes = static_cast<std::uint32_t>(
      bytes_of_bits(std::uint64_t{columns} * static_cast<std::uint64_t>(bits_of(instruction.type()))));
  access.bytes = std::uint64_t{access.rows} * access.row_bytes;
  access.granularity = Granularity::warp;
}

/// Operand 1 is A, operand 2 is B.
void descriptor_bytes(MemoryAccess& access, const Instruction& instruction) {
  access.space = Space::shared;
  access.by_descriptor = true;
  access.asynchronous = true;
  const bool wgmma = instruction.op == Op::wgmma_mma_async || instruction.op == Op::wgmma_mma_async_sp;
  access.granularity = wgmma ? Granularity::warpgroup : Granularity::once;
  if (instruction.op == Op::tcgen05_cp) {
    access.bytes = tensor_memory_bytes(instruction);
    return;
  }
  const auto work = matrix_work(instruction);
  if (!work || work->shape.m == 0) return;
  const std::uint64_t bits = static_cast<std::uint64_t>(bits_of(work->input));
  const std::uint64_t k = work->shape.k;
  access.bytes = access.operand == 1 ? bytes_of_bits(work->shape.m * (work->sparse ? k / 2 : k) * bits)
                                     : bytes_of_bits(work->shape.n * k * bits);
}

/// [destination], [source], bytes, ...
void copy_bytes(MemoryAccess& access, const Instruction& instruction, Role role) {
  const bool is_source = role == Role::memory_read;
  access.asynchronous = true;
  access.space = instruction.spaces[is_source ? 1 : 0];
  const auto size = immediate(instruction, 2);
  access.bytes = size.value_or(0);
  if (!size && instruction.operands.size() > 2) access.bytes_operand = 2;
  if (instruction.op != Op::cp_async) {
    access.granularity = Granularity::once;
    return;
  }
  // cp.async.ca.shared.global [d], [s], 16, source-bytes
  if (!is_source || instruction.operands.size() < 4) return;
  const Operand& source = instruction.operands[3];
  if (source.kind == OperandKind::integer)
    access.bytes = source.bits;
  else
    access.bytes_operand = 3;
}

void tensor_copy(MemoryAccess& access, const Instruction& instruction, Role role) {
  access.asynchronous = true;
  access.granularity = Granularity::once;
  const bool to_global = instruction.space() == Space::global;
  if (role == Role::tensor_map) {
    access.space = Space::global;
    access.by_tensor_map = true;
    access.direction = !to_global                                          ? Direction::read
                       : instruction.op == Op::cp_reduce_async_bulk_tensor ? Direction::update
                                                                           : Direction::write;
  } else {
    access.space = instruction.spaces[to_global ? 1 : 0];
  }
}

}  // namespace

std::vector<MemoryAccess> memory_accesses(const Instruction& instruction) {
  std::vector<MemoryAccess> all;
  const InstructionKind kind = kind_of(instruction.op);
  if (kind == InstructionKind::cache_control || kind == InstructionKind::fence) return all;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const Role role = role_of(instruction, i);
    if (!is_memory_role(role)) continue;
    MemoryAccess access;
    access.operand = static_cast<std::uint8_t>(i);
    access.space = instruction.space();
    access.direction = direction_of(role);
    switch (instruction.op) {
      case Op::ldmatrix:
      case Op::stmatrix:
        matrix_rows(access, instruction);
        break;
      case Op::wmma_load:
      case Op::wmma_store:
        fragment_rows(access, instruction);
        break;
      case Op::cp_async:
      case Op::cp_async_bulk:
      case Op::cp_reduce_async_bulk:
      case Op::multimem_cp_async_bulk:
      case Op::multimem_cp_reduce_async_bulk:
        copy_bytes(access, instruction, role);
        break;
      case Op::cp_async_bulk_tensor:
      case Op::cp_reduce_async_bulk_tensor:
        tensor_copy(access, instruction, role);
        break;
      case Op::st_async:
      case Op::red_async:
        access.asynchronous = true;
        access.bytes = lane_bytes(instruction);
        break;
      case Op::st_bulk:
        access.granularity = Granularity::once;
        access.bytes = immediate(instruction, 1).value_or(0);
        if (access.bytes == 0) access.bytes_operand = 1;
        break;
      case Op::tex:
      case Op::tld4:
      case Op::suld:
      case Op::sust:
      case Op::sured:
        access.space = Space::tex;
        access.bytes = lane_bytes(instruction);
        break;
      case Op::tcgen05_alloc:
        access.bytes = 4;
        access.granularity = Granularity::once;
        break;
      case Op::clusterlaunchcontrol_try_cancel:
        access.bytes = 16;
        access.granularity = Granularity::once;
        break;
      case Op::tensormap_replace:
        access.bytes = bytes_of_bits(static_cast<std::uint64_t>(bits_of(instruction.type())));
        break;
      case Op::unknown:
        break;
      default:
        if (role == Role::shared_descriptor)
          descriptor_bytes(access, instruction);
        else
          access.bytes = lane_bytes(instruction);
    }
    all.push_back(access);
  }
  return all;
}

std::uint64_t tensor_memory_bytes(const Instruction& instruction) {
  struct Shape {
    std::string_view word;
    std::uint64_t bytes;  // of one repetition, or of the copy
  };
  // Lanes of tensor memory times bits: tcgen05.ld and .st for a warp, .xN times; tcgen05.cp once.
  constexpr Shape loads[] = {{"32x32b", 128}, {"16x32bx2", 128}, {"16x64b", 128}, {"16x128b", 256}, {"16x256b", 512}};
  constexpr Shape copies[] = {
      {"128x256b", 4096}, {"4x256b", 128}, {"128x128b", 2048}, {"64x128b", 1024}, {"32x128b", 512}};
  if (instruction.op == Op::tcgen05_ld || instruction.op == Op::tcgen05_st)
    for (const Shape& shape : loads)
      if (instruction.has(shape.word)) return shape.bytes * instruction.repeat;
  if (instruction.op == Op::tcgen05_cp)
    for (const Shape& shape : copies)
      if (instruction.has(shape.word)) return shape.bytes;
  return 0;
}

}  // namespace kernelcast::ptx
