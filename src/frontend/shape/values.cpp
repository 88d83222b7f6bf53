// LLVM values as expressions. Every integer operation that index arithmetic uses has an exact image over the
// mathematical integers; 32- and 64-bit wrap-around is taken not to happen (kernels whose indices overflow are wrong on
// the device, too), but in multiplications by large constants without such a promise, as hashes have them. Narrow
// truncations are kept, since `x % 16` and `x & 7` arrive as such. What cannot be expressed (loads, floating-point
// comparisons, carried values without a closed form) becomes a data symbol with the reason.
#include "core/expr_node.h"
#include "frontend/ir/builtins.h"
#include "frontend/ir/ptx_calls.h"
#include "frontend/shape/kernel_model.h"
#include "kernelcast/error.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

Expr constant_value(const APInt& v) { return v.getBitWidth() == 1 ? Expr(v.isZero() ? 0 : 1) : Expr(v.getSExtValue()); }

/// min or max, with the constant limits of nested ones in one: min(min(x, 96) + 4, 100) is min(x + 4, 100).
Expr extremum(Op op, const Expr& a, const Expr& b) {
  for (const auto& [x, limit] : {std::pair(a, b), std::pair(b, a)}) {
    const Expr beside(x.constant_term());
    const Expr body = x - beside;
    const OpNode* inner = single_op(body, op);
    if (!inner || !limit.constant()) continue;
    for (std::size_t side : {0, 1})
      if (inner->args[side].constant())
        return Expr::apply(op, inner->args[1 - side] + beside, Expr::apply(op, inner->args[side] + beside, limit));
  }
  return Expr::apply(op, a, b);
}

bool is_low_mask(const APInt& v) { return v.isMask(); }

/// A multiplication that is meant to wrap around, as hashes and random numbers do: by a constant of more than 24 bits
/// and without a promise of the source that it does not.
bool is_hash(const Instruction& i) {
  const auto* c = dyn_cast<ConstantInt>(i.getOperand(1));
  return c != nullptr && !i.hasNoSignedWrap() && !i.hasNoUnsignedWrap() && c->getValue().abs().getActiveBits() > 24;
}

bool multiplies_in_pairs(const Module& module) {
  return any_of(module, [](const Function& f) {
    return f.getName().starts_with(std::string(ptx_call_prefix) + "tcgen05.mma") &&
           f.getName().contains("cta_group::2");
  });
}

Expr lane() {
  return mod(Expr(local_id(0)) + Expr(local_size(0)) * (Expr(local_id(1)) + Expr(local_size(1)) * Expr(local_id(2))),
             32);
}

/// elect.sync takes one lane of those that are active: of a whole warp lane 0 is as good as any other.
bool elects(const Value& v) {
  const auto* call = dyn_cast<CallInst>(&v);
  const auto ptx = call ? ptx_instruction(*call) : std::nullopt;
  return ptx && ptx->op == ptx::Op::elect;
}

}  // namespace

Expr KernelModel::integer(Value* value) {
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer)
    if (auto it = layer->integers.find(value); it != layer->integers.end()) return it->second;
  if (++depth_ > 2000) {
    --depth_;
    return data(value, "the expression is too deep to follow");
  }
  Expr result;
  try {
    result = compute_integer(value);
  } catch (const Error&) {  // a coefficient beyond 64 bits or a polynomial beyond its limit
    result = data(value, "the expression leaves 64 bits");
  }
  --depth_;
  layer_for({&result}).integers.insert_or_assign(value, result);
  return result;
}

Address KernelModel::address(Value* pointer) {
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer)
    if (auto it = layer->addresses.find(pointer); it != layer->addresses.end()) return it->second;
  if (++depth_ > 2000) {
    --depth_;
    return unknown_address(pointer, "the address is too deep to follow");
  }
  Address result;
  try {
    result = compute_address(pointer);
  } catch (const Error&) {
    result = unknown_address(pointer, "the address leaves 64 bits");
  }
  --depth_;
  layer_for({&result.offset}).addresses.insert_or_assign(pointer, result);
  return result;
}

Expr KernelModel::data(const Value* value, std::string reason) {
  auto it = data_exprs_.find(value);
  if (it == data_exprs_.end()) {
    Symbol s("data:" + std::to_string(data_.size()));
    data_.emplace(s, DataValue{s, value, std::move(reason), !divergent(value)});
    it = data_exprs_.emplace(value, Expr(s)).first;
  }
  const Symbol s = *it->second.symbols().begin();
  const bool composed = isa<PHINode>(value) || isa<SelectInst>(value) || isa<CmpInst>(value);
  if (!placeholders_.empty() && composed)
    tentative_.insert(s);
  else
    tentative_.erase(s);
  return it->second;
}

std::string KernelModel::reason_in(const Expr& e, const std::string& otherwise) const {
  const auto sources = data_in(e);
  return sources.empty() ? otherwise : sources[0]->reason;
}

std::vector<const DataValue*> KernelModel::data_in(const Expr& e) const {
  std::vector<const DataValue*> found;
  for (Symbol s : e.symbols())
    if (auto it = data_.find(s); it != data_.end()) found.push_back(&it->second);
  return found;
}

bool KernelModel::non_negative(const Expr& e) const {
  auto r = e.range(ranges_);
  return r && r->lo >= 0;
}

Expr KernelModel::divide(const Expr& a, const Expr& b) const {
  auto positive = [&](const Expr& e) {
    auto r = e.range(ranges_);
    return r && r->lo > 0;
  };
  if (non_negative(a) && (positive(b) || !b.constant())) return floor_div(a, b);
  if (auto c = b.constant(); c && *c > 0) return select(less(a, 0), -floor_div(-a, b), floor_div(a, b));
  Expr magnitude = floor_div(max(a, -a), max(b, -b));
  return select(equal(less(a, 0), less(b, 0)), magnitude, -magnitude);
}

Expr KernelModel::remainder(const Expr& a, const Expr& b) const {
  if (non_negative(a)) return mod(a, b);
  return a - divide(a, b) * b;
}

Expr KernelModel::compute_integer(Value* value) {
  if (auto* c = dyn_cast<ConstantInt>(value))
    return c->getValue().getSignificantBits() <= 64 ? constant_value(c->getValue())
                                                    : data(value, "a constant beyond 64 bits");
  if (isa<UndefValue>(value) || isa<ConstantPointerNull>(value)) return 0;
  if (auto it = argument_symbol_.find(value); it != argument_symbol_.end()) return it->second;
  if (auto* instruction = dyn_cast<Instruction>(value)) return compute_instruction(instruction);
  if (isa<Argument>(value)) return data(value, "an argument that is no integer scalar");
  return data(value, "a constant expression");
}

Expr KernelModel::compute_instruction(Instruction* i) {
  if (auto id = id_value(*i)) {
    using Kind = IdValue::Kind;
    switch (id->kind) {
      case Kind::local_id:
        return local_id(id->axis);
      case Kind::group_id:
        return group_id(id->axis);
      case Kind::local_size:
        return local_size(id->axis);
      case Kind::num_groups:
        return num_groups(id->axis);
      case Kind::global_size:
        return Expr(num_groups(id->axis)) * Expr(local_size(id->axis));
    }
  }
  if (!i->getType()->isIntegerTy() || i->getType()->getIntegerBitWidth() > 64)
    return data(i, "not an integer of at most 64 bits");
  auto op = [&](unsigned n) { return integer(i->getOperand(n)); };
  const bool boolean = i->getType()->isIntegerTy(1);
  switch (i->getOpcode()) {
    case Instruction::Add:
      return boolean ? mod(op(0) + op(1), 2) : op(0) + op(1);
    case Instruction::Sub:
      return op(0) - op(1);
    case Instruction::Mul:
      if (is_hash(*i)) return data(i, "a product that wraps around");
      return op(0) * op(1);
    case Instruction::UDiv:
    case Instruction::URem: {
      const Expr a = op(0), b = op(1);
      if (auto c = b.constant(); c && *c <= 0) return data(i, "divides by a number beyond the signed range");
      return i->getOpcode() == Instruction::UDiv ? floor_div(a, b) : mod(a, b);
    }
    case Instruction::SDiv:
      return divide(op(0), op(1));
    case Instruction::SRem:
      return remainder(op(0), op(1));
    case Instruction::Shl:
      return apply_shift(op(0), op(1), true);
    case Instruction::LShr:
      if (auto* c = dyn_cast<ConstantInt>(i->getOperand(1)); c && c->getValue() == c->getBitWidth() - 1)
        return less(op(0), 0);  // the sign
      return apply_shift(op(0), op(1), false);
    case Instruction::AShr:
      return apply_shift(op(0), op(1), false);
    case Instruction::And: {
      if (boolean) return op(0) * op(1);
      if (auto* c = dyn_cast<ConstantInt>(i->getOperand(1))) {
        const APInt& mask = c->getValue();
        if (is_low_mask(mask))
          return mask.getActiveBits() >= 32 ? op(0)
                                            : mod(op(0), Expr(static_cast<std::int64_t>(mask.getZExtValue()) + 1));
        if (mask.isShiftedMask() &&
            mask.getActiveBits() < 63) {  // bits [low, high): x & 224 or, with all upper bits, x & 0x7ffffffc
          const Expr above = mask.getActiveBits() + 1 >= mask.getBitWidth()
                                 ? op(0)
                                 : mod(op(0), Expr(std::int64_t{1} << mask.getActiveBits()));
          return above - mod(op(0), Expr(std::int64_t{1} << mask.countr_zero()));
        }
        if (mask.isNegatedPowerOf2())
          return op(0) - mod(op(0), Expr(static_cast<std::int64_t>((-mask).getZExtValue())));
      }
      return Expr::apply(Op::bit_and, op(0), op(1));
    }
    case Instruction::Or: {
      if (boolean) return max(op(0), op(1));
      if (cast<PossiblyDisjointInst>(i)->isDisjoint()) return op(0) + op(1);
      return Expr::apply(Op::bit_or, op(0), op(1));
    }
    case Instruction::Xor: {
      if (boolean) {
        if (auto* c = dyn_cast<ConstantInt>(i->getOperand(1)); c && c->isOne()) return logical_not(op(0));
        return logical_not(equal(op(0), op(1)));
      }
      if (auto* c = dyn_cast<ConstantInt>(i->getOperand(1)); c && c->isMinusOne()) return Expr(-1) - op(0);
      return Expr::apply(Op::bit_xor, op(0), op(1));
    }
    case Instruction::ZExt:
      return op(0);
    case Instruction::SExt: {
      const unsigned bits = i->getOperand(0)->getType()->getIntegerBitWidth();
      if (bits == 1) return -op(0);
      if (bits >= 32 || !isa<TruncInst>(i->getOperand(0))) return op(0);
      const Expr half(std::int64_t{1} << (bits - 1));
      return mod(op(0) + half, half * 2) - half;
    }
    case Instruction::Trunc: {
      const unsigned bits = i->getType()->getIntegerBitWidth();
      return bits >= 32 ? op(0) : mod(op(0), Expr(std::int64_t{1} << bits));
    }
    case Instruction::Freeze:
      return op(0);
    case Instruction::ICmp:
      return compare(cast<ICmpInst>(i));
    case Instruction::Select: {
      const Expr c = condition(i->getOperand(0)), a = op(1), b = op(2);
      if (boolean) return max(c * a, logical_not(c) * b);
      if (a == b) return a;
      if (!data_in(c).empty()) return data(i, reason_in(c, "selected by data"));
      if (c == less(a, b) || c == less_equal(a, b)) return extremum(Op::min, a, b);
      if (c == less(b, a) || c == less_equal(b, a)) return extremum(Op::max, a, b);
      return select(c, a, b);
    }
    case Instruction::PHI: {
      auto* phi = cast<PHINode>(i);
      llvm::Loop* loop = loops_.getLoopFor(phi->getParent());
      return loop && loop->getHeader() == phi->getParent() ? header_phi(phi, loop) : merge_phi(phi);
    }
    case Instruction::Call:
      return compute_intrinsic(cast<CallInst>(i));
    case Instruction::PtrToInt:
      return data(i, "a pointer taken as a number");
    case Instruction::Load:
      if (auto field = parameter_field(i->getOperand(0), i->getType(), 0)) return *field;
      return data(i, "loaded from memory at " + text_of(line_of(*i)));
    case Instruction::ExtractElement:
      return vector_element(cast<ExtractElementInst>(i));
    case Instruction::ExtractValue:
      if (auto field = parameter_member(cast<ExtractValueInst>(i))) return *field;
      if (isa<AtomicCmpXchgInst>(i->getOperand(0)))
        return data(i, "result of an atomic operation at " + text_of(line_of(*i)));
      if (auto part = part_of_warp_operation(*cast<ExtractValueInst>(i))) return *part;
      return data(i, "part of a structure at " + text_of(line_of(*i)));
    case Instruction::AtomicRMW:
      return data(i, "result of an atomic operation at " + text_of(line_of(*i)));
    case Instruction::FCmp:
      return compare_real(cast<FCmpInst>(i));
    default:
      return data(i, std::string("computed by ") + i->getOpcodeName() + " at " + text_of(line_of(*i)));
  }
}

Expr KernelModel::apply_shift(const Expr& a, const Expr& b, bool left) {
  if (left) return b.constant() ? a * Expr(std::int64_t{1} << (*b.constant() & 63)) : Expr::apply(Op::shift_left, a, b);
  return Expr::apply(Op::shift_right, a, b);
}

Expr KernelModel::compute_intrinsic(CallInst* call) {
  auto op = [&](unsigned n) { return integer(call->getArgOperand(n)); };
  const unsigned bits = call->getType()->isIntegerTy() ? call->getType()->getIntegerBitWidth() : 0;
  switch (call->getIntrinsicID()) {
    case Intrinsic::smin:
    case Intrinsic::umin:
      return extremum(Op::min, op(0), op(1));
    case Intrinsic::smax:
    case Intrinsic::umax:
      return extremum(Op::max, op(0), op(1));
    case Intrinsic::abs: {
      Expr a = op(0);
      return max(a, -a);
    }
    case Intrinsic::ctlz:
      return Expr(static_cast<std::int64_t>(bits)) - Expr::apply(Op::bit_width, op(0));
    case Intrinsic::usub_sat:
      return max(op(0) - op(1), 0);
    case Intrinsic::nvvm_shfl_sync_idx_i32:
      if (auto same = value_of_lane(*call)) return *same;
      break;
    default:
      break;
  }
  const Function* f = call->getCalledFunction();
  const std::string name = f ? f->getName().str() : call->isInlineAsm() ? "inline assembly" : "a call";
  if (name == "llvm.nvvm.read.ptx.sreg.warpsize") return Expr::symbol("warp_size");
  if (name == "llvm.nvvm.read.ptx.sreg.laneid") return lane();
  // Pairs of blocks that multiply together are clusters of two; other sizes are not known here.
  if (StringRef(name).ends_with("%cluster_ctarank") && multiplies_in_pairs(*call->getModule())) {
    assume({"blocks that multiply in pairs (cta_group::2): clusters", "2 neighbors along x", ""});
    return mod(Expr(group_id(0)), 2);
  }
  if (bits == 1 && elects(*call)) return equal(lane(), 0);
  return data(call, "result of " + name + " at " + text_of(line_of(*call)));
}

/// Of elect.sync the lane that was taken, and whether it is this one; of a shfl.sync.idx the value, and whether there
/// is such a lane.
std::optional<Expr> KernelModel::part_of_warp_operation(ExtractValueInst& part) {
  const bool second = part.getIndices().front() == 1;
  auto* call = dyn_cast<CallInst>(part.getAggregateOperand());
  if (!call) return std::nullopt;
  if (elects(*call)) return second ? equal(lane(), 0) : Expr(0);
  if (call->getIntrinsicID() != Intrinsic::nvvm_shfl_sync_idx_i32p) return std::nullopt;
  const std::optional<Expr> value = value_of_lane(*call);
  return value && second ? Expr(1) : value;
}

/// shfl.sync.idx from one lane of the whole warp: the value as that lane has it. Blocks are taken to have whole warps
/// along x where the value depends on the thread.
std::optional<Expr> KernelModel::value_of_lane(CallInst& call) {
  const auto* lane = dyn_cast<ConstantInt>(call.getArgOperand(2));
  const auto* clamp = dyn_cast<ConstantInt>(call.getArgOperand(3));
  if (!lane || !clamp || clamp->getZExtValue() != 31 || lane->getZExtValue() > 31) return std::nullopt;
  const Expr value = integer(call.getArgOperand(1));
  if (!data_in(value).empty() || value.depends_on(local_id(1)) || value.depends_on(local_id(2))) return std::nullopt;
  const Expr x(local_id(0));
  return value.substitute({{local_id(0), x - mod(x, 32) + Expr(static_cast<std::int64_t>(lane->getZExtValue()))}});
}

void KernelModel::assume(const Assumption& assumption) {
  auto& said = profile_.assumptions;
  if (std::find(said.begin(), said.end(), assumption) == said.end()) said.push_back(assumption);
}

/// The `order_of` a floating-point constant or parameter.
std::optional<Expr> KernelModel::real_order(Value* value) const {
  if (auto* wider = dyn_cast<FPExtInst>(value)) return real_order(wider->getOperand(0));
  if (auto* constant = dyn_cast<ConstantFP>(value)) {
    APFloat exact = constant->getValueAPF();
    bool inexact = false;
    exact.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    const auto order = inexact ? std::nullopt : order_of(exact.convertToDouble());
    return order ? std::optional<Expr>(*order) : std::nullopt;
  }
  const auto* parameter = dyn_cast<Argument>(value);
  if (parameter == nullptr || !parameter->getType()->isFloatingPointTy()) return std::nullopt;
  return real_argument(profile_.parameters[parameter->getArgNo()].name);
}

/// A comparison of parameters and constants is known at launch; of what is computed, the data decide. Parameters are
/// not NaN.
Expr KernelModel::compare_real(FCmpInst* comparison) {
  const auto a = real_order(comparison->getOperand(0)), b = real_order(comparison->getOperand(1));
  if (!a || !b) return data(comparison, "compares floating-point values at " + text_of(line_of(*comparison)));
  switch (CmpInst::getOrderedPredicate(comparison->getPredicate())) {
    case CmpInst::FCMP_OEQ:
      return equal(*a, *b);
    case CmpInst::FCMP_ONE:
      return logical_not(equal(*a, *b));
    case CmpInst::FCMP_OLT:
      return less(*a, *b);
    case CmpInst::FCMP_OLE:
      return less_equal(*a, *b);
    case CmpInst::FCMP_OGT:
      return less(*b, *a);
    case CmpInst::FCMP_OGE:
      return less_equal(*b, *a);
    case CmpInst::FCMP_ORD:  // its unordered twin is FCMP_UNO
      return comparison->getPredicate() == CmpInst::FCMP_ORD ? 1 : 0;
    default:
      return data(comparison, "compares floating-point values at " + text_of(line_of(*comparison)));
  }
}

Expr KernelModel::compare(CmpInst* comparison) {
  const CmpInst::Predicate p = comparison->getPredicate();
  Value *va = comparison->getOperand(0), *vb = comparison->getOperand(1);
  if (va->getType()->isPointerTy()) {
    const bool null = isa<ConstantPointerNull>(va) || isa<ConstantPointerNull>(vb);
    Address a = address(va), b = address(vb);
    if (null && std::max(a.buffer, b.buffer) >= 0) {
      const Buffer& given = profile_.buffers[static_cast<std::size_t>(std::max(a.buffer, b.buffer))];
      assume({"the buffer " + given.name + " is given", "not null", ""});
      return compare_exprs(p, a.buffer >= 0 ? 1 : 0, b.buffer >= 0 ? 1 : 0);
    }
    if (a.buffer < 0 || b.buffer < 0) return data(comparison, "compares unrelated pointers");
    if (a.buffer == b.buffer) return compare_exprs(p, a.offset, b.offset);
    // Two buffers do not overlap; any order of the two is as good as the other.
    assume({"buffers of different parameters do not overlap", "apart", ""});
    return compare_exprs(p, a.buffer, b.buffer);
  }
  if (!va->getType()->isIntegerTy()) return data(comparison, "compares vectors");
  return compare_exprs(p, integer(va), integer(vb));
}

Expr KernelModel::compare_exprs(CmpInst::Predicate p, const Expr& a, const Expr& b) const {
  // Unsigned comparison with a bound: a negative left side is a huge number. A bound that is negative itself would be
  // huge, too; only constants are treated so, sizes and arguments compared unsigned are taken to be what they say.
  auto below = [&](const Expr& x, const Expr& y, bool or_equal) {
    Expr ordered = or_equal ? less_equal(x, y) : less(x, y);
    if (auto c = y.constant(); c && *c < 0) return max(less_equal(0, x), ordered);
    return non_negative(x) ? ordered : less_equal(0, x) * ordered;
  };
  switch (p) {
    case CmpInst::ICMP_EQ:
      return equal(a, b);
    case CmpInst::ICMP_NE:
      return logical_not(equal(a, b));
    case CmpInst::ICMP_SLT:
      return less(a, b);
    case CmpInst::ICMP_SLE:
      return less_equal(a, b);
    case CmpInst::ICMP_SGT:
      return less(b, a);
    case CmpInst::ICMP_SGE:
      return less_equal(b, a);
    case CmpInst::ICMP_ULT:
      return below(a, b, false);
    case CmpInst::ICMP_ULE:
      return below(a, b, true);
    case CmpInst::ICMP_UGT:
      return logical_not(below(a, b, true));
    case CmpInst::ICMP_UGE:
      return logical_not(below(a, b, false));
    default:
      return 0;
  }
}

Address KernelModel::unknown_address(const Value* pointer, const std::string& reason) {
  return {-1, data(pointer, reason)};
}

/// One of two addresses. In different buffers the pattern alone is known.
Address KernelModel::choose(const Value* pointer, const Expr& c, const Address& a, const Address& b) {
  const int buffer = a.buffer == b.buffer ? a.buffer : -1;
  if (a.offset == b.offset) return {buffer, a.offset};
  if (!data_in(c).empty()) return {buffer, data(pointer, reason_in(c, "a pointer selected by data"))};
  return {buffer, select(c, a.offset, b.offset)};
}

Address KernelModel::compute_address(Value* pointer) {
  if (auto it = buffer_of_.find(pointer); it != buffer_of_.end()) return {it->second, 0};
  if (auto* gep = dyn_cast<GEPOperator>(pointer)) {
    Address base = address(gep->getPointerOperand());
    const DataLayout& layout = function_.getParent()->getDataLayout();
    MapVector<Value*, APInt> variable;
    APInt fixed(64, 0);
    if (!gep->collectOffset(layout, 64, variable, fixed))
      return unknown_address(pointer, "a scalable or vector address");
    base.offset = base.offset + Expr(fixed.getSExtValue());
    for (auto& [index, scale] : variable) base.offset = base.offset + integer(index) * Expr(scale.getSExtValue());
    return base;
  }
  if (auto* cast = dyn_cast<Operator>(pointer);
      cast && (cast->getOpcode() == Instruction::AddrSpaceCast || cast->getOpcode() == Instruction::BitCast))
    return address(cast->getOperand(0));
  auto* i = dyn_cast<Instruction>(pointer);
  if (!i) return unknown_address(pointer, "a constant address");
  if (auto* freeze = dyn_cast<FreezeInst>(i)) return address(freeze->getOperand(0));
  if (auto* pick = dyn_cast<SelectInst>(i)) {
    Address a = address(pick->getTrueValue()), b = address(pick->getFalseValue());
    return choose(pointer, condition(pick->getCondition()), a, b);
  }
  if (auto* phi = dyn_cast<PHINode>(i)) {
    llvm::Loop* loop = loops_.getLoopFor(phi->getParent());
    if (loop && loop->getHeader() == phi->getParent()) return header_phi_address(phi, loop);
    return merge_phi_address(phi);
  }
  if (isa<LoadInst>(i))
    if (auto field = pointer_field(i->getOperand(0))) return *field;
  if (auto* load = dyn_cast<LoadInst>(i))
    if (auto element = pointer_in_table(*load)) return *element;
  if (isa<LoadInst>(i)) return unknown_address(pointer, "a pointer loaded from memory at " + text_of(line_of(*i)));
  return unknown_address(pointer, std::string("a pointer computed by ") + i->getOpcodeName());
}

}  // namespace kernelcast::frontend
