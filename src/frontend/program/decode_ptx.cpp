// Instructions of PTX that are calls here (ir/ptx_calls.h): asynchronous copies move their bytes at once, where they
// stand, and are marked, so that checks know when they may be used;
// rows of matrices come from the lanes that hold their addresses; integer instructions with operands that LLVM has no
// form for.
#include <utility>

#include "frontend/ir/ptx_calls.h"
#include "frontend/program/decode_internal.h"

namespace kernelcast::frontend {

using namespace llvm;

std::uint32_t Decoder::from_lane(std::uint32_t value, std::uint32_t lane) {
  const ValueType t = program_.registers[value];
  const std::uint32_t dst = fresh(t);
  emit(Opcode::shuffle, t, dst, value, lane, constant(ValueType::i32, 31)).imm =
      static_cast<std::int64_t>(ShuffleOp::index);
  return dst;
}

std::uint32_t Decoder::selected(ValueType t, std::uint32_t condition, std::uint32_t yes, std::uint32_t no) {
  const std::uint32_t out = fresh(t);
  emit(Opcode::select, t, out, condition, yes, no);
  return out;
}

/// An operand of an integer instruction; numbers in the text have 64 bits.
std::uint32_t Decoder::integer_operand(CallInst& i, unsigned n, ValueType t) {
  const std::uint32_t given = one(i.getArgOperand(n));
  const ValueType has = program_.registers[given];
  return convert(size_of(has) > size_of(t) ? Opcode::truncate : Opcode::zero_extend, has, t, given);
}

/// cp.async: 16, 8 or 4 bytes to shared memory, zeros behind what the source size says.
void Decoder::copy_async(CallInst& i) {
  const auto accesses = ptx_accesses(i);
  const int bytes = accesses.size() == 2 ? accesses[0].bytes : 0;
  if (bytes != 4 && bytes != 8 && bytes != 16) unsupported(i, "this cp.async");
  const ValueType t = bytes % 8 == 0 ? ValueType::i64 : ValueType::i32;
  const int count = bytes / size_of(t);
  const auto row = [&] {
    std::vector<std::uint32_t> regs;
    for (int k = 0; k < count; ++k) regs.push_back(fresh(t));
    return regs;
  };
  std::vector<std::uint32_t> regs = row();
  const Slots from = value(accesses[0].pointer), to = value(accesses[1].pointer);
  Value* given = i.arg_size() > 3 ? i.getArgOperand(3) : nullptr;
  const auto* fixed = given ? dyn_cast<ConstantInt>(given) : nullptr;
  std::uint32_t some = no_register;
  bool nothing = false;
  if (given && given->getType()->isIntegerTy(1)) {  // whether the source is ignored
    nothing = fixed && !fixed->isZero();
    if (!fixed) some = binary(Opcode::xor_, ValueType::i1, one(given), constant(ValueType::i1, 1));
  } else {
    nothing = fixed && fixed->isZero();
    if (given && !fixed) some = binary(Opcode::ne, ValueType::i32, one(given), constant(ValueType::i32, 0));
  }
  if (!nothing) {
    const std::uint32_t address = materialised(from);
    const int counted = site(i, AccessKind::load, 0, bytes);
    SimtInstruction& l = emit(Opcode::load, t, regs[0], address, no_register, some);
    l.extra = static_cast<std::uint16_t>(count);
    l.pointing = pointing(accesses[0].pointer);
    l.site = counted;
  }
  if (nothing || some != no_register) {
    const std::vector<std::uint32_t> loaded = std::exchange(regs, row());
    const std::uint32_t zero = constant(t, 0);
    for (std::size_t k = 0; k < regs.size(); ++k) {
      if (nothing)
        emit(Opcode::move, t, regs[k], zero).to = t;
      else
        emit(Opcode::select, t, regs[k], some, loaded[k], zero);
    }
  }
  const int stored = site(i, AccessKind::store, 0, bytes);
  SimtInstruction& s = emit(Opcode::store, t, no_register, to.regs.at(0), regs[0]);
  s.imm = to.displacement;
  s.extra = static_cast<std::uint16_t>(count);
  s.pointing = pointing(accesses[1].pointer);
  s.site = stored;
  s.asynchronous = true;
}

/// Groups of copies by cp.async.
void Decoder::copy_group(CallInst& i, CopyGroup what) {
  std::int64_t left = 0;
  if (what == CopyGroup::wait || what == CopyGroup::bulk_wait) {
    const auto* n = i.arg_size() > 0 ? dyn_cast<ConstantInt>(i.getArgOperand(0)) : nullptr;
    if (!n) unsupported(i, "a wait for a variable number of groups");
    left = n->getSExtValue();
  }
  emit(Opcode::copy_group, ValueType::i32, no_register).imm = static_cast<std::int64_t>(what) | left << 8;
}

/// Rows of 16 bytes at addresses of eight lanes a matrix; each lane gets two neighbours of a row, or of a column.
void Decoder::load_matrix(CallInst& i, const ptx::Instruction& what) {
  const bool transposed = what.has("trans");
  if (what.shape.m != 8 || what.shape.n != 8 || what.type() != ptx::Type::b16) unsupported(i, "this ldmatrix");
  const ValueType w = ValueType::i32;
  Value* pointer = i.getArgOperand(0);
  const std::uint32_t address = materialised(value(pointer));
  const std::uint32_t lane = fresh(w);
  emit(Opcode::lane_id, w, lane);
  const int counted = site(i, AccessKind::load, 0, 16);
  const auto rows = ptx_accesses(i);
  if (!rows.empty()) {  // what the banks see: a row for each lane that has an address
    const std::uint32_t row = fresh(ValueType::i64);
    (void)fresh(ValueType::i64);
    const auto lanes = static_cast<std::uint64_t>(rows[0].lanes);
    const std::uint32_t has_one = lanes < 32 ? binary(Opcode::ult, w, lane, constant(w, lanes)) : no_register;
    SimtInstruction& l = emit(Opcode::load, ValueType::i64, row, address, no_register, has_one);
    l.extra = 2;
    l.pointing = pointing(pointer);
    l.site = counted;
  }
  const auto within = [&](Opcode op, std::uint32_t a, std::uint64_t n) { return binary(op, w, a, constant(w, n)); };
  const auto read = [&](std::uint32_t row_lane, std::uint32_t column_bytes, ValueType t) {
    const std::uint32_t row = from_lane(address, row_lane), at = fresh(ValueType::i64), dst = fresh(t);
    emit(Opcode::address, w, at, row, column_bytes).imm = 1;
    emit(Opcode::load, t, dst, at).pointing = pointing(pointer);
    return dst;
  };
  const std::uint32_t quarter = within(Opcode::lshr, lane, 2), part = within(Opcode::and_, lane, 3);
  Slots out;
  for (unsigned m = 0; m < what.repeat; ++m) {
    if (!transposed) {
      out.regs.push_back(read(within(Opcode::add, quarter, std::uint64_t{8} * m), within(Opcode::mul, part, 4), w));
      continue;
    }
    const std::uint32_t column = within(Opcode::mul, quarter, 2), row = within(Opcode::mul, part, 2);
    std::uint32_t both = no_register;
    for (unsigned half = 0; half < 2; ++half) {
      const std::uint32_t h =
          convert(Opcode::zero_extend, ValueType::i16, w,
                  read(within(Opcode::add, row, std::uint64_t{8} * m + half), column, ValueType::i16));
      both = half == 0 ? h : binary(Opcode::or_, w, both, within(Opcode::shl, h, 16));
    }
    out.regs.push_back(both);
  }
  note_element(pointer, ValueType::i16);
  define(i, std::move(out));
}

/// stmatrix: lane 8 m + r writes row r of matrix m, whose words the lanes hold as load_matrix() says.
void Decoder::store_matrix(CallInst& i, const ptx::Instruction& what) {
  const bool transposed = what.has("trans");
  if (what.shape.m != 8 || what.shape.n != 8 || what.type() != ptx::Type::b16) unsupported(i, "this stmatrix");
  const ValueType w = ValueType::i32;
  Value* pointer = i.getArgOperand(0);
  const Slots to = value(pointer);
  const std::uint32_t lane = fresh(w);
  emit(Opcode::lane_id, w, lane);
  const auto within = [&](Opcode op, std::uint32_t a, std::uint64_t n) { return binary(op, w, a, constant(w, n)); };
  const std::uint32_t row = within(Opcode::and_, lane, 7), matrix = within(Opcode::lshr, lane, 3);
  std::vector<std::uint32_t> words;
  for (unsigned k = 0; k < 4; ++k) words.push_back(fresh(w));
  for (unsigned k = 0; k < 4; ++k) {
    std::uint32_t word = no_register;
    for (unsigned m = 0; m < what.repeat; ++m) {
      const std::uint32_t held = integer_operand(i, 1 + m, w);
      std::uint32_t mine = no_register;
      if (!transposed) {
        mine = from_lane(held, binary(Opcode::add, w, within(Opcode::shl, row, 2), constant(w, k)));
      } else {  // elements 2 k and 2 k + 1 of this row are in rows of those numbers, in column `row`
        const std::uint32_t column = within(Opcode::lshr, row, 1);
        const std::uint32_t by = within(Opcode::shl, within(Opcode::and_, row, 1), 4);
        const auto half = [&](std::uint64_t element) {
          const std::uint32_t both = from_lane(held, within(Opcode::add, column, 4 * element));
          return within(Opcode::and_, binary(Opcode::lshr, w, both, by), 0xffff);
        };
        const std::uint32_t low = half(std::uint64_t{2} * k), high = half(std::uint64_t{2} * k + 1);
        mine = binary(Opcode::or_, w, low, within(Opcode::shl, high, 16));
      }
      word = m == 0 ? mine : selected(w, binary(Opcode::eq, w, matrix, constant(w, m)), mine, word);
    }
    emit(Opcode::move, w, words[k], word).to = w;
  }
  const std::uint32_t writes = binary(Opcode::ult, w, matrix, constant(w, what.repeat));
  const int counted = site(i, AccessKind::store, 0, 16);
  SimtInstruction& s = emit(Opcode::store, w, no_register, to.regs.at(0), words[0], writes);
  s.imm = to.displacement;
  s.extra = 4;
  s.alignment = 16;
  s.pointing = pointing(pointer);
  s.site = counted;
  note_element(pointer, ValueType::i16);
}

/// Row r of the transposed matrix: its elements are in column r, whose rows are held by four lanes each.
void Decoder::transpose_matrix(CallInst& i, const ptx::Instruction& what) {
  if (what.shape.m != 8 || what.shape.n != 8 || what.type() != ptx::Type::b16) unsupported(i, "this movmatrix");
  const ValueType w = ValueType::i32;
  const std::uint32_t lane = fresh(w), held = integer_operand(i, 0, w);
  emit(Opcode::lane_id, w, lane);
  const auto within = [&](Opcode op, std::uint32_t a, std::uint64_t n) { return binary(op, w, a, constant(w, n)); };
  const std::uint32_t row = within(Opcode::lshr, lane, 2), pair = within(Opcode::and_, lane, 3);
  const std::uint32_t by = within(Opcode::shl, within(Opcode::and_, row, 1), 4);
  const std::uint32_t first =
      binary(Opcode::add, w, within(Opcode::shl, pair, 3), within(Opcode::lshr, row, 1));  // lane of element 2 * pair
  const auto half = [&](std::uint32_t from) {
    return within(Opcode::and_, binary(Opcode::lshr, w, from_lane(held, from), by), 0xffff);
  };
  const std::uint32_t low = half(first), high = half(within(Opcode::add, first, 4));
  define(i, binary(Opcode::or_, w, low, within(Opcode::shl, high, 16)));
}

void Decoder::mbarrier(CallInst& i, const ptx::Instruction& what) {
  using ptx::Op;
  const ValueType w = ValueType::i32;
  if (what.op == Op::mbarrier_pending_count) {  // Mbarrier::state()
    const std::uint32_t pending = convert(Opcode::truncate, ValueType::i64, w, integer_operand(i, 0, ValueType::i64));
    return define(i, pending);
  }
  const auto operand = [&](unsigned n, ValueType t) {
    return i.arg_size() > n ? integer_operand(i, n, t) : no_register;
  };
  Value* pointer = i.getArgOperand(0);
  MbarrierOp op = MbarrierOp::arrive;
  std::int64_t flags = 0;
  std::uint32_t b = no_register, c = no_register;
  AccessKind kind = AccessKind::atomic;
  switch (what.op) {
    case Op::mbarrier_init:
      op = MbarrierOp::init;
      kind = AccessKind::store;
      b = operand(1, w);
      break;
    case Op::mbarrier_inval:
      op = MbarrierOp::invalidate;
      kind = AccessKind::store;
      break;
    case Op::mbarrier_expect_tx:
    case Op::mbarrier_complete_tx:
      op = what.op == Op::mbarrier_expect_tx ? MbarrierOp::expect : MbarrierOp::complete;
      b = operand(1, w);
      break;
    case Op::mbarrier_test_wait:
    case Op::mbarrier_try_wait: {
      const bool parity = what.has("parity");
      op = parity ? MbarrierOp::wait_parity : MbarrierOp::wait_state;
      kind = AccessKind::load;
      b = operand(1, parity ? w : ValueType::i64);
      break;
    }
    case Op::cp_async_mbarrier_arrive:
      op = MbarrierOp::arrive_copies;
      if (what.has("noinc")) flags = mbarrier_no_increment;
      break;
    default:
      if (what.op == Op::mbarrier_arrive_drop) flags = mbarrier_drops;
      (what.has("expect_tx") ? c : b) = operand(1, w);
      break;
  }
  const std::uint32_t address = materialised(value(pointer));
  const int counted = what.op == Op::cp_async_mbarrier_arrive ? -1 : site(i, kind, 0, 8);
  const bool gives = !i.getType()->isVoidTy();
  const std::uint32_t dst = gives ? fresh(type_of(i.getType())) : no_register;
  SimtInstruction& out = emit(Opcode::mbarrier, ValueType::i64, dst, address, b, c);
  out.imm = static_cast<std::int64_t>(op) | flags << 8;
  out.pointing = pointing(pointer);
  out.site = counted;
  if (gives) define(i, dst);
}

/// cp.async.bulk [to], [from], bytes, [mbarrier]; cp.async.bulk and cp.reduce.async.bulk [to], [from], bytes.
void Decoder::copy_in_bulk(CallInst& i, const ptx::Instruction& what) {
  if (what.has("multicast::cluster") || what.has("cp_mask")) unsupported(i, "'" + ptx_opcode(i) + "'");
  const ValueType w = ValueType::i32;
  const bool reduces = what.op == ptx::Op::cp_reduce_async_bulk;
  const bool with_mbarrier = what.has("mbarrier::complete_tx::bytes");
  if (reduces && with_mbarrier) unsupported(i, "'" + ptx_opcode(i) + "'");  // to another block of the cluster
  Value *to = i.getArgOperand(0), *from = i.getArgOperand(1);
  const std::uint32_t bytes = integer_operand(i, 2, w);
  ValueType element = w;
  AtomicOp combine = AtomicOp::exchange;
  if (reduces) {
    using ptx::Combine;
    const ptx::Type t = what.type();
    const bool real = t == ptx::Type::f32 || t == ptx::Type::f64 || t == ptx::Type::f16;
    if (t == ptx::Type::bf16) unsupported(i, "'" + ptx_opcode(i) + "'");
    element = t == ptx::Type::f32     ? ValueType::f32
              : t == ptx::Type::f64   ? ValueType::f64
              : t == ptx::Type::f16   ? ValueType::f16
              : ptx::bits_of(t) == 64 ? ValueType::i64
                                      : ValueType::i32;
    switch (what.combine) {
      case Combine::add:
        combine = real ? AtomicOp::fadd : AtomicOp::add;
        break;
      case Combine::min:
        combine = real ? AtomicOp::fmin : ptx::is_signed(t) ? AtomicOp::smin : AtomicOp::umin;
        break;
      case Combine::max:
        combine = real ? AtomicOp::fmax : ptx::is_signed(t) ? AtomicOp::smax : AtomicOp::umax;
        break;
      case Combine::and_:
        combine = AtomicOp::and_;
        break;
      case Combine::or_:
        combine = AtomicOp::or_;
        break;
      case Combine::xor_:
        combine = AtomicOp::xor_;
        break;
      case Combine::inc:
        combine = AtomicOp::wrap_inc;
        break;
      case Combine::dec:
        combine = AtomicOp::wrap_dec;
        break;
      default:
        unsupported(i, "'" + ptx_opcode(i) + "'");
    }
  }
  const std::uint32_t from_address = materialised(value(from)), to_address = materialised(value(to));
  const std::uint32_t mbarrier = with_mbarrier ? materialised(value(i.getArgOperand(3))) : no_register;
  const int read = site(i, AccessKind::load, 0, 1),
            written = site(i, reduces ? AccessKind::atomic : AccessKind::store, 0, 1);
  SimtInstruction& r = emit(Opcode::bulk_read, w, no_register, from_address, no_register, bytes);
  r.pointing = pointing(from);
  r.alignment = 16;
  r.site = read;
  SimtInstruction& s = emit(Opcode::bulk_write, element, no_register, to_address, mbarrier, bytes);
  s.imm = static_cast<std::int64_t>(reduces         ? BulkOp::reduce
                                    : with_mbarrier ? BulkOp::to_mbarrier
                                                    : BulkOp::to_group) |
          static_cast<std::int64_t>(combine) << 8;
  s.pointing = pointing(to);
  s.alignment = 16;
  s.site = written;
  if (reduces) note_element(to, element);
}

/// Bit fields whose place and length are registers, of which PTX takes the lowest eight bits: bfi d, a, b, at, length.
/// Shifts by the width and more are not left to the shift.
void Decoder::insert_bits(CallInst& i) {
  const std::uint32_t dst = result(i);
  const ValueType t = program_.registers[dst], w = ValueType::i32;
  const std::uint32_t a = integer_operand(i, 0, t), into = integer_operand(i, 1, t);
  const std::uint32_t width = constant(w, 8 * static_cast<std::uint64_t>(size_of(t)));
  const std::uint32_t ones = constant(t, ~std::uint64_t{0}), nothing = constant(t, 0), zero = constant(w, 0);
  const auto byte = [&](std::uint32_t v) { return binary(Opcode::and_, w, v, constant(w, 255)); };
  const std::uint32_t at = byte(integer_operand(i, 2, w)), length = byte(integer_operand(i, 3, w));
  const std::uint32_t is_short = binary(Opcode::ult, w, length, width);
  const std::uint32_t by = convert(Opcode::zero_extend, w, t, selected(w, is_short, length, zero));
  const std::uint32_t low = binary(Opcode::xor_, t, binary(Opcode::shl, t, ones, by), ones);
  const std::uint32_t mask = selected(t, is_short, low, ones);
  const std::uint32_t is_inside = binary(Opcode::ult, w, at, width);
  const std::uint32_t up = convert(Opcode::zero_extend, w, t, selected(w, is_inside, at, zero));
  const auto moved = [&](std::uint32_t v) { return selected(t, is_inside, binary(Opcode::shl, t, v, up), nothing); };
  const std::uint32_t field = moved(binary(Opcode::and_, t, a, mask));
  const std::uint32_t around = binary(Opcode::and_, t, into, binary(Opcode::xor_, t, moved(mask), ones));
  emit(Opcode::or_, t, dst, field, around);
}

/// bfe d, a, at, length: behind the last bit come zeros or copies of the sign, which is the field's last bit or a's.
void Decoder::extract_bits(CallInst& i, bool is_signed) {
  const std::uint32_t dst = result(i);
  const ValueType t = program_.registers[dst], w = ValueType::i32;
  const std::uint32_t a = integer_operand(i, 0, t);
  const std::uint64_t bits = 8 * static_cast<std::uint64_t>(size_of(t));
  const std::uint32_t width = constant(w, bits), last = constant(w, bits - 1);
  const auto byte = [&](std::uint32_t v) { return binary(Opcode::and_, w, v, constant(w, 255)); };
  const auto wide = [&](std::uint32_t v) { return convert(Opcode::zero_extend, w, t, v); };
  const std::uint32_t at = byte(integer_operand(i, 1, w)), length = byte(integer_operand(i, 2, w));
  const std::uint32_t nothing = constant(t, 0), zero = constant(w, 0);
  const std::uint32_t end = binary(Opcode::add, w, at, length);
  const std::uint32_t is_within = binary(Opcode::ult, w, end, width);  // the field has an upper end
  const std::uint32_t up = wide(selected(w, is_within, binary(Opcode::sub, w, width, end), zero));
  const std::uint32_t field = binary(Opcode::shl, t, a, up);
  // To the bottom: by all bits above the field, or from where the number ends.
  const std::uint32_t away = selected(w, is_within, binary(Opcode::sub, w, width, length), at);
  const std::uint32_t down = binary(Opcode::umin, w, away, last);
  const std::uint32_t shifted = binary(is_signed ? Opcode::ashr : Opcode::lshr, t, field, wide(down));
  std::uint32_t is_nothing = binary(Opcode::eq, w, length, zero);
  if (!is_signed) is_nothing = binary(Opcode::or_, ValueType::i1, is_nothing, binary(Opcode::uge, w, at, width));
  emit(Opcode::select, t, dst, is_nothing, nothing, shifted);
}

/// bfe, bfi, lop3, dp4a, testp as they are written in PTX.
bool Decoder::ptx_bits(CallInst& i, const ptx::Instruction& what) {
  const auto arg = [&](unsigned n) { return one(i.getArgOperand(n)); };
  const ValueType w = ValueType::i32;
  switch (what.op) {
    case ptx::Op::bfe:
      extract_bits(i, ptx::is_signed(what.type()));
      return true;
    case ptx::Op::bfi:
      insert_bits(i);
      return true;
    case ptx::Op::testp: {
      const unsigned classes = what.has("finite")       ? llvm::fcFinite
                               : what.has("infinite")   ? llvm::fcInf
                               : what.has("number")     ? llvm::fcAllFlags & ~llvm::fcNan
                               : what.has("notanumber") ? llvm::fcNan
                               : what.has("normal")     ? llvm::fcNormal
                               : what.has("subnormal")  ? llvm::fcSubnormal
                                                        : llvm::fcNone;
      const std::uint32_t a = arg(0);
      emit(Opcode::classify, program_.registers[a], result(i), a).imm = classes;
      return classes != llvm::fcNone;
    }
    case ptx::Op::lop3: {
      const auto* table = dyn_cast<ConstantInt>(i.getArgOperand(3));
      if (!table) return false;
      const std::uint32_t in[3] = {integer_operand(i, 0, w), integer_operand(i, 1, w), integer_operand(i, 2, w)};
      std::uint32_t all = constant(w, 0);
      for (unsigned row = 0; row < 8; ++row) {
        if (!(table->getZExtValue() >> row & 1)) continue;
        std::uint32_t term = no_register;
        for (unsigned k = 0; k < 3; ++k) {
          std::uint32_t v = in[k];
          if (!(row >> (2 - k) & 1)) v = binary(Opcode::xor_, w, v, constant(w, 0xffffffff));
          term = k == 0 ? v : binary(Opcode::and_, w, term, v);
        }
        all = binary(Opcode::or_, w, all, term);
      }
      define(i, all);
      return true;
    }
    case ptx::Op::dp4a:
    case ptx::Op::dp2a:
    case ptx::Op::vabsdiff4: {
      const bool differences = what.op == ptx::Op::vabsdiff4, halves = what.op == ptx::Op::dp2a;
      if (differences && (what.types[0] != ptx::Type::u32 || what.types[1] != ptx::Type::u32)) return false;
      const bool adds = !differences || what.has("add");
      const std::uint32_t a = integer_operand(i, 0, w), b = integer_operand(i, 1, w);
      std::uint32_t sum = integer_operand(i, 2, w);
      const auto part = [&](std::uint32_t word, unsigned k, std::uint64_t bits, bool is_signed) {
        const std::uint32_t dst = fresh(w);
        emit(is_signed ? Opcode::bit_extract_s : Opcode::bit_extract_u, w, dst, word, constant(w, bits * k),
             constant(w, bits));
        return dst;
      };
      const unsigned first = halves && what.has("hi") ? 2 : 0;  // the bytes of b that take part
      for (unsigned k = 0; k < (halves ? 2U : 4U); ++k) {
        const std::uint32_t x = part(a, k, halves ? 16 : 8, !differences && ptx::is_signed(what.types[0]));
        const std::uint32_t y = part(b, first + k, 8, !differences && ptx::is_signed(what.types[1]));
        std::uint32_t term = binary(Opcode::mul, w, x, y);
        if (differences) term = binary(Opcode::sub, w, binary(Opcode::umax, w, x, y), binary(Opcode::umin, w, x, y));
        if (!adds) term = binary(Opcode::shl, w, term, constant(w, std::uint64_t{8} * k));
        sum = binary(Opcode::add, w, sum, term);
      }
      define(i, sum);
      return true;
    }
    case ptx::Op::cvt: {
      if (what.types[0] != ptx::Type::tf32 || what.types[1] != ptx::Type::f32) return false;
      // Ten bits of mantissa: to the nearest, ties away from zero.
      const std::uint32_t bits = fresh(w);
      emit(Opcode::move, ValueType::f32, bits, arg(0)).to = w;
      const std::uint32_t up = binary(Opcode::add, w, bits, constant(w, 0x1000));
      define(i, binary(Opcode::and_, w, up, constant(w, 0xffffe000)));
      return true;
    }
    case ptx::Op::tanh: {
      const std::uint32_t a = arg(0);
      if (program_.registers[a] != ValueType::f32) return false;
      define(i, math(MathFunction::tanh, ValueType::f32, a));
      return true;
    }
    default:
      return false;
  }
}

void Decoder::ptx_call(CallInst& i) {
  using ptx::Op;
  const ptx::Instruction what = *ptx_instruction(i);
  switch (what.op) {
    case Op::cp_async:
      return copy_async(i);
    case Op::ldmatrix:
      return load_matrix(i, what);
    case Op::stmatrix:
      return store_matrix(i, what);
    case Op::movmatrix:
      return transpose_matrix(i, what);
    case Op::mma:
      return matrix_product(i, what);
    case Op::cp_async_commit_group:
      return copy_group(i, CopyGroup::commit);
    case Op::cp_async_wait_group:
      return copy_group(i, CopyGroup::wait);
    case Op::cp_async_wait_all:
      return copy_group(i, CopyGroup::wait_all);
    case Op::cp_async_bulk_commit_group:
      return copy_group(i, CopyGroup::bulk_commit);
    case Op::cp_async_bulk_wait_group:
      return copy_group(i, CopyGroup::bulk_wait);
    case Op::cp_async_bulk:
    case Op::cp_reduce_async_bulk:
      return copy_in_bulk(i, what);
    case Op::mbarrier_init:
    case Op::mbarrier_inval:
    case Op::mbarrier_expect_tx:
    case Op::mbarrier_complete_tx:
    case Op::mbarrier_arrive:
    case Op::mbarrier_arrive_drop:
    case Op::mbarrier_test_wait:
    case Op::mbarrier_try_wait:
    case Op::mbarrier_pending_count:
    case Op::cp_async_mbarrier_arrive:
      return mbarrier(i, what);
    case Op::barrier_arrive: {
      const std::uint32_t number = integer_operand(i, 0, ValueType::i32);
      const std::uint32_t threads = integer_operand(i, 1, ValueType::i32);
      emit(Opcode::barrier_arrive, ValueType::i32, no_register, no_register, number, threads);
      return;
    }
    case Op::elect: {
      const ValueType w = ValueType::i32;
      const std::uint32_t active = fresh(w), lane = fresh(w), first = fresh(w);
      emit(Opcode::active_mask, w, active);
      emit(Opcode::lane_id, w, lane);
      emit(Opcode::count_trailing_zeros, w, first, binary(Opcode::and_, w, active, integer_operand(i, 0, w)));
      const std::uint32_t is_first = binary(Opcode::eq, w, lane, first);
      Slots out;
      for (ValueType t : types_of(i.getType())) out.regs.push_back(t == ValueType::i1 ? is_first : first);
      return define(i, std::move(out));
    }
    case Op::fence:
    case Op::fence_proxy:
    case Op::fence_mbarrier_init:
    case Op::membar:
    case Op::membar_proxy:
    case Op::prefetch:
    case Op::prefetchu:
    case Op::cp_async_bulk_prefetch:
    case Op::cp_async_bulk_prefetch_tensor:
    case Op::griddepcontrol:
    case Op::setmaxnreg:
    case Op::applypriority:
    case Op::discard:
    case Op::pmevent:
      return;
    default:
      if (narrow_floats(i, what) || ptx_bits(i, what)) return;
      unsupported(i, "the instruction '" + ptx_opcode(i) + "'");
  }
}

}  // namespace kernelcast::frontend
