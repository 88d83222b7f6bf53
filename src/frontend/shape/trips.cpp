// How often a loop's header runs. Every exit whose test is reached in each iteration gives the number s of consecutive
// iterations that stay; the header then runs s + 1 times, and the smallest s decides. Tests are solved in closed form:
//   affine      d(c) = a - b = d0 + k*c against 0
//   geometric   (start << k*c) < n,  (start >> k*c) > t   by the position of the leading bit
//   any other test of the counter alone, as of a flag that the loop carries: iteration by iteration, up to a limit
// An exit whose test never fails is none. A loop that repeats the test of an mbarrier is a wait: it runs once. Exits
// that data decide are left out and reported.
#include <algorithm>

#include "frontend/ir/ptx_calls.h"
#include "frontend/shape/kernel_model.h"
#include "kernelcast/error.h"
#include "llvm/IR/PatternMatch.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

/// Whether the test asks an mbarrier inside the loop for its phase: mbarrier.try_wait suspends the thread, so the loop
/// is a wait that runs once, however long it takes.
bool waits_for_barrier(const Value& test, const llvm::Loop& loop) {
  const auto* i = dyn_cast<Instruction>(&test);
  if (!i || !loop.contains(i)) return false;
  if (is_barrier_test(*i)) return true;
  if (!isa<CastInst>(i) && !isa<ICmpInst>(i) && !isa<SelectInst>(i) && !isa<BinaryOperator>(i) && !isa<FreezeInst>(i))
    return false;
  return std::any_of(i->op_begin(), i->op_end(), [&](const Use& u) { return waits_for_barrier(*u.get(), loop); });
}

}  // namespace

const TripCount& KernelModel::trips(llvm::Loop* loop) {
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer)
    if (auto it = layer->trips.find(loop); it != layer->trips.end()) return it->second;
  const std::size_t top = layers_.size() - 1;
  if (!layers_[top].counting.insert(loop).second) {
    static const TripCount unknown{std::nullopt, false, false, "the loop's end depends on its own count"};
    return unknown;
  }
  TripCount t;
  try {
    t = compute_trips(loop);
  } catch (const Error&) {
    t.reason = "its number of iterations leaves 64 bits";
  }
  layers_[top].counting.erase(loop);
  Layer& layer = layer_for(t);
  return layer.trips.insert_or_assign(loop, std::move(t)).first->second;
}

TripCount KernelModel::compute_trips(llvm::Loop* loop) {
  TripCount result;
  BasicBlock* latch = loop->getLoopLatch();
  if (!latch) {
    result.reason = "the loop has several latches";
    return result;
  }
  SmallVector<BasicBlock*, 4> exiting;
  loop->getExitingBlocks(exiting);
  std::optional<Expr> stays;
  for (BasicBlock* block : exiting) {
    auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    std::optional<Expr> s;
    if (branch && branch->isConditional() && waits_for_barrier(*branch->getCondition(), *loop))
      s = Expr(0);
    else if (branch && branch->isConditional() && dominators_.dominates(block, latch))
      s = iterations_while(branch->getCondition(), loop->contains(branch->getSuccessor(0)), loop);
    if (!s && branch && branch->isConditional() &&
        always(branch->getCondition(), loop->contains(branch->getSuccessor(0))))
      continue;
    if (!s) {
      result.other_exits = true;
      result.reason = "the test at " + text_of(line_of(*block->getTerminator())) + " depends on data";
      if (branch && branch->isConditional())
        result.reason = reason_in(condition(branch->getCondition()), result.reason);
      continue;
    }
    stays = stays ? min(*stays, *s) : *s;
    if (exiting.size() == 1 && block == loop->getHeader() && block != latch) result.header_test = true;
  }
  if (stays) result.trips = *stays + 1;
  return result;
}

namespace {

/// A constant that an unsigned test reads as more than the largest signed number: 2^31 and above of 32 bits.
std::optional<Expr> large_unsigned(const ICmpInst& compare, unsigned operand) {
  const auto* c = dyn_cast<ConstantInt>(compare.getOperand(operand));
  if (!compare.isUnsigned() || !c || !c->isNegative() || c->getBitWidth() > 32) return std::nullopt;
  return Expr(static_cast<std::int64_t>(c->getZExtValue()));
}

unsigned width_of(const ICmpInst& compare) {
  const Type* type = compare.getOperand(0)->getType();
  return type->isIntegerTy() ? type->getIntegerBitWidth() : 64;
}

/// How often a constant step leads from a constant difference to zero, the long way round where the short one is
/// against the step's direction: up to 2^31 as an unsigned number, which is negative as a signed one.
Expr steps_to_zero(const Expr& d0, const Expr& k, unsigned bits) {
  const auto start = d0.constant(), step = k.constant();
  if (!start || !step || bits > 32 || *start == 0 || (*start > 0) == (*step < 0)) return floor_div(-d0, k);
  const std::int64_t round = std::int64_t{1} << bits;
  return floor_div(Expr(*step > 0 ? round - *start : -round - *start), k);
}

}  // namespace

/// Whether a comparison of integers has the result `expected` in every iteration, as `tile >= 0` of a sum of indices.
bool KernelModel::always(Value* test, bool expected) {
  auto* compare = dyn_cast<ICmpInst>(test);
  if (!compare || !compare->getOperand(0)->getType()->isIntegerTy()) return false;
  const auto predicate = expected ? compare->getPredicate() : compare->getInversePredicate();
  const Expr x = integer(compare->getOperand(0)), y = integer(compare->getOperand(1));
  if (!data_in(x).empty() || !data_in(y).empty()) return false;
  switch (predicate) {
    case CmpInst::ICMP_SGT:
      return non_negative(x - y - 1);
    case CmpInst::ICMP_SGE:
      return non_negative(x - y);
    case CmpInst::ICMP_SLT:
      return non_negative(y - x - 1);
    case CmpInst::ICMP_SLE:
      return non_negative(y - x);
    default:
      return false;
  }
}

std::optional<Expr> KernelModel::iterations_while(Value* test, bool stay_if, llvm::Loop* loop) {
  using namespace PatternMatch;
  Value *a = nullptr, *b = nullptr;
  if (match(test, m_Not(m_Value(a)))) return iterations_while(a, !stay_if, loop);
  const bool both =
      stay_if ? match(test, m_LogicalAnd(m_Value(a), m_Value(b))) : match(test, m_LogicalOr(m_Value(a), m_Value(b)));
  if (both && always(a, stay_if)) return iterations_while(b, stay_if, loop);
  if (both && always(b, stay_if)) return iterations_while(a, stay_if, loop);
  if (both) {
    auto x = iterations_while(a, stay_if, loop), y = iterations_while(b, stay_if, loop);
    if (x && y) return min(*x, *y);
    return std::nullopt;
  }
  auto* compare = dyn_cast<ICmpInst>(test);
  if (!compare) return count_by_trying(condition(test), stay_if, loop);
  const auto predicate = stay_if ? compare->getPredicate() : compare->getInversePredicate();
  Expr x, y;
  if (compare->getOperand(0)->getType()->isPointerTy()) {
    const Address p = address(compare->getOperand(0)), q = address(compare->getOperand(1));
    if (p.buffer != q.buffer || p.buffer < 0) return std::nullopt;
    x = p.offset;
    y = q.offset;
  } else {
    x = integer(compare->getOperand(0));
    y = integer(compare->getOperand(1));
    const auto starts_above_zero = [&](const Expr& e) {
      return non_negative(e.substitute({{counter(loop), Expr(0)}}));
    };
    if (const auto large = large_unsigned(*compare, 0); large && starts_above_zero(y)) x = *large;
    if (const auto large = large_unsigned(*compare, 1); large && starts_above_zero(x)) y = *large;
  }
  // LLVM writes `p ^ q == y` for q == p ^ y, where p ^ y is what the copies of an unrolled loop leave.
  Value *p = nullptr, *q = nullptr;
  if (compare->isEquality() && match(compare->getOperand(0), m_Xor(m_Value(p), m_Value(q)))) {
    const Symbol c = counter(loop);
    if (integer(p).depends_on(c)) std::swap(p, q);
    if (!integer(p).depends_on(c) && integer(q).depends_on(c) && !y.depends_on(c)) {
      x = integer(q);
      y = Expr::apply(Op::bit_xor, integer(p), y);
    }
  }
  if (auto n = count_while(predicate, x, y, loop, width_of(*compare))) return n;
  return compare->getOperand(0)->getType()->isPointerTy() ? std::nullopt
                                                          : count_by_trying(condition(test), stay_if, loop);
}

std::optional<Expr> KernelModel::count_by_trying(const Expr& test, bool stay_if, llvm::Loop* loop) {
  constexpr std::int64_t most_tries = 256;
  const Symbol c = counter(loop);
  const std::set<Symbol> symbols = test.symbols();
  if (symbols.size() != 1 || !symbols.contains(c)) return std::nullopt;
  for (std::int64_t n = 0; n < most_tries; ++n) {
    const auto value = test.substitute({{c, Expr(n)}}).constant();
    if (!value) return std::nullopt;
    if ((*value != 0) != stay_if) return Expr(n);
  }
  return std::nullopt;
}

std::optional<Expr> KernelModel::count_while(CmpInst::Predicate p, const Expr& a, const Expr& b, llvm::Loop* loop,
                                             unsigned bits) {
  for (const Expr* e : {&a, &b})
    for (const DataValue* d : data_in(*e)) {
      (void)d;
      return std::nullopt;  // also loop-invariant data: the number is unknown either way
    }
  if (auto g = count_geometric(p, a, b, loop)) return g;
  const Expr d = a - b;
  auto k = d.coefficient(counter(loop));
  if (!k) return std::nullopt;
  if (k->is_zero()) return std::nullopt;  // never ends, or never runs twice: not a count
  return count_affine(p, d - *k * Expr(counter(loop)), *k, bits);
}

std::optional<Expr> KernelModel::count_affine(CmpInst::Predicate p, const Expr& d0, const Expr& k,
                                              unsigned bits) const {
  // The sign of a symbolic step follows from the direction of the test: otherwise the loop would not end.
  auto sign = [&](int expected) {
    if (auto c = k.constant()) return *c > 0 ? 1 : -1;
    return expected;
  };
  auto clamp = [&](const Expr& s) { return non_negative(s) ? s : max(s, 0); };
  switch (p) {
    case CmpInst::ICMP_SLT:
    case CmpInst::ICMP_ULT:
      return sign(1) > 0 ? std::optional(clamp(ceil_div(-d0, k))) : std::nullopt;
    case CmpInst::ICMP_SLE:
    case CmpInst::ICMP_ULE:
      return sign(1) > 0 ? std::optional(clamp(floor_div(-d0, k) + 1)) : std::nullopt;
    case CmpInst::ICMP_SGT:
    case CmpInst::ICMP_UGT:
      return sign(-1) < 0 ? std::optional(clamp(ceil_div(d0, -k))) : std::nullopt;
    case CmpInst::ICMP_SGE:
    case CmpInst::ICMP_UGE:
      return sign(-1) < 0 ? std::optional(clamp(floor_div(d0, -k) + 1)) : std::nullopt;
    case CmpInst::ICMP_NE:
      return steps_to_zero(d0, k, bits);
    case CmpInst::ICMP_EQ:
      return equal(d0, 0);
    default:
      return std::nullopt;
  }
}

std::optional<Expr> KernelModel::count_geometric(CmpInst::Predicate p, const Expr& a, const Expr& b, llvm::Loop* loop) {
  auto width = [](const Expr& e) { return Expr::apply(Op::bit_width, e); };
  const Symbol c = counter(loop);
  if (b.depends_on(c))
    return a.depends_on(c) ? std::nullopt : count_geometric(CmpInst::getSwappedPredicate(p), b, a, loop);
  std::vector<Geometric> recurrences;
  for (const Layer& layer : layers_)
    if (auto it = layer.geometric.find(loop); it != layer.geometric.end())
      recurrences.insert(recurrences.end(), it->second.begin(), it->second.end());
  for (const Geometric& g : recurrences) {
    const Expr factor(std::int64_t{1} << g.k);
    if (g.left) {  // a = m * (start << k*c) < b
      std::optional<Expr> start;
      for (std::int64_t m : {std::int64_t{1}, std::int64_t{2}, std::int64_t{1} << g.k})
        if (a == g.value * Expr(m)) start = g.start * Expr(m);
      if (!start) continue;
      const bool or_equal = p == CmpInst::ICMP_SLE || p == CmpInst::ICMP_ULE;
      if (!or_equal && p != CmpInst::ICMP_SLT && p != CmpInst::ICMP_ULT && p != CmpInst::ICMP_NE) return std::nullopt;
      const Expr limit = or_equal ? floor_div(b, *start) : ceil_div(b, *start) - 1;
      return ceil_div(width(limit), Expr(g.k));
    }
    std::optional<Expr> start;  // a = start >> k*c > t
    if (a == g.value) start = g.start;
    if (a == floor_div(g.value, factor) || a == Expr::apply(Op::shift_right, g.value, g.k) ||
        a == divide(g.value, factor))
      start = floor_div(g.start, factor);
    if (!start) continue;
    Expr least;  // stays while the value is at least this
    if (p == CmpInst::ICMP_SGT || p == CmpInst::ICMP_UGT)
      least = b + 1;
    else if (p == CmpInst::ICMP_SGE || p == CmpInst::ICMP_UGE)
      least = b;
    else if (p == CmpInst::ICMP_NE && b.is_zero())
      least = 1;
    else
      return std::nullopt;
    return ceil_div(width(floor_div(*start, least)), Expr(g.k));
  }
  return std::nullopt;
}

}  // namespace kernelcast::frontend
