// Shapes stand in the instruction except tcgen05's, whose m and n are fields of the instruction descriptor: PTX
// ISA 9.0, "Instruction descriptor": n / 8 in bits 17-22, m / 16 in bits 24-28 (block-scaled kinds name bits 27-28 m /
// 128, which is the same number). Its k is 32 bytes of A: tcgen05's table "Various combinations of .kind and shapes".
#include "ptx/matrix.h"

namespace kernelcast::ptx {
namespace {

/// wmma.mma of halves has the types d, c; all others d, a, b, c.
Type input_type(const Instruction& instruction) {
  if (instruction.op == Op::wmma_mma && instruction.type_count <= 2) return Type::f16;
  return instruction.type_count > 1 ? instruction.types[1] : Type::none;
}

struct KindRow {
  std::string_view word;
  std::uint16_t k = 0;
  Type input = Type::none;
  bool block_scaled = false;
};

constexpr KindRow kinds[] = {
    {"kind::f16", 16, Type::f16, false},      {"kind::tf32", 8, Type::tf32, false},
    {"kind::f8f6f4", 32, Type::none, false},  {"kind::i8", 32, Type::s8, false},
    {"kind::mxf8f6f4", 32, Type::none, true}, {"kind::mxf4", 64, Type::e2m1, true},
    {"kind::mxf4nvf4", 64, Type::e2m1, true},
};

void count_operations(MatrixWork& work) {
  work.operations = 2 * std::uint64_t{work.shape.m} * work.shape.n * work.shape.k;
}

}  // namespace

std::optional<MatrixWork> matrix_work(const Instruction& instruction) {
  MatrixWork work;
  work.shape = instruction.shape;
  switch (instruction.op) {
    case Op::mma:
    case Op::mma_sp:
    case Op::wmma_mma:
    case Op::wgmma_mma_async:
    case Op::wgmma_mma_async_sp:
      work.input = input_type(instruction);
      work.accumulator = instruction.type();
      work.block_scaled = instruction.has("block_scale");
      work.sparse = instruction.op == Op::mma_sp || instruction.op == Op::wgmma_mma_async_sp;
      if (instruction.op == Op::wgmma_mma_async || instruction.op == Op::wgmma_mma_async_sp)
        work.granularity = Granularity::warpgroup;
      break;
    case Op::tcgen05_mma:
    case Op::tcgen05_mma_sp:
    case Op::tcgen05_mma_ws:
    case Op::tcgen05_mma_ws_sp:
      work.granularity = Granularity::once;
      work.sparse = instruction.op == Op::tcgen05_mma_sp || instruction.op == Op::tcgen05_mma_ws_sp;
      work.shape = {};
      for (const KindRow& kind : kinds)
        if (instruction.has(kind.word)) {
          work.shape.k = static_cast<std::uint16_t>(work.sparse ? 2 * kind.k : kind.k);
          work.input = kind.input;
          work.block_scaled = kind.block_scaled;
        }
      break;
    default:
      return std::nullopt;
  }
  count_operations(work);
  return work;
}

MatrixWork with_descriptor(MatrixWork work, std::uint32_t descriptor) {
  work.shape.n = static_cast<std::uint16_t>((descriptor >> 17 & 0x3f) * 8);
  work.shape.m = static_cast<std::uint16_t>((descriptor >> 24 & 0x1f) * 16);
  count_operations(work);
  return work;
}

}  // namespace kernelcast::ptx
