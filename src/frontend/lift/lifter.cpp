#include "frontend/lift/lifter.h"

#include <algorithm>
#include <stdexcept>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

/// Nothing happens but a result, and nothing goes wrong where the predicate is false.
bool is_speculative(const ptx::Instruction& i) {
  using ptx::Op;
  switch (i.op) {
    case Op::div:
    case Op::rem:
      return ptx::is_float(i.type());
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::mul24:
    case Op::mad:
    case Op::mad24:
    case Op::fma:
    case Op::sad:
    case Op::abs:
    case Op::neg:
    case Op::min:
    case Op::max:
    case Op::popc:
    case Op::clz:
    case Op::bfind:
    case Op::brev:
    case Op::bfe:
    case Op::bfi:
    case Op::rcp:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::sin:
    case Op::cos:
    case Op::lg2:
    case Op::ex2:
    case Op::set:
    case Op::setp:
    case Op::selp:
    case Op::slct:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
    case Op::cnot:
    case Op::lop3:
    case Op::shf:
    case Op::shl:
    case Op::shr:
    case Op::prmt:
    case Op::mov:
    case Op::cvt:
    case Op::cvta:
      return true;
    default:
      return false;
  }
}

}  // namespace

unsigned address_space(ptx::Space space) {
  switch (space) {
    case ptx::Space::global:
      return 1;
    case ptx::Space::shared:
    case ptx::Space::shared_cluster:
      return 3;
    case ptx::Space::constant:
      return 4;
    case ptx::Space::local:
      return 5;
    default:
      return 0;
  }
}

Lifter::Lifter(Function& into, const ptx::Function& code, const LiftNames& names, bool fragment)
    : into_(into), code_(code), names_(names), fragment_(fragment), b_(into.getContext()) {
  entry_ = BasicBlock::Create(into.getContext(), "entry", &into);
  b_.SetInsertPoint(entry_);
  variables_.resize(code.registers.size());
  labels_.resize(code.labels.size());
}

void Lifter::refuse(const std::string& what) const { throw NotLifted{what, at_ ? at_->place : ptx::Place{}}; }

Type* Lifter::storage_type(ptx::Type t) const {
  LLVMContext& c = into_.getContext();
  if (t == ptx::Type::pred) return Type::getInt1Ty(c);
  if (t == ptx::Type::f32) return Type::getFloatTy(c);
  if (t == ptx::Type::f64) return Type::getDoubleTy(c);
  const int bits = ptx::bits_of(t);
  if (bits <= 0) refuse("a register of type ." + std::string(ptx::name_of(t)));
  return Type::getIntNTy(c, static_cast<unsigned>(bits));
}

Type* Lifter::value_type(ptx::Type t) const {
  LLVMContext& c = into_.getContext();
  switch (t) {
    case ptx::Type::f16:
      return Type::getHalfTy(c);
    case ptx::Type::bf16:
      return Type::getBFloatTy(c);
    case ptx::Type::f16x2:
      return FixedVectorType::get(Type::getHalfTy(c), 2);
    case ptx::Type::bf16x2:
      return FixedVectorType::get(Type::getBFloatTy(c), 2);
    case ptx::Type::f32x2:
      return FixedVectorType::get(Type::getFloatTy(c), 2);
    default:
      return storage_type(t);
  }
}

AllocaInst* Lifter::variable_of(std::uint32_t reg) {
  AllocaInst*& variable = variables_.at(reg);
  if (variable) return variable;
  const ptx::Register& r = code_.registers[reg];
  if (r.vector != 1) refuse("vector registers are not taken apart");
  variable = new AllocaInst(storage_type(r.type), 0, "", entry_->getFirstInsertionPt());
  return variable;
}

Value* Lifter::as_integer(Value* v) {
  if (v->getType()->isIntegerTy()) return v;
  return b_.CreateBitCast(v, b_.getIntNTy(static_cast<unsigned>(v->getType()->getPrimitiveSizeInBits())));
}

/// The same bits in another type; integers narrow or widen.
Value* Lifter::as(Value* v, Type* wanted, bool is_signed) {
  if (v->getType() == wanted) return v;
  v = as_integer(v);
  Type* bits = b_.getIntNTy(static_cast<unsigned>(wanted->getPrimitiveSizeInBits()));
  v = is_signed ? b_.CreateSExtOrTrunc(v, bits) : b_.CreateZExtOrTrunc(v, bits);
  return v->getType() == wanted ? v : b_.CreateBitCast(v, wanted);
}

Value* Lifter::read_register(std::int32_t reg) {
  AllocaInst* variable = variable_of(static_cast<std::uint32_t>(reg));
  return b_.CreateLoad(variable->getAllocatedType(), variable);
}

Value* Lifter::constant(const Operand& o, ptx::Type t) {
  Type* type = value_type(t);
  if (o.kind == ptx::OperandKind::integer) {
    const auto bits = static_cast<unsigned>(type->getPrimitiveSizeInBits());
    Constant* number = ConstantInt::get(into_.getContext(), APInt(64, o.bits).sextOrTrunc(bits));
    return type->isIntegerTy() ? number : b_.CreateBitCast(number, type);
  }
  const bool wide = o.real_bits == 64;
  APFloat number(wide ? APFloat::IEEEdouble() : APFloat::IEEEsingle(), APInt(wide ? 64 : 32, o.bits));
  if (!type->isFloatingPointTy()) return as(ConstantFP::get(into_.getContext(), number), type, false);
  bool lost = false;
  number.convert(type->getFltSemantics(), APFloat::rmNearestTiesToEven, &lost);
  return ConstantFP::get(type, number);
}

Value* Lifter::read(const Operand& o, ptx::Type t) {
  using ptx::OperandKind;
  if (!o.component.empty() && o.kind != OperandKind::special) refuse("a part of a vector register");
  switch (o.kind) {
    case OperandKind::reg: {
      Value* v = read_register(o.index);
      const ptx::Type own = code_.registers[static_cast<std::size_t>(o.index)].type;
      if (o.negated) v = b_.CreateNot(v);
      return as(v, value_type(t), ptx::is_signed(own));
    }
    case OperandKind::special:
      return as(special(o), value_type(t), false);
    case OperandKind::integer:
    case OperandKind::real:
      return constant(o, t);
    case OperandKind::symbol: {
      Value* base = symbol_pointer(o.symbol);
      Value* number = b_.CreatePtrToInt(base, b_.getInt64Ty());
      if (o.offset != 0) number = b_.CreateAdd(number, b_.getInt64(static_cast<std::uint64_t>(o.offset)));
      return as(number, value_type(t), false);
    }
    case OperandKind::vector:  // Triton writes { %r1 } for one register
      if (o.elements.size() == 1) return read(o.elements.front(), t);
      [[fallthrough]];
    default:
      refuse("an operand that is no value");
  }
}

void Lifter::write(const Operand& o, Value* v, bool is_signed) {
  if (o.kind == ptx::OperandKind::sink) return;
  if (o.kind == ptx::OperandKind::vector && o.elements.size() == 1) return write(o.elements.front(), v, is_signed);
  if (o.kind != ptx::OperandKind::reg || !o.component.empty()) refuse("a result that is no register");
  AllocaInst* variable = variable_of(static_cast<std::uint32_t>(o.index));
  v = as(v, variable->getAllocatedType(), is_signed);
  if (guard_) v = b_.CreateSelect(guard_, v, b_.CreateLoad(variable->getAllocatedType(), variable));
  b_.CreateStore(v, variable);
}

Value* Lifter::nvvm(const std::string& name, ArrayRef<Value*> arguments) {
  const Intrinsic::ID id = Function::lookupIntrinsicID("llvm.nvvm." + name);
  if (id == Intrinsic::not_intrinsic) refuse("no intrinsic is named llvm.nvvm." + name);
  return b_.CreateIntrinsic(id, {}, arguments);
}

Value* Lifter::special(const Operand& o) {
  const ptx::SpecialRegister& s = ptx::special_registers().at(static_cast<std::size_t>(o.index));
  std::string name(s.name.substr(1));
  if (s.is_vector) {
    if (o.component.empty()) refuse("a special register as a vector");
    name += "." + std::string(o.component);
  }
  const bool id = name.starts_with("tid.") || name.starts_with("ntid.") || name.starts_with("ctaid.") ||
                  name.starts_with("nctaid.");
  if (name.starts_with("lanemask_")) name = "lanemask." + name.substr(9);
  const Intrinsic::ID known = Function::lookupIntrinsicID("llvm.nvvm.read.ptx.sreg." + name);
  const std::string written = std::string(s.name) + (o.component.empty() ? "" : "." + std::string(o.component));
  if (known == Intrinsic::not_intrinsic) {
    // Any other: a move, which analysis takes for data.
    FunctionCallee f =
        into_.getParent()->getOrInsertFunction("kc.ptx.mov.b" + std::to_string(ptx::bits_of(s.type)) + "#" + written,
                                               FunctionType::get(storage_type(s.type), false));
    auto* function = cast<Function>(f.getCallee());
    function->addFnAttr("kc-ptx", "mov.b" + std::to_string(ptx::bits_of(s.type)) + " $0, " + written + ";");
    function->addFnAttr("kc-ptx-constraints", ptx::bits_of(s.type) == 64 ? "=l" : "=r");
    return b_.CreateCall(f);
  }
  CallInst* call = b_.CreateIntrinsic(known, {}, {});
  if (id) {
    const bool size = name[0] == 'n';
    const bool of_block = name.starts_with("tid") || name.starts_with("ntid");
    const unsigned bound = of_block ? 1024 + (size ? 1 : 0) : 0x40000000;
    call->addRangeRetAttr(ConstantRange(APInt(32, size ? 1 : 0), APInt(32, bound)));
  }
  return call;
}

Value* Lifter::symbol_pointer(const ptx::Symbol& s) {
  Value* base = names_.variable ? names_.variable(s) : nullptr;
  if (!base) refuse("the name '" + std::string(s.name) + "' is not known here");
  return base;
}

/// Base and displacement as a pointer into `space`.
Value* Lifter::pointer(const Operand& o, ptx::Space space) {
  using ptx::OperandKind;
  if (o.kind != OperandKind::address) refuse("an operand that is no address");
  Value* base = nullptr;
  auto* wanted = PointerType::get(into_.getContext(), address_space(space));
  if (o.base == OperandKind::symbol) {
    base = symbol_pointer(o.symbol);
    if (base->getType() != wanted && space != ptx::Space::param) base = b_.CreateAddrSpaceCast(base, wanted);
  } else if (o.base == OperandKind::integer) {
    base = b_.CreateIntToPtr(b_.getInt64(o.bits), wanted);
  } else {
    base = b_.CreateIntToPtr(as(read_register(o.index), b_.getInt64Ty(), false), wanted);
  }
  if (o.offset == 0) return base;
  return b_.CreateGEP(b_.getInt8Ty(), base, b_.getInt64(static_cast<std::uint64_t>(o.offset)));
}

BasicBlock* Lifter::new_block() { return BasicBlock::Create(into_.getContext(), "", &into_); }

/// The open block, if there is one, runs into `block`.
void Lifter::go_on_in(BasicBlock* block) {
  if (!b_.GetInsertBlock()->getTerminator()) b_.CreateBr(block);
  b_.SetInsertPoint(block);
}

Value* Lifter::guard_value(const Instruction& i) {
  Value* v = read_register(i.guard.reg);
  return i.guard.negated ? b_.CreateNot(v) : v;
}

void Lifter::run() {
  std::vector<BasicBlock*> begins(code_.body.size() + 1);
  for (std::size_t k = 0; k < labels_.size(); ++k) {
    BasicBlock*& block = begins.at(code_.labels[k].at);
    if (!block) block = new_block();
    labels_[k] = block;
  }
  BasicBlock* const start = new_block();
  go_on_in(start);
  for (std::size_t n = 0; n < code_.body.size(); ++n) {
    if (begins[n]) go_on_in(begins[n]);
    at_ = &code_.body[n];
    if (names_.location && at_->location >= 0) b_.SetCurrentDebugLocation(names_.location(at_->location));
    if (names_.line)
      if (DebugLoc where = names_.line(at_->place)) b_.SetCurrentDebugLocation(where);
    instruction(*at_);
  }
  if (begins.back()) go_on_in(begins.back());
  const auto asks = [](std::string_view pragma) { return pragma == "nounroll"; };
  const bool every = names_.rolled || std::ranges::any_of(code_.directives.pragmas, asks);
  std::vector<BasicBlock*> headers;
  for (std::size_t n = 0; every && n < begins.size(); ++n) headers.push_back(begins[n]);
  for (const ptx::Pragma& p : code_.pragmas)
    if (asks(p.text)) headers.push_back(begins.at(p.at));
  keep_rolled(headers);
  if (!fragment_ && !b_.GetInsertBlock()->getTerminator()) leave();
}

/// Marks the loops that begin with `headers` (null: no block begins there), whose branches back come later in the text.
void Lifter::keep_rolled(const std::vector<BasicBlock*>& headers) {
  if (headers.empty()) return;
  LLVMContext& c = into_.getContext();
  DenseMap<const BasicBlock*, std::size_t> order;
  for (const BasicBlock& block : into_) order.try_emplace(&block, order.size());
  for (BasicBlock* const header : headers) {
    if (!header) continue;
    for (BasicBlock* const block : predecessors(header)) {
      if (order.at(block) < order.at(header)) continue;
      Metadata* parts[] = {nullptr, MDNode::get(c, MDString::get(c, "llvm.loop.unroll.disable"))};
      MDNode* loop = MDNode::getDistinct(c, parts);
      loop->replaceOperandWith(0, loop);
      block->getTerminator()->setMetadata(LLVMContext::MD_loop, loop);
    }
  }
}

void Lifter::leave() {
  if (names_.leave)
    names_.leave(b_);
  else
    b_.CreateRetVoid();
}

void Lifter::instruction(const Instruction& i) {
  try {
    checked_instruction(i);
  } catch (const std::out_of_range&) {  // lists of registers, and operands that only some forms need
    refuse("'" + std::string(i.opcode) + "' with so few operands");
  }
}

void Lifter::checked_instruction(const Instruction& i) {
  if (control(i)) return;
  if (i.guard.reg < 0) {
    if (!lift(i)) opaque(i);
    return;
  }
  if (!is_speculative(i)) return branch_around(i);
  guard_ = guard_value(i);
  const bool done = lift(i);
  guard_ = nullptr;
  if (!done) branch_around(i);
}

void Lifter::branch_around(const Instruction& i) {
  BasicBlock* inside = new_block();
  BasicBlock* behind = new_block();
  b_.CreateCondBr(guard_value(i), inside, behind);
  b_.SetInsertPoint(inside);
  if (!lift(i)) opaque(i);
  go_on_in(behind);
}

/// Branches and ends.
bool Lifter::control(const Instruction& i) {
  using ptx::Op;
  BasicBlock* target = nullptr;
  if (i.op == Op::bra) {
    if (i.operands.empty() || i.operands[0].kind != ptx::OperandKind::label) refuse("a branch to no label");
    target = labels_.at(static_cast<std::size_t>(i.operands[0].index));
  } else if (i.op == Op::ret || i.op == Op::exit) {
    if (fragment_) refuse("an asm statement that leaves the function");
    if (i.op == Op::exit && !into_.getReturnType()->isVoidTy()) refuse("exit in a device function with a result");
    target = new_block();
    const IRBuilder<>::InsertPointGuard keep(b_);
    b_.SetInsertPoint(target);
    leave();
  } else if (i.op == Op::trap) {
    target = new_block();
    const IRBuilder<>::InsertPointGuard keep(b_);
    b_.SetInsertPoint(target);
    b_.CreateIntrinsic(Intrinsic::trap, {}, {});
    b_.CreateUnreachable();
  } else {
    return false;
  }
  BasicBlock* behind = new_block();
  if (i.guard.reg >= 0)
    b_.CreateCondBr(guard_value(i), target, behind);
  else
    b_.CreateBr(target);
  b_.SetInsertPoint(behind);
  return true;
}

bool Lifter::lift(const Instruction& i) { return memory(i) || warp(i) || wmma(i) || arithmetic(i); }

}  // namespace kernelcast::frontend
