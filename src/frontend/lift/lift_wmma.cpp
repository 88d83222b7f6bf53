// wmma.load and wmma.store as loads and stores of the lanes. Which element a register of a fragment holds is not
// defined; ptxas takes the layout of mma.sync on sm_75 and later, and so does this. It is the same as that of
// headers/mma.h, where the terms are explained: "long" operands have 16 rows of a tile, lane l has row l / 4 and column
// pair l % 4 of each 8 x 8 tile, halves that lie across are transposed behind the load.
#include "frontend/lift/lifter.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

struct FragmentShape {
  int m, n, k;
  [[nodiscard]] bool square() const { return m == 16 && n == 16; }
  [[nodiscard]] bool small() const { return m == 8 && n == 8; }
  [[nodiscard]] bool transposed() const { return m == 8 && n == 32; }
  [[nodiscard]] int long_tiles() const { return square() || small() ? 1 : 2; }
  [[nodiscard]] int short_tiles() const { return square() ? 2 : 1; }
};

FragmentShape shape_of(const ptx::Instruction& i) {
  return {static_cast<int>(i.shape.m), static_cast<int>(i.shape.n), static_cast<int>(i.shape.k)};
}

}  // namespace

/// Address and strides of a fragment in memory.
struct Lifter::Fragment {
  Value* base = nullptr;
  Value *row = nullptr, *pair = nullptr, *stride = nullptr;  // l / 4, l % 4, elements from row to row
  int bits = 0;
};

Lifter::Fragment Lifter::fragment(const Instruction& i, std::size_t address, std::size_t stride, int natural_stride) {
  Fragment f;
  f.base = pointer(i.operands.at(address), i.space());
  f.bits = static_cast<int>(ptx::bits_of(i.type()));
  Value* lane = b_.CreateZExt(b_.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_laneid, {}, {}), b_.getInt64Ty());
  f.row = b_.CreateLShr(lane, 2);
  f.pair = b_.CreateAnd(lane, 3);
  f.stride = i.operands.size() > stride ? b_.CreateSExt(read(i.operands[stride], ptx::Type::b32), b_.getInt64Ty())
                                        : static_cast<Value*>(b_.getInt64(static_cast<std::uint64_t>(natural_stride)));
  return f;
}

/// At `line` strides and `within` elements.
Value* Lifter::element_of(const Fragment& f, Value* line, Value* within) {
  Value* elements = b_.CreateNSWAdd(b_.CreateNSWMul(line, f.stride), within);
  Value* bytes = f.bits >= 8 ? b_.CreateNSWMul(elements, b_.getInt64(static_cast<std::uint64_t>(f.bits / 8)))
                             : b_.CreateAShr(elements, f.bits == 4 ? 1 : 3);
  return b_.CreateGEP(b_.getInt8Ty(), f.base, bytes);
}

bool Lifter::wmma(const Instruction& i) {
  if (i.op == ptx::Op::wmma_store) return move_accumulator(i);
  if (i.op != ptx::Op::wmma_load) return false;
  return i.has("c") ? move_accumulator(i) : load_operand(i);
}

bool Lifter::load_operand(const Instruction& i) {
  const FragmentShape s = shape_of(i);
  if (i.operands.size() < 2 || i.operands[0].kind != ptx::OperandKind::vector || s.m == 0) return false;
  const bool is_b = i.has("b"), is_long = is_b == s.transposed(), along_k = is_b != i.has("row");
  const Fragment f = fragment(i, 1, 2, along_k ? s.k : is_b ? s.n : s.m);
  const int each = f.bits < 32 ? 32 / f.bits : 1, halves = is_long && !s.small() ? 2 : 1;
  const int tiles = is_long ? s.long_tiles() : s.short_tiles(), parts = f.bits == 64 ? 1 : s.k / (4 * each);
  const auto number = [&](int n) { return b_.getInt64(static_cast<std::uint64_t>(n)); };
  const auto at = [&](Value* v, int n, int times = 1) {
    return b_.CreateNSWAdd(b_.CreateNSWMul(v, number(times)), number(n));
  };
  const auto load = [&](Value* line, Value* within, Type* type) -> Value* {
    return b_.CreateAlignedLoad(type, element_of(f, line, within), Align(type->getPrimitiveSizeInBits() / 8));
  };
  Type* const word = b_.getInt32Ty();
  std::vector<Value*> registers;
  for (int tile = 0; tile < tiles; ++tile)
    for (int part = 0; part < parts; ++part)
      for (int half = 0; half < halves; ++half) {
        const int row0 = tile * 8 * halves + half * 8;
        Value* const row = at(f.row, row0);
        if (f.bits == 64) {
          registers.push_back(along_k ? load(row, f.pair, b_.getDoubleTy()) : load(f.pair, row, b_.getDoubleTy()));
        } else if (along_k || f.bits < 8) {
          registers.push_back(load(row, at(f.pair, part * 4 * each, each), word));
        } else if (f.bits == 16) {
          registers.push_back(load(at(f.row, part * 8), at(f.pair, row0, 2), word));
        } else if (f.bits == 32) {
          registers.push_back(load(at(f.pair, part * 4), row, word));
        } else {
          Value* all = nullptr;
          for (int j = 0; j < 4; ++j) {
            Value* byte = b_.CreateZExt(load(at(f.pair, part * 16 + j, 4), row, b_.getInt8Ty()), word);
            if (j) byte = b_.CreateShl(byte, 8 * j);
            all = all ? b_.CreateOr(all, byte) : byte;
          }
          registers.push_back(all);
        }
      }
  const auto& results = i.operands[0].elements;  // on sm_70 halves have each element twice
  for (std::size_t k = 0; k < results.size(); ++k) write(results[k], registers[k % registers.size()]);
  return true;
}

/// wmma.load.c and wmma.store.d.
bool Lifter::move_accumulator(const Instruction& i) {
  const bool stores = i.op == ptx::Op::wmma_store;
  const FragmentShape s = shape_of(i);
  const Operand& list = i.operands.at(stores ? 1 : 0);
  if (list.kind != ptx::OperandKind::vector || s.m == 0) return false;
  const bool row_major = i.has("row"), pairs = row_major != s.transposed();
  const Fragment f = fragment(i, stores ? 0 : 1, 2, row_major ? s.n : s.m);
  const int rows = s.small() ? 1 : 2, packed = f.bits == 16 ? 2 : 1;
  const auto elements = static_cast<std::size_t>(s.long_tiles() * s.short_tiles() * rows * 2);
  if (list.elements.size() * static_cast<std::size_t>(packed) != elements) return false;
  Type* const one = b_.getIntNTy(static_cast<unsigned>(f.bits));
  Type* const two = b_.getIntNTy(static_cast<unsigned>(2 * f.bits));
  const auto of_register = [&](std::size_t k) { return as_integer(read_register(list.elements.at(k).index)); };
  for (const Operand& e : list.elements)
    if (e.kind != ptx::OperandKind::reg) return false;
  std::size_t index = 0;
  for (int l = 0; l < s.long_tiles(); ++l)
    for (int t = 0; t < s.short_tiles(); ++t)
      for (int h = 0; h < rows; ++h, index += 2) {
        Value* row = b_.CreateNSWAdd(f.row, b_.getInt64(static_cast<std::uint64_t>(l * 8 * rows + h * 8)));
        Value* column =
            b_.CreateNSWAdd(b_.CreateNSWMul(f.pair, b_.getInt64(2)), b_.getInt64(static_cast<std::uint64_t>(t * 8)));
        Value* next = b_.CreateNSWAdd(column, b_.getInt64(1));
        const auto place = [&](Value* c) { return pairs ? element_of(f, row, c) : element_of(f, c, row); };
        const Align align(static_cast<std::uint64_t>(f.bits / 8) * (pairs ? 2 : 1));
        const auto shift = static_cast<std::uint64_t>(f.bits);
        if (stores) {
          Value* first = packed == 2 ? of_register(index / 2) : of_register(index);
          Value* both = packed == 2 ? first
                                    : b_.CreateOr(b_.CreateZExt(first, two),
                                                  b_.CreateShl(b_.CreateZExt(of_register(index + 1), two), shift));
          if (pairs) {
            b_.CreateAlignedStore(both, place(column), align);
          } else {
            b_.CreateAlignedStore(b_.CreateTrunc(both, one), place(column), align);
            b_.CreateAlignedStore(b_.CreateTrunc(b_.CreateLShr(both, shift), one), place(next), align);
          }
          continue;
        }
        Value* both = nullptr;
        if (pairs) {
          both = b_.CreateAlignedLoad(two, place(column), align);
        } else {
          both = b_.CreateZExt(b_.CreateAlignedLoad(one, place(column), align), two);
          Value* other = b_.CreateZExt(b_.CreateAlignedLoad(one, place(next), align), two);
          both = b_.CreateOr(both, b_.CreateShl(other, shift));
        }
        if (packed == 2) {
          write(list.elements[index / 2], both);
        } else {
          write(list.elements[index], b_.CreateTrunc(both, one));
          write(list.elements[index + 1], b_.CreateTrunc(b_.CreateLShr(both, shift), one));
        }
      }
  return true;
}

}  // namespace kernelcast::frontend
