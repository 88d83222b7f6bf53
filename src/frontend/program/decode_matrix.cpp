// mma.sync, lane by lane, from shuffles and fused multiply-adds. Fragments as the PTX ISA has them ("Matrix fragments
// for mma"): of an element type with E elements in a register, with g = lane / 4 and t = lane % 4,
//
//     A  register r holds row g (+ 8 for odd r where there are 16 rows), columns (r / halves) * 4 E + t E + e
//     B  register r holds rows r * 4 E + t E + e of column g
//     C, D  element i: row g + 8 (i / 2), column 2 t + i % 2
//
// m8n8k4 of halves, which four lanes work on in pairs, has other fragments and is not executed.
#include <cstdlib>

#include "frontend/ir/ptx_calls.h"
#include "frontend/program/decode_internal.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

struct MatrixType {
  int elements = 0;  // a register of 32 bits, or one of 64
  ValueType computed = ValueType::f32;
};

std::optional<MatrixType> matrix_type(ptx::Type t) {
  using ptx::Type;
  switch (t) {
    case Type::f16:
    case Type::bf16:
      return MatrixType{2, ValueType::f32};
    case Type::tf32:
      return MatrixType{1, ValueType::f32};
    case Type::f64:
      return MatrixType{1, ValueType::f64};
    case Type::s8:
    case Type::u8:
      return MatrixType{4, ValueType::i32};
    case Type::e4m3:
    case Type::e5m2:
      return MatrixType{4, ValueType::f32};
    default:
      return std::nullopt;
  }
}

}  // namespace

/// Element e of a register as a number that is computed with.
std::uint32_t Decoder::matrix_element(std::uint32_t reg, int e, ptx::Type t) {
  using ptx::Type;
  const ValueType w = ValueType::i32;
  const auto as = [&](std::uint32_t from, ValueType to) {
    const std::uint32_t dst = fresh(to);
    emit(Opcode::move, program_.registers[from], dst, from).to = to;
    return dst;
  };
  if (t == Type::f64) return reg;
  std::uint32_t bits = program_.registers[reg] == w ? reg : as(reg, w);
  const auto shift = [&](Opcode op, int by) {
    return by == 0 ? bits : binary(op, w, bits, constant(w, static_cast<std::uint64_t>(by)));
  };
  if (t == Type::tf32) return as(binary(Opcode::and_, w, bits, constant(w, 0xffffe000)), ValueType::f32);
  if (t == Type::bf16) {
    bits = e == 0 ? shift(Opcode::shl, 16) : binary(Opcode::and_, w, bits, constant(w, 0xffff0000));
    return as(bits, ValueType::f32);
  }
  if (t == Type::f16) {
    const std::uint32_t half = convert(Opcode::truncate, w, ValueType::i16, shift(Opcode::lshr, 16 * e));
    return convert(Opcode::float_to_float, ValueType::f16, ValueType::f32, as(half, ValueType::f16));
  }
  if (t == Type::e4m3 || t == Type::e5m2) {
    // The upper half of a half is e5m2; e4m3 has one bit less of an exponent whose bias is 7, not 15 (its NaN is 480
    // here).
    const auto part = [&](std::uint64_t mask, int to) {
      const int by = to - 8 * e;
      const std::uint32_t some = binary(Opcode::and_, w, bits, constant(w, mask << 8 * e));
      return by == 0 ? some
                     : binary(by > 0 ? Opcode::shl : Opcode::lshr, w, some,
                              constant(w, static_cast<std::uint64_t>(std::abs(by))));
    };
    const std::uint32_t word = t == Type::e5m2 ? part(0xff, 8) : binary(Opcode::or_, w, part(0x80, 8), part(0x7f, 7));
    const std::uint32_t half = as(convert(Opcode::truncate, w, ValueType::i16, word), ValueType::f16);
    const std::uint32_t real = convert(Opcode::float_to_float, ValueType::f16, ValueType::f32, half);
    if (t == Type::e5m2) return real;
    return binary(Opcode::fmul, ValueType::f32, real, constant(ValueType::f32, 0x43800000));  // 2^8
  }
  const std::uint32_t dst = fresh(w);
  emit(t == Type::s8 ? Opcode::bit_extract_s : Opcode::bit_extract_u, w, dst, bits,
       constant(w, static_cast<std::uint64_t>(8 * e)), constant(w, 8));
  return dst;
}

void Decoder::matrix_product(CallInst& i, const ptx::Instruction& what) {
  using ptx::Type;
  const Type td = what.types[0], ta = what.types[1], tb = what.types[2], tc = what.types[3];
  const auto type = matrix_type(ta), type_b = matrix_type(tb);
  const int m = what.shape.m, n = what.shape.n, k = what.shape.k;
  const bool halves = td == Type::f16;
  const bool known = type && type_b && type->elements == type_b->elements && (m == 16 || m == 8) && n == 8 &&
                     td == tc && what.type_count == 4 && !(m == 8 && type->elements == 2) && !what.has("satfinite");
  if (!known) unsupported(i, "the instruction '" + ptx_opcode(i) + "'");
  const int e = type->elements, rows = m / 8, steps = 4 * e;  // columns of A a register covers over four lanes
  const int blocks = k / steps, a_regs = rows * blocks, b_regs = blocks, c_regs = halves ? rows : 2 * rows;
  if (blocks * steps != k || i.arg_size() != static_cast<unsigned>(a_regs + b_regs + c_regs))
    unsupported(i, "the instruction '" + ptx_opcode(i) + "' with these fragments");
  std::vector<std::uint32_t> a, b, c;
  for (int r = 0; r < a_regs; ++r) a.push_back(one(i.getArgOperand(static_cast<unsigned>(r))));
  for (int r = 0; r < b_regs; ++r) b.push_back(one(i.getArgOperand(static_cast<unsigned>(a_regs + r))));
  for (int r = 0; r < c_regs; ++r) c.push_back(one(i.getArgOperand(static_cast<unsigned>(a_regs + b_regs + r))));
  const ValueType w = ValueType::i32;
  const std::uint32_t lane = fresh(w);
  emit(Opcode::lane_id, w, lane);
  const auto number = [&](int v) { return constant(w, static_cast<std::uint64_t>(v)); };
  const std::uint32_t group = binary(Opcode::and_, w, lane, number(28));  // first lane with the same rows
  const std::uint32_t column = binary(Opcode::shl, w, binary(Opcode::and_, w, lane, number(3)), number(3));
  // Every value that this lane needs, once: rows of A from lanes of its group, columns of B from those that hold them.
  std::map<std::pair<int, int>, std::uint32_t> row_part, column_part;  // by register and column, element
  const auto from_a = [&](int half, int at) {
    const int reg = at / steps * rows + half, t = at % steps / e;
    auto [known_reg, added] = row_part.try_emplace({reg * 8 + t, at % e}, 0);
    if (added)
      known_reg->second = matrix_element(from_lane(a[reg], binary(Opcode::add, w, group, number(t))), at % e, ta);
    return known_reg->second;
  };
  const auto from_b = [&](int odd, int at) {
    const int reg = at / steps, t = at % steps / e;
    auto [known_reg, added] = column_part.try_emplace({(reg * 2 + odd) * 8 + t, at % e}, 0);
    if (added)
      known_reg->second =
          matrix_element(from_lane(b[reg], binary(Opcode::add, w, column, number(4 * odd + t))), at % e, tb);
    return known_reg->second;
  };
  std::vector<std::uint32_t> sums;
  const ValueType t = type->computed;
  for (int out = 0; out < 2 * rows; ++out) {
    std::uint32_t sum = halves ? matrix_element(c[out / 2], out % 2, Type::f16) : c[out];
    for (int at = 0; at < k; ++at) {
      const std::uint32_t x = from_a(out / 2, at), y = from_b(out % 2, at);
      if (t == w) {
        sum = binary(Opcode::add, w, sum, binary(Opcode::mul, w, x, y));
      } else {
        const std::uint32_t next = fresh(t);
        emit(Opcode::fma, t, next, x, y, sum);
        sum = next;
      }
    }
    sums.push_back(sum);
  }
  Slots result_slots;
  for (int r = 0; r < c_regs; ++r) {
    if (!halves) {
      result_slots.regs.push_back(sums[static_cast<std::size_t>(r)]);
      continue;
    }
    std::uint32_t both = no_register;
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t h =
          convert(Opcode::float_to_float, ValueType::f32, ValueType::f16, sums[static_cast<std::size_t>(2 * r + half)]);
      const std::uint32_t bits = fresh(ValueType::i16);
      emit(Opcode::move, ValueType::f16, bits, h).to = ValueType::i16;
      const std::uint32_t wide = convert(Opcode::zero_extend, ValueType::i16, w, bits);
      both = half == 0 ? wide : binary(Opcode::or_, w, both, binary(Opcode::shl, w, wide, number(16)));
    }
    result_slots.regs.push_back(both);
  }
  define(i, std::move(result_slots));
}

}  // namespace kernelcast::frontend
