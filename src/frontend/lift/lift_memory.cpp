// Loads, stores, atomics, moves, conversions of addresses, calls. Hints of caches and the order of weak and relaxed
// accesses are left out: they change no byte.
#include "frontend/ir/cluster_memory.h"
#include "frontend/lift/lifter.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {

using namespace llvm;

bool Lifter::memory(const Instruction& i) {
  using ptx::Op;
  switch (i.op) {
    case Op::ld:
    case Op::ldu:
      return load(i);
    case Op::st:
      return store(i);
    case Op::atom:
    case Op::red:
      return atomic(i);
    case Op::mov:
      return move(i);
    case Op::cvta:
      return convert_address(i);
    case Op::mapa:
      return map_address(i);
    case Op::call:
      return call(i);
    default:
      return false;
  }
}

namespace {

bool is_param(ptx::Space s) {
  return s == ptx::Space::param || s == ptx::Space::param_entry || s == ptx::Space::param_func;
}

Align alignment_of(Type* type, unsigned vector) {
  const auto bytes = static_cast<std::uint64_t>(type->getPrimitiveSizeInBits().getFixedValue() / 8) * vector;
  return Align(std::max<std::uint64_t>(bytes, 1));
}

}  // namespace

bool Lifter::load(const Instruction& i) {
  const ptx::Type t = i.type();
  Type* element = value_type(t);
  const unsigned n = i.vector;
  Type* whole = n == 1 ? element : FixedVectorType::get(element, n);
  if (element->isVectorTy() && n > 1) {  // of packed halves
    element = b_.getIntNTy(static_cast<unsigned>(element->getPrimitiveSizeInBits()));
    whole = FixedVectorType::get(element, n);
  }
  Value* from = accessed(i.operands.at(1), is_param(i.space()) ? ptx::Space::param : i.space());
  LoadInst* loaded = b_.CreateAlignedLoad(whole, from, alignment_of(element, is_param(i.space()) ? 1 : n));
  if (i.has("nc")) loaded->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(into_.getContext(), {}));
  if (i.order == ptx::Order::volatile_ || i.order == ptx::Order::acquire || i.order == ptx::Order::relaxed ||
      i.order == ptx::Order::mmio)
    loaded->setVolatile(true);
  if (n == 1) return write(i.operands[0], loaded, ptx::is_signed(t)), true;
  if (i.operands[0].kind != ptx::OperandKind::vector || i.operands[0].elements.size() != n)
    refuse("a vector load into no vector");
  for (unsigned k = 0; k < n; ++k)
    write(i.operands[0].elements[k], b_.CreateExtractElement(loaded, k), ptx::is_signed(t));
  return true;
}

bool Lifter::store(const Instruction& i) {
  const ptx::Type t = i.type();
  Value* to = accessed(i.operands.at(0), is_param(i.space()) ? ptx::Space::param : i.space());
  const Operand& value = i.operands.at(1);
  Value* v = nullptr;
  if (i.vector == 1) {
    v = read(value, t);
  } else {
    if (value.kind != ptx::OperandKind::vector || value.elements.size() != i.vector)
      refuse("a vector store of no vector");
    for (unsigned k = 0; k < i.vector; ++k) {
      Value* e = read(value.elements[k], t);
      if (e->getType()->isVectorTy()) e = as_integer(e);
      if (!v) v = PoisonValue::get(FixedVectorType::get(e->getType(), i.vector));
      v = b_.CreateInsertElement(v, e, k);
    }
  }
  StoreInst* stored = b_.CreateAlignedStore(
      v, to, alignment_of(v->getType()->getScalarType(), i.vector == 1 && v->getType()->isVectorTy() ? 2 : i.vector));
  if (i.order != ptx::Order::none && i.order != ptx::Order::weak) stored->setVolatile(true);
  return true;
}

bool Lifter::atomic(const Instruction& i) {
  using ptx::Combine;
  const bool red = i.op == ptx::Op::red;
  const std::size_t first = red ? 0 : 1;
  const ptx::Type t = i.type();
  if (i.vector != 1 || i.operands.size() < first + 2) return false;
  Type* type = value_type(t);
  const bool real = type->isFloatingPointTy(), is_signed = ptx::is_signed(t);
  if (type->isVectorTy() || t == ptx::Type::b128) return false;
  Value* at = accessed(i.operands[first], i.space());
  Value* v = read(i.operands[first + 1], t);
  const Align align = alignment_of(type, 1);
  Value* old = nullptr;
  const auto apply = [&](AtomicRMWInst::BinOp op) {
    old = b_.CreateAtomicRMW(op, at, v, align, AtomicOrdering::Monotonic);
  };
  switch (i.combine) {
    case Combine::add:
      apply(real ? AtomicRMWInst::FAdd : AtomicRMWInst::Add);
      break;
    case Combine::min:
      if (real) return false;
      apply(is_signed ? AtomicRMWInst::Min : AtomicRMWInst::UMin);
      break;
    case Combine::max:
      if (real) return false;
      apply(is_signed ? AtomicRMWInst::Max : AtomicRMWInst::UMax);
      break;
    case Combine::and_:
      apply(AtomicRMWInst::And);
      break;
    case Combine::or_:
      apply(AtomicRMWInst::Or);
      break;
    case Combine::xor_:
      apply(AtomicRMWInst::Xor);
      break;
    case Combine::exch:
      apply(AtomicRMWInst::Xchg);
      break;
    case Combine::inc:
      apply(AtomicRMWInst::UIncWrap);
      break;
    case Combine::dec:
      apply(AtomicRMWInst::UDecWrap);
      break;
    case Combine::cas: {
      if (real || i.operands.size() < first + 3) return false;
      Value* pair = b_.CreateAtomicCmpXchg(at, v, read(i.operands[first + 2], t), align, AtomicOrdering::Monotonic,
                                           AtomicOrdering::Monotonic);
      old = b_.CreateExtractValue(pair, 0);
      break;
    }
    default:
      return false;
  }
  if (!red) write(i.operands[0], old, is_signed);
  return true;
}

/// Also of halves into a register and back: mov.b32 %r, {%h1, %h2}.
bool Lifter::move(const Instruction& i) {
  using ptx::OperandKind;
  const ptx::Type t = i.type();
  const Operand &to = i.operands.at(0), &from = i.operands.at(1);
  if (t == ptx::Type::pred || (from.kind != OperandKind::vector && to.kind != OperandKind::vector))
    return write(to, read(from, t)), true;
  if (to.kind == OperandKind::vector && from.kind == OperandKind::vector) return false;
  Type* whole = b_.getIntNTy(static_cast<unsigned>(ptx::bits_of(t)));
  const auto& parts = to.kind == OperandKind::vector ? to.elements : from.elements;
  const auto width = static_cast<unsigned>(whole->getIntegerBitWidth() / parts.size());
  const ptx::Type part = width == 64   ? ptx::Type::b64
                         : width == 32 ? ptx::Type::b32
                         : width == 16 ? ptx::Type::b16
                                       : ptx::Type::b8;
  if (to.kind == OperandKind::vector) {
    Value* v = as_integer(read(from, t));
    for (unsigned k = 0; k < parts.size(); ++k)
      write(parts[k], b_.CreateTrunc(k ? b_.CreateLShr(v, k * width) : v, b_.getIntNTy(width)));
    return true;
  }
  Value* v = nullptr;
  for (unsigned k = 0; k < parts.size(); ++k) {
    Value* e = b_.CreateZExt(as_integer(read(parts[k], part)), whole);
    if (k) e = b_.CreateShl(e, k * width, "", true);
    v = v ? b_.CreateOr(v, e) : e;
  }
  write(to, v);
  return true;
}

bool Lifter::convert_address(const Instruction& i) {
  if (i.space() == ptx::Space::param || i.space() == ptx::Space::param_entry)  // a generic address already
    return write(i.operands.at(0), read(i.operands.at(1), ptx::Type::b64)), true;
  auto* generic = PointerType::get(into_.getContext(), 0);
  auto* space = PointerType::get(into_.getContext(), address_space(i.space()));
  const bool to = i.has("to");
  Value* number = read(i.operands.at(1), ptx::Type::b64);
  Value* p = b_.CreateAddrSpaceCast(b_.CreateIntToPtr(number, to ? generic : space), to ? space : generic);
  write(i.operands.at(0), b_.CreatePtrToInt(p, b_.getInt64Ty()));
  return true;
}

/// As pointer(); .shared::cluster is memory of another block.
Value* Lifter::accessed(const Operand& o, ptx::Space space) {
  Value* p = pointer(o, space);
  if (space != ptx::Space::shared_cluster) return p;
  return b_.CreateAddrSpaceCast(p, PointerType::get(into_.getContext(), cluster_address_space));
}

/// An address in another block of the cluster lies where that of this block does: the same banks. Whoever maps one
/// within .shared says so again when it is used.
bool Lifter::map_address(const Instruction& i) {
  Value* own = read(i.operands.at(1), i.type());
  opaque(i);
  if (i.space() == ptx::Space::generic) {
    auto* generic = PointerType::get(into_.getContext(), 0);
    Value* there = mapped_to_cluster(b_, b_.CreateIntToPtr(as(own, b_.getInt64Ty(), false), generic));
    own = b_.CreatePtrToInt(b_.CreateAddrSpaceCast(there, generic), b_.getInt64Ty());
  }
  write(i.operands.at(0), own);
  return true;
}

/// call (result), function, (arguments): all of them variables of the space .param.
bool Lifter::call(const Instruction& i) {
  using ptx::OperandKind;
  const Operand* results = nullptr;
  const Operand* callee = nullptr;
  const Operand* arguments = nullptr;
  for (const Operand& o : i.operands) {
    if (o.kind == OperandKind::symbol && !callee) callee = &o;
    if (o.kind == OperandKind::list) (callee ? arguments : results) = &o;
  }
  Function* f = callee && names_.function ? names_.function(callee->symbol) : nullptr;
  if (!f) refuse("a call through a pointer");
  SmallVector<Value*, 8> values;
  for (std::size_t k = 0; arguments && k < arguments->elements.size(); ++k) {
    const Operand& o = arguments->elements[k];
    if (k >= f->arg_size()) refuse("a call with more arguments than the function has");
    Type* wanted = f->getArg(static_cast<unsigned>(k))->getType();
    if (o.kind == OperandKind::symbol) {
      Value* variable = symbol_pointer(o.symbol);
      values.push_back(wanted->isPointerTy() ? variable : b_.CreateLoad(wanted, variable));
    } else if (o.kind == OperandKind::reg) {
      values.push_back(as(read_register(o.index), wanted, false));
    } else {
      values.push_back(constant(o, wanted->isDoubleTy()      ? ptx::Type::f64
                                   : wanted->isIntegerTy(64) ? ptx::Type::b64
                                                             : ptx::Type::b32));
    }
  }
  if (values.size() != f->arg_size()) refuse("a call with fewer arguments than the function has");
  CallInst* made = b_.CreateCall(f, values);
  if (results && !results->elements.empty() && !made->getType()->isVoidTy()) {
    const Operand& o = results->elements[0];
    if (o.kind == OperandKind::symbol)
      b_.CreateStore(made, symbol_pointer(o.symbol));
    else
      write(o, made);
  }
  return true;
}

}  // namespace kernelcast::frontend
