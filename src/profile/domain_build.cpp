// Domain, part 1: from guards and trip counts to a list of terms. A conjunction becomes one term for each factor, so
// that a box is split only along what is really undecided. "c < ceil(a / b)" is the same as "c * b < a" and "c <
// floor(a / b)" the same as "(c + 1) * b <= a" for b > 0, which makes grid-stride loops linear.
#include <algorithm>

#include "core/expr_node.h"
#include "kernelcast/error.h"
#include "profile/domain.h"

namespace kernelcast {

inline constexpr std::size_t most_uniform_unknowns = 8;

Domain::Domain(const KernelProfile& profile, int loop, const Guard& guard, const std::optional<Expr>& condition,
               ConstantPool& pool)
    : profile_(profile) {
  for (int axis = 0; axis < 3; ++axis) scope_.symbols.push_back(local_id(axis));
  for (int axis = 0; axis < 3; ++axis) scope_.symbols.push_back(group_id(axis));
  std::vector<int> chain;
  for (int l = loop; l >= 0; l = profile.loops[l].parent) chain.insert(chain.begin(), l);
  if (chain.size() + first_counter > max_variables)
    throw LimitError("kernel " + profile.kernel + " nests more than " + std::to_string(max_variables - first_counter) +
                     " loops");
  for (int l : chain) {
    const Loop& source = profile.loops[l];
    Level level;
    level.loop = l;
    add_guard(source.guard, level, pool);
    level.unknown = source.unknown;
    if (source.unknown < 0) level.trips = Index(source.trips, scope_, pool);
    level.variable = static_cast<int>(scope_.symbols.size());
    scope_.symbols.push_back(source.counter);
    level.first_trip = static_cast<int>(terms_.size());
    if (source.unknown < 0) add_trips(source.counter, source.trips, pool);
    level.last_trip = static_cast<int>(terms_.size());
    levels_.push_back(std::move(level));
  }
  Level own;
  add_guard(guard, own, pool);
  own.first_trip = own.last_trip = static_cast<int>(terms_.size());
  levels_.push_back(std::move(own));
  first_condition_ = static_cast<int>(terms_.size());
  if (condition) {
    has_condition_ = true;
    add_condition(*condition, pool);
  }
}

bool Domain::varies(const Expr& e) const {
  for (Symbol s : e.symbols())
    if (scope_.find(s) >= 0) return true;
  return false;
}

void Domain::add_guard(const Guard& guard, Level& level, ConstantPool& pool) {
  for (const Path& path : guard.paths) {
    PathPlan plan;
    plan.first = static_cast<int>(terms_.size());
    add_condition(path.condition, pool);
    plan.last = static_cast<int>(terms_.size());
    plan.factors = path.factors;
    for (const auto& f : path.factors) {
      if (profile_.unknowns[f.unknown].uniform && uniform_.size() < most_uniform_unknowns &&
          std::find(uniform_.begin(), uniform_.end(), f.unknown) == uniform_.end())
        uniform_.push_back(f.unknown);
    }
    level.paths.push_back(std::move(plan));
  }
  if (guard.paths.size() != 1 || !guard.paths[0].factors.empty()) plain_ = false;
}

void Domain::add_term(Kind kind, const Expr& e, ConstantPool& pool) {
  Term t;
  t.kind = kind;
  t.index = Index(e, scope_, pool);
  terms_.push_back(std::move(t));
}

void Domain::add_condition(const Expr& e, ConstantPool& pool) {
  if (const auto known = e.constant(); known && *known != 0) return;
  const auto& sum = terms_of(e);
  if (!varies(e) || sum.size() != 1 || sum[0].factors.empty()) return add_term(Kind::nonzero, e, pool);
  if (sum[0].factors.size() > 1) {
    for (const Factor& f : sum[0].factors) add_condition(monomial({{f.atom, 1}}), pool);
    return;
  }
  const OpNode* op = sum[0].factors[0].atom.op();
  if (op == nullptr) return add_term(Kind::nonzero, e, pool);
  const auto linear = [&](const Expr& x) { return Index(x, scope_, pool).affine(); };
  const auto booleans = [&] {
    return std::all_of(op->args.begin(), op->args.end(), [](const Expr& a) { return is_boolean(a); });
  };
  switch (op->op) {
    case Op::less:
      if (const Expr d = op->args[0] - op->args[1]; linear(d)) return add_term(Kind::negative, d, pool);
      break;
    case Op::less_equal:
      if (const Expr d = op->args[0] - op->args[1] - 1; linear(d)) return add_term(Kind::negative, d, pool);
      break;
    case Op::equal:
      if (const Expr d = op->args[0] - op->args[1]; linear(d)) return add_term(Kind::zero, d, pool);
      break;
    case Op::min:
    case Op::bit_and:
      if (!booleans()) break;
      for (const Expr& a : op->args) add_condition(a, pool);
      return;
    case Op::select:
      if (!op->args[2].is_zero()) break;
      add_condition(op->args[0], pool);
      add_condition(op->args[1], pool);
      return;
    default:
      break;
  }
  add_term(Kind::nonzero, e, pool);
}

// counter < rest + div(a, b) with a launch constant b, everything else linear.
bool Domain::add_divided_trips(Symbol counter, const Expr& trips, ConstantPool& pool) {
  for (const ::kernelcast::Term& t : terms_of(trips)) {
    if (t.coefficient != 1 || t.factors.size() != 1 || t.factors[0].exponent != 1) continue;
    const OpNode* op = t.factors[0].atom.op();
    if (op == nullptr || (op->op != Op::ceil_div && op->op != Op::floor_div)) continue;
    const Expr &a = op->args[0], &b = op->args[1];
    if (varies(b)) continue;
    const Expr before = Expr(counter) - (trips - monomial(t.factors));  // counter without the rest
    const Expr difference = op->op == Op::ceil_div ? before * b - a : (before + 1) * b - a - 1;
    Index linear(difference, scope_, pool);
    if (!linear.affine()) continue;
    kernelcast::Domain::Term term;
    term.kind = Kind::negative;
    term.index = std::move(linear);
    term.positive_slot = pool.slot(b);
    term.general = Index(less(counter, trips), scope_, pool);
    terms_.push_back(std::move(term));
    return true;
  }
  return false;
}

void Domain::add_trips(Symbol counter, const Expr& trips, ConstantPool& pool) {
  if (!varies(trips)) return;  // the box is exact
  const Expr difference = Expr(counter) - trips;
  if (Index(difference, scope_, pool).affine()) return add_term(Kind::negative, difference, pool);
  if (const auto& sum = terms_of(trips); sum.size() == 1 && sum[0].coefficient == 1 && sum[0].factors.size() == 1) {
    const OpNode* op = sum[0].factors[0].atom.op();
    if (op != nullptr && op->op == Op::min && sum[0].factors[0].exponent == 1) {
      for (const Expr& a : op->args) {
        if (varies(a))
          add_trips(counter, a, pool);
        else
          add_term(Kind::negative, Expr(counter) - a, pool);
      }
      return;
    }
    if (op != nullptr && op->op == Op::max && op->args.size() == 2) {
      for (std::size_t i = 0; i < 2; ++i)
        if (const auto c = op->args[i].constant(); c && *c <= 0 && sum[0].factors[0].exponent == 1)
          return add_trips(counter, op->args[1 - i], pool);
    }
  }
  if (add_divided_trips(counter, trips, pool)) return;
  add_term(Kind::nonzero, less(counter, trips), pool);
}

}  // namespace kernelcast
