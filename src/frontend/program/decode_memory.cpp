// Loads, stores and atomics. Parameters that are passed by value are memory here; the profile does not count them.
#include <algorithm>
#include <bit>
#include "frontend/ir/builtins.h"

#include "frontend/program/decode_internal.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"

namespace kernelcast::frontend {

using namespace llvm;

Pointing Decoder::pointing(Value* pointer) const {
  const unsigned space = pointer->getType()->getPointerAddressSpace();
  return space == 3 ? Pointing::shared : space == 5 ? Pointing::stack : Pointing::generic;
}

void Decoder::gep(GEPOperator& g, Value& into) {
  if (g.getType()->isVectorTy()) throw LimitError("vectors of pointers cannot be executed");
  Slots at = value(g.getPointerOperand());
  for (auto step = gep_type_begin(&g), end = gep_type_end(&g); step != end; ++step) {
    Value* index = step.getOperand();
    if (StructType* s = step.getStructTypeOrNull()) {
      const auto field = static_cast<unsigned>(llvm::cast<ConstantInt>(index)->getZExtValue());
      at.displacement += static_cast<std::int64_t>(layout_.getStructLayout(s)->getElementOffset(field).getFixedValue());
      continue;
    }
    const auto size = static_cast<std::int64_t>(step.getSequentialElementStride(layout_).getFixedValue());
    if (auto* n = dyn_cast<ConstantInt>(index)) {
      at.displacement += n->getSExtValue() * size;
      continue;
    }
    const std::uint32_t i = signed_view(index, one(index));
    const std::uint32_t dst = fresh(ValueType::i64);
    emit(Opcode::address, program_.registers[i], dst, at.regs[0], i).imm = size;
    at.regs[0] = dst;
  }
  define(into, std::move(at));
}

/// The part of the instruction that stands at [from, to) bytes as one counted access; -1 when the profile has none.
int Decoder::site(llvm::Instruction& i, AccessKind kind, int from, int to) {
  auto it = places_.accesses.find(&i);
  if (it == places_.accesses.end()) return -1;
  const ProgramBlock& block = program_.blocks[static_cast<std::size_t>(current_)];
  if (block.profile_block < 0) return -1;
  const auto& counted = profile_.blocks[static_cast<std::size_t>(block.profile_block)].accesses;
  AccessSite s;
  s.line = line_;
  s.kind = kind;
  for (const AccessPlace& p : it->second) {
    if (p.kind != kind || p.at < from || p.at >= to) continue;
    if (p.block >= 0) {
      const Access& a = profile_.blocks[static_cast<std::size_t>(p.block)].accesses[static_cast<std::size_t>(p.access)];
      s.space = a.space;
      s.buffer = a.buffer;
      s.pieces.push_back({first_access_[static_cast<std::size_t>(p.block)] + p.access, -1, p.at - from, p.bytes});
      continue;
    }
    const Access& a = counted[static_cast<std::size_t>(p.access)];
    s.space = a.space;
    s.buffer = a.buffer;
    const int last = block.last_block < 0 ? -1 : first_access_[static_cast<std::size_t>(block.last_block)] + p.access;
    s.pieces.push_back(
        {first_access_[static_cast<std::size_t>(block.profile_block)] + p.access, last, p.at - from, p.bytes});
  }
  if (s.pieces.empty()) return -1;
  program_.sites.push_back(std::move(s));
  return static_cast<int>(program_.sites.size()) - 1;
}

void Decoder::note_element(Value* pointer, ValueType type) {
  int buffer = -1;
  try {
    buffer = model_.address(pointer).buffer;
  } catch (const Error&) {  // the address leaves 64 bits: no vote
  }
  if (buffer >= 0) ++element_votes_[static_cast<std::size_t>(buffer)][type];
}

namespace {

/// SimtInstruction::alignment of an access to `count` elements: what the code says, up to their size in all.
std::uint8_t alignment_in(Align known, ValueType element, std::size_t count) {
  constexpr std::uint64_t most = 64;
  const auto size = static_cast<std::uint64_t>(size_of(element));
  const std::uint64_t whole = std::min(most, size * std::bit_floor(static_cast<std::uint64_t>(count)));
  const std::uint64_t wanted = std::min(known.value(), whole);
  return wanted == size ? 0 : static_cast<std::uint8_t>(wanted);
}

}  // namespace

/// Whether the value is used in its own block by something that is not done on a guess: a shift or a load of private
/// memory may have been moved in front of the condition that it stands under, and then a select or another block takes
/// its result. What an edge takes along counts as used.
bool Decoder::needed_where_computed(const llvm::Instruction& i) {
  std::vector<const llvm::Instruction*> open{&i};
  SmallPtrSet<const llvm::Instruction*, 16> seen;
  while (!open.empty()) {
    const llvm::Instruction* from = open.back();
    open.pop_back();
    for (const User* u : from->users()) {
      const auto* user = dyn_cast<llvm::Instruction>(u);
      if (user == nullptr || !seen.insert(user).second) continue;
      if (const auto* phi = dyn_cast<PHINode>(user)) {
        if (phi->getBasicBlockIndex(i.getParent()) >= 0 && from == &i) return true;
        continue;
      }
      if (user->getParent() != i.getParent()) continue;
      if (const auto* choice = dyn_cast<SelectInst>(user); choice != nullptr && choice->getCondition() != from)
        continue;
      if (user->isTerminator() || !isSafeToSpeculativelyExecute(user)) return true;
      open.push_back(user);
    }
  }
  return false;
}

void Decoder::load(LoadInst& i) { load_from(i, i.getPointerOperand(), i.getType()); }

void Decoder::load_from(llvm::Instruction& i, Value* pointer, Type* type) {
  if (auto place = model_.parameter_place(pointer)) {
    // What a by-value parameter holds is known by name.
    const auto& [parameter, at] = *place;
    const auto add = [&](std::int64_t byte, ValueType t, bool is_pointer) {
      const std::string name = profile_.parameters[parameter->getArgNo()].name + "+" + std::to_string(byte);
      for (const ParameterField& f : program_.fields)
        if (f.parameter == static_cast<int>(parameter->getArgNo()) && f.at == byte) return;
      program_.fields.push_back({static_cast<int>(parameter->getArgNo()), byte, t, name, is_pointer});
    };
    std::int64_t byte = at;
    if (auto* s = dyn_cast<StructType>(type)) {
      for (unsigned k = 0; k < s->getNumElements(); ++k)
        add(at + static_cast<std::int64_t>(layout_.getStructLayout(s)->getElementOffset(k).getFixedValue()),
            type_of(s->getElementType(k)), s->getElementType(k)->isPointerTy());
    } else {
      for (ValueType t : types_of(type)) {
        add(byte, t, type->isPointerTy());
        byte += size_of(t);
      }
    }
  }
  const auto* owner = dyn_cast<Argument>(getUnderlyingObject(pointer));
  if (owner && (owner->hasByValAttr() || owner->hasByRefAttr()) && !model_.parameter_place(pointer)) {
    // The index is computed: any field may be read.
    Type* whole = owner->hasByValAttr() ? owner->getParamByValType() : owner->getParamByRefType();
    const auto types = types_of(whole);
    const auto places = places_of(whole);
    const int number = static_cast<int>(owner->getArgNo());
    for (std::size_t k = 0; k < types.size(); ++k) {
      const auto same = [&](const ParameterField& f) { return f.parameter == number && f.at == places[k]; };
      if (std::any_of(program_.fields.begin(), program_.fields.end(), same)) continue;
      program_.fields.push_back({number, places[k], types[k],
                                 profile_.parameters[owner->getArgNo()].name + "+" + std::to_string(places[k]), false});
    }
  }
  const Slots at = value(pointer);
  // Runs of equal elements that follow each other in memory are one instruction.
  struct Part {
    ValueType type;
    std::int64_t at;
  };
  std::vector<Part> parts;
  auto collect = [&](auto&& self, Type* t, std::int64_t base) -> void {
    if (auto* s = dyn_cast<StructType>(t)) {
      for (unsigned k = 0; k < s->getNumElements(); ++k)
        self(self, s->getElementType(k),
             base + static_cast<std::int64_t>(layout_.getStructLayout(s)->getElementOffset(k).getFixedValue()));
    } else if (auto* a = dyn_cast<ArrayType>(t)) {
      for (std::uint64_t k = 0; k < a->getNumElements(); ++k)
        self(self, a->getElementType(),
             base + static_cast<std::int64_t>(k * layout_.getTypeAllocSize(a->getElementType()).getFixedValue()));
    } else {
      std::int64_t offset = base;
      for (ValueType e : types_of(t)) {
        parts.push_back({e, offset});
        offset += size_of(e);
      }
    }
  };
  collect(collect, type, 0);
  const bool odd = width_of(type) != 0;
  Slots out;
  const int whole = static_cast<int>(layout_.getTypeStoreSize(type).getFixedValue());
  for (std::size_t k = 0; k < parts.size();) {
    std::size_t n = 1;
    while (k + n < parts.size() && parts[k + n].type == parts[k].type &&
           parts[k + n].at == parts[k].at + static_cast<std::int64_t>(n) * size_of(parts[k].type))
      ++n;
    std::uint32_t first = no_register;
    for (std::size_t e = 0; e < n; ++e) {
      const std::uint32_t reg = fresh(parts[k].type);
      if (e == 0) first = reg;
      out.regs.push_back(reg);
    }
    const int end = k + n < parts.size() ? static_cast<int>(parts[k + n].at) : whole;
    const int counted = site(i, AccessKind::load, static_cast<int>(parts[k].at), end);
    SimtInstruction& l = emit(Opcode::load, parts[k].type, first, at.regs[0]);
    l.imm = at.displacement + parts[k].at;
    l.extra = static_cast<std::uint16_t>(n);
    l.pointing = pointing(pointer);
    l.site = counted;
    if (auto* load = dyn_cast<LoadInst>(&i))
      l.alignment = alignment_in(commonAlignment(load->getAlign(), static_cast<std::uint64_t>(parts[k].at)), l.type, n);
    l.checked = needed_where_computed(i);
    l.synchronises = i.isVolatile() || i.isAtomic();
    k += n;
  }
  if (odd)
    for (std::uint32_t r : out.regs) trim(type, r);
  if (!parts.empty()) note_element(pointer, parts[0].type);
  define(i, std::move(out));
}

void Decoder::store(StoreInst& i) { store_to(i, i.getPointerOperand(), i.getValueOperand()); }

void Decoder::store_to(llvm::Instruction& i, Value* pointer, Value* v) {
  Slots s = value(v);
  if (s.displacement != 0) s = Slots{{materialised(s)}, 0};
  const Slots at = value(pointer);
  auto* structure = dyn_cast<StructType>(v->getType());
  if (structure || isa<ArrayType>(v->getType())) unsupported(i, "a store of a whole structure");
  const ValueType t = program_.registers[s.regs.at(0)];
  bool in_line = true;
  for (std::size_t k = 1; k < s.regs.size(); ++k) in_line = in_line && s.regs[k] == s.regs[0] + k;
  if (!in_line) {
    std::vector<std::uint32_t> row;
    for (std::size_t k = 0; k < s.regs.size(); ++k) row.push_back(fresh(t));
    for (std::size_t k = 0; k < s.regs.size(); ++k) emit(Opcode::move, t, row[k], s.regs[k]);
    s.regs = row;
  }
  const int counted =
      site(i, AccessKind::store, 0, static_cast<int>(layout_.getTypeStoreSize(v->getType()).getFixedValue()));
  SimtInstruction& out = emit(Opcode::store, t, no_register, at.regs[0], s.regs[0]);
  out.imm = at.displacement;
  out.extra = static_cast<std::uint16_t>(s.regs.size());
  out.pointing = pointing(pointer);
  out.site = counted;
  if (auto* store = dyn_cast<StoreInst>(&i)) out.alignment = alignment_in(store->getAlign(), t, s.regs.size());
  note_element(pointer, t);
}

void Decoder::store_register(llvm::Instruction&, Value* pointer, ValueType type, std::uint32_t reg) {
  const Slots at = value(pointer);
  SimtInstruction& out = emit(Opcode::store, type, no_register, at.regs[0], reg);
  out.imm = at.displacement;
  out.pointing = pointing(pointer);
}

void Decoder::atomic(llvm::Instruction& i, AtomicOp op, Value* pointer, Value* operand, Value* compare) {
  const Slots at = value(pointer);
  const std::uint32_t b = one(operand), c = compare ? one(compare) : no_register;
  const ValueType t = program_.registers[b];
  const std::uint32_t address = materialised(at);
  const int counted = site(i, AccessKind::atomic, 0, 1 << 20);
  const std::uint32_t old = fresh(t);
  const bool looks = !i.use_empty();
  SimtInstruction& out = emit(Opcode::atomic, t, old, address, b, c);
  out.imm = static_cast<std::int64_t>(op);
  out.synchronises = looks;
  out.pointing = pointing(pointer);
  out.site = counted;
  note_element(pointer, t);
  if (!compare) return define(i, old);
  const std::uint32_t same = binary(Opcode::eq, is_float(t) ? ValueType::i64 : t, old, c);
  define(i, Slots{{old, same}, 0});
}

void Decoder::copy(MemTransferInst& i) {
  auto* n = dyn_cast<ConstantInt>(i.getLength());
  if (!n || n->getZExtValue() > 4096) unsupported(i, "a copy of memory of variable or large size");
  const auto bytes = static_cast<int>(n->getZExtValue());
  const Slots from = value(i.getSource()), to = value(i.getDest());
  struct Piece {
    int at, count;
    ValueType type;
    std::uint32_t first;
  };
  // As the profile counts it: pieces of the largest power of two up to 16 bytes, then what is left in smaller ones.
  std::vector<Piece> pieces;
  int unit = 1;
  while (unit < 16 && unit * 2 <= bytes) unit *= 2;
  for (int at = 0; at < bytes; at += unit) {
    const int here = std::min(unit, bytes - at);
    for (int part = 0; part < here;) {
      int size = 8;
      while (size > here - part) size /= 2;
      const ValueType t = size == 8   ? ValueType::i64
                          : size == 4 ? ValueType::i32
                          : size == 2 ? ValueType::i16
                                      : ValueType::i8;
      const int count = size == 8 ? (here - part) / 8 : 1;
      Piece p{at + part, count, t, no_register};
      for (int k = 0; k < count; ++k) {
        const std::uint32_t reg = fresh(t);
        if (k == 0) p.first = reg;
      }
      pieces.push_back(p);
      part += size * count;
    }
  }
  auto move = [&](const Piece& p, bool loading) {
    const int counted = p.at % unit == 0 ? site(i, loading ? AccessKind::load : AccessKind::store, p.at, p.at + 1) : -1;
    const Slots& at = loading ? from : to;
    SimtInstruction& out = loading ? emit(Opcode::load, p.type, p.first, at.regs[0])
                                   : emit(Opcode::store, p.type, no_register, at.regs[0], p.first);
    out.imm = at.displacement + p.at;
    out.extra = static_cast<std::uint16_t>(p.count);
    out.pointing = pointing(loading ? i.getSource() : i.getDest());
    out.site = counted;
    const Align align = (loading ? i.getSourceAlign() : i.getDestAlign()).valueOrOne();
    out.alignment = alignment_in(commonAlignment(align, static_cast<std::uint64_t>(p.at)), p.type, 1);
  };
  for (const Piece& p : pieces) move(p, true);
  for (const Piece& p : pieces) move(p, false);
}

void Decoder::fill(MemSetInst& i) {
  auto* n = dyn_cast<ConstantInt>(i.getLength());
  if (!n || n->getZExtValue() > 65536) unsupported(i, "a fill of memory of variable or large size");
  const auto bytes = static_cast<int>(n->getZExtValue());
  const Slots to = value(i.getDest());
  const std::uint32_t byte = one(i.getValue());
  std::uint32_t wide = convert(Opcode::zero_extend, ValueType::i8, ValueType::i64, byte);
  wide = binary(Opcode::mul, ValueType::i64, wide, constant(ValueType::i64, 0x0101010101010101));
  const std::uint32_t pair = fresh(ValueType::i64);
  const std::uint32_t second = fresh(ValueType::i64);
  emit(Opcode::move, ValueType::i64, pair, wide);
  emit(Opcode::move, ValueType::i64, second, wide);
  int unit = 1;
  while (unit < 16 && unit * 2 <= bytes) unit *= 2;
  for (int at = 0; at < bytes;) {
    int size = unit;
    while (size > bytes - at) size /= 2;
    const ValueType t = size >= 8   ? ValueType::i64
                        : size == 4 ? ValueType::i32
                        : size == 2 ? ValueType::i16
                                    : ValueType::i8;
    const std::uint32_t reg = t == ValueType::i64 ? pair : convert(Opcode::truncate, ValueType::i64, t, pair);
    const int counted = at % unit == 0 ? site(i, AccessKind::store, at, at + 1) : -1;
    SimtInstruction& out = emit(Opcode::store, t, no_register, to.regs[0], reg);
    out.imm = to.displacement + at;
    out.extra = static_cast<std::uint16_t>(size == 16 ? 2 : 1);
    out.pointing = pointing(i.getDest());
    out.site = counted;
    out.alignment = alignment_in(commonAlignment(i.getDestAlign().valueOrOne(), static_cast<std::uint64_t>(at)), t, 1);
    at += size;
  }
}

}  // namespace kernelcast::frontend
