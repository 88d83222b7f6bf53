// Values carried around loops. A header phi is bound to a placeholder, the value that the latch sends back is read in
// terms of it, and the recurrence is matched against the forms with a closed solution after c iterations:
//   x' = x + s        ->  start + c*s            (s not changing in the loop)
//   x' = x + s + t*c  ->  start + c*s + t*c*(c-1)/2
//   x' = x * 2^k      ->  start << (k*c)
//   x' = x >> k       ->  start >> (k*c)         (also floor division by 2^k)
//   x' = a - x        ->  start or a - start, alternating;   x' = x ^ a likewise
//   x' = f(c)         ->  start, then f(c - 1)   (x trails another value of the loop)
//   x' = (x + s) mod m, min(x + s, m), max(x - s, m)   ->  start, then the same of start + c*s
//   x' = y, y' = x    ->  the two starts, alternating
// Everything else is a data symbol.
//
// While a recurrence is read, what is found may depend on its placeholder, or fail for want of its solution. Such
// results live in the placeholder's layer and go with it; all others are kept (layer_for).
#include <bit>

#include "core/expr_node.h"
#include "frontend/shape/kernel_model.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

bool is_power_of_two(std::int64_t v) { return v > 0 && (v & (v - 1)) == 0; }
constexpr int most_nested = 64;  // recurrences read on the way to one solution

std::int64_t log2_of(std::int64_t v) { return std::countr_zero(static_cast<std::uint64_t>(v)); }

}  // namespace

Symbol KernelModel::counter(llvm::Loop* loop) {
  if (auto it = counters_.find(loop); it != counters_.end()) return it->second;
  std::string name = "i@" + std::to_string(line_of(*loop).line);
  for (PHINode& phi : loop->getHeader()->phis())
    if (phi.hasName() && phi.getType()->isIntegerTy() && !phi.getName().starts_with("indvar")) {
      StringRef variable =
          phi.getName().take_while([](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
      if (!variable.empty()) name = variable.str() + "@" + std::to_string(line_of(*loop).line);
      break;
    }
  std::set<std::string> taken;
  for (auto& [l, s] : counters_) taken.insert(s.name());
  std::string unique = name;
  for (int n = 2; taken.contains(unique); ++n) unique = name + "." + std::to_string(n);
  Symbol s(unique);
  ranges_[s] = Interval{0, std::int64_t{1} << 40};
  return counters_.emplace(loop, s).first->second;
}

const Symbol* KernelModel::placeholder_of(const PHINode* phi) const {
  for (const auto& [p, s] : placeholders_)
    if (p == phi) return &s;
  return nullptr;
}

KernelModel::Layer& KernelModel::layer_for(std::initializer_list<const Expr*> results) {
  for (std::size_t n = placeholders_.size(); n-- > 0;)
    for (const Expr* e : results)
      if (e->depends_on(placeholders_[n].second)) return layers_[n + 1];
  if (!placeholders_.empty())
    for (const Expr* e : results)
      for (Symbol s : tentative_)
        if (e->depends_on(s)) return layers_.back();
  return layers_[0];
}

KernelModel::Layer& KernelModel::layer_for(const Guard& guard) {
  Layer* layer = layers_.data();
  for (const Path& p : guard.paths) {
    if (!p.factors.empty()) return layers_.back();  // a branch may be taken for data-decided for now
    layer = std::max(layer, &layer_for({&p.condition}));
  }
  return *layer;
}

KernelModel::Layer& KernelModel::layer_for(const TripCount& count) {
  return count.trips && !count.other_exits ? layer_for({&*count.trips}) : layers_.back();
}

/// Whether an expression changes from one iteration to the next other than through the loop's counter.
bool KernelModel::varies_in(const Expr& e, llvm::Loop* loop) const {
  for (const DataValue* d : data_in(e)) {
    auto* i = dyn_cast<Instruction>(d->value);
    if (i && loop->contains(i)) return true;
  }
  for (const auto& [phi, s] : placeholders_)
    if (loop->contains(phi->getParent()) && e.depends_on(s)) return true;
  return false;
}

std::optional<Expr> KernelModel::solve_recurrence(const Expr& next, Symbol previous, const Expr& start,
                                                  llvm::Loop* loop) {
  const Expr x(previous);
  const Symbol count = counter(loop);
  const Expr c(count);
  auto invariant = [&](const Expr& e) {
    return !e.depends_on(previous) && !e.depends_on(count) && !varies_in(e, loop);
  };
  auto geometric = [&](const Expr& solution, std::int64_t k, bool left) {
    layer_for({&solution}).geometric[loop].push_back({solution, start, k, left});
    return solution;
  };
  if (next == x) return start;
  if (!next.depends_on(previous)) {  // trails what the loop does otherwise
    if (varies_in(next, loop)) return std::nullopt;
    const Expr before = next.substitute({{count, c - 1}});
    return next.substitute({{count, Expr(-1)}}) == start ? before : select(c, before, start);
  }
  const Expr step = next - x;
  if (invariant(step)) return start + c * step;
  if (auto k = step.coefficient(count); k && invariant(*k) && invariant(step - *k * c))
    return start + c * (step - *k * c) + *k * floor_div(c * c - c, 2);
  for (std::int64_t k = 1; k <= 16; ++k) {
    const Expr factor(std::int64_t{1} << k);
    if (next == floor_div(x, factor) || next == Expr::apply(Op::shift_right, x, k) || next == divide(x, factor))
      return geometric(Expr::apply(Op::shift_right, start, c * k), k, false);
  }
  if (auto k = next.coefficient(previous)) {
    const Expr rest = next - *k * x;
    if (auto factor = k->constant(); factor && rest.is_zero() && *factor > 1 && is_power_of_two(*factor))
      return geometric(Expr::apply(Op::shift_left, start, c * log2_of(*factor)), log2_of(*factor), true);
    if (k->constant() == -1 && invariant(rest)) return select(mod(c, 2), rest - start, start);
  }
  for (std::int64_t bit = 0; bit < 16; ++bit) {
    const Expr flip(std::int64_t{1} << bit);
    if (next == Expr::apply(Op::bit_xor, x, flip) || next == Expr::apply(Op::bit_xor, flip, x))
      return select(mod(c, 2), Expr::apply(Op::bit_xor, start, flip), start);
  }
  return solve_saturating(next, previous, start, loop);
}

/// Steps within bounds: wrapping around, or stopping at a limit.
std::optional<Expr> KernelModel::solve_saturating(const Expr& next, Symbol previous, const Expr& start,
                                                  llvm::Loop* loop) {
  const Expr c(counter(loop));
  const Expr beside(next.constant_term());  // min(x + 4, 100) may be written min(x, 96) + 4
  const Expr varying = next - beside;
  const Atom* atom = single_atom(varying);
  const OpNode* op = atom ? atom->op() : nullptr;
  if (!op || op->args.size() != 2) return std::nullopt;
  const bool extremum = op->op == Op::min || op->op == Op::max;
  if (!extremum && !beside.is_zero()) return std::nullopt;
  for (std::size_t side = 0; side < (op->op == Op::mod ? 1 : 2); ++side) {
    const Expr bound = op->args[1 - side] + beside;
    const Expr step = op->args[side] + beside - Expr(previous);
    bool fixed = true;
    for (const Expr* e : {&step, &bound})
      fixed = fixed && !e->depends_on(previous) && !e->depends_on(counter(loop)) && !varies_in(*e, loop);
    if (!fixed) continue;
    const Expr moved = start + c * step;
    switch (op->op) {
      case Op::mod:
        return mod(start, bound) == start ? mod(moved, bound) : select(c, mod(moved, bound), start);
      case Op::min:
        if (non_negative(step)) return select(c, min(moved, bound), start);
        break;
      case Op::max:
        if (non_negative(-step)) return select(c, max(moved, bound), start);
        break;
      case Op::bit_and:
        // With m one less than a power of two this is a modulus; an argument in m is taken to be so.
        if (!bound.constant()) return select(c, Expr::apply(Op::bit_and, moved, bound), start);
        break;
      default:
        break;
    }
  }
  return std::nullopt;
}

Expr KernelModel::header_phi(PHINode* phi, llvm::Loop* loop) {
  if (const Symbol* s = placeholder_of(phi)) return *s;
  BasicBlock* before = loop->getLoopPredecessor();
  BasicBlock* latch = loop->getLoopLatch();
  if (!before || !latch) return data(phi, "carried around a loop of several latches");
  if (placeholders_.empty()) nested_recurrences_ = 0;
  if (placeholders_.size() > 8 || ++nested_recurrences_ > most_nested)
    return data(phi, "carried around loops that depend on one another");
  const Expr start = integer(phi->getIncomingValueForBlock(before));
  Value* sent_back = phi->getIncomingValueForBlock(latch);
  if (auto* other = dyn_cast<PHINode>(sent_back);
      other && other != phi && other->getParent() == phi->getParent() && other->getIncomingValueForBlock(latch) == phi)
    return select(mod(Expr(counter(loop)), 2), integer(other->getIncomingValueForBlock(before)), start);
  const Symbol placeholder("phi:" + std::to_string(placeholders_.size()));
  placeholders_.emplace_back(phi, placeholder);
  layers_.emplace_back();
  const Expr next = integer(sent_back);
  layers_.pop_back();
  placeholders_.pop_back();
  auto solution = solve_recurrence(next, placeholder, start, loop);
  return solution ? *solution : data(phi, "carried around the loop at " + text_of(line_of(*loop)));
}

Address KernelModel::header_phi_address(PHINode* phi, llvm::Loop* loop) {
  // The address of a pointer phi while its own recurrence is read: the placeholder stands for the bytes advanced.
  BasicBlock* before = loop->getLoopPredecessor();
  BasicBlock* latch = loop->getLoopLatch();
  if (!before || !latch) return unknown_address(phi, "a pointer carried around a loop of several latches");
  const Address start = address(phi->getIncomingValueForBlock(before));
  if (const Symbol* s = placeholder_of(phi)) return {start.buffer, *s};
  if (placeholders_.empty()) nested_recurrences_ = 0;
  if (placeholders_.size() > 8 || ++nested_recurrences_ > most_nested)
    return unknown_address(phi, "pointers that depend on one another");
  Value* sent_back = phi->getIncomingValueForBlock(latch);
  if (auto* other = dyn_cast<PHINode>(sent_back);
      other && other != phi && other->getParent() == phi->getParent() && other->getIncomingValueForBlock(latch) == phi)
    return choose(phi, mod(Expr(counter(loop)), 2), address(other->getIncomingValueForBlock(before)), start);
  const Symbol placeholder("phi:" + std::to_string(placeholders_.size()));
  placeholders_.emplace_back(phi, placeholder);
  layers_.emplace_back();
  const Address next = address(sent_back);
  layers_.pop_back();
  placeholders_.pop_back();
  auto solution =
      next.buffer == start.buffer ? solve_recurrence(next.offset, placeholder, start.offset, loop) : std::nullopt;
  if (!solution)
    return {next.buffer == start.buffer ? start.buffer : -1,
            data(phi, "a pointer carried around the loop at " + text_of(line_of(*loop)))};
  return {start.buffer, *solution};
}

Expr KernelModel::exit_value(PHINode* phi, llvm::Loop* loop, const Expr& inside) {
  const TripCount& count = trips(loop);
  const Symbol c = counter(loop);
  if (!inside.depends_on(c)) return inside;
  if (!count.trips || count.other_exits) return data(phi, "value after a loop whose end data decide");
  return inside.substitute({{c, *count.trips - 1}});
}

/// The values of a phi chosen by the known conditions of its edges; nothing where data choose, with the reason.
template <class Value, class Choose>
std::optional<Value> KernelModel::choose_by_path(PHINode* phi, const std::vector<Value>& values, std::string& reason,
                                                 Choose choose) {
  BasicBlock* here = phi->getParent();
  llvm::Loop* level = loops_.getLoopFor(here);
  // A chain of selects over the edges, by the known conditions relative to where the paths part.
  BasicBlock* top = node_at(dominators_.getNode(here)->getIDom()->getBlock(), level);
  std::optional<Value> result;
  for (std::size_t n = values.size(); n-- > 0;) {
    const Guard edge = edge_guard(phi->getIncomingBlock(static_cast<unsigned>(n)), here, level, top);
    for (const Path& p : edge.paths)
      if (!p.factors.empty()) {
        reason = profile_.unknowns[static_cast<std::size_t>(p.factors[0].unknown)].reason;
        return std::nullopt;
      }
    if (edge.paths.empty()) continue;  // taken never
    result = result ? choose(edge.paths[0].condition, values[n], *result) : values[n];
  }
  return result;
}

Expr KernelModel::merge_phi(PHINode* phi) {
  std::vector<Expr> values;
  for (unsigned n = 0; n < phi->getNumIncomingValues(); ++n) {
    Expr v = integer(phi->getIncomingValue(n));
    llvm::Loop* inner = loops_.getLoopFor(phi->getIncomingBlock(n));
    if (inner && !inner->contains(phi->getParent())) v = exit_value(phi, inner, v);
    values.push_back(v);
  }
  if (std::all_of(values.begin(), values.end(), [&](const Expr& v) { return v == values[0]; })) return values[0];
  std::string reason = "depends on the path taken";
  auto pick = [](const Expr& c, const Expr& a, const Expr& b) { return select(c, a, b); };
  auto result = choose_by_path(phi, values, reason, pick);
  return result ? *result : data(phi, reason);
}

Address KernelModel::merge_phi_address(PHINode* phi) {
  std::vector<Address> values;
  for (unsigned n = 0; n < phi->getNumIncomingValues(); ++n) {
    Address v = address(phi->getIncomingValue(n));
    llvm::Loop* inner = loops_.getLoopFor(phi->getIncomingBlock(n));
    if (inner && !inner->contains(phi->getParent())) v.offset = exit_value(phi, inner, v.offset);
    values.push_back(v);
  }
  auto same = [&](const Address& v) { return v.buffer == values[0].buffer && v.offset == values[0].offset; };
  if (std::all_of(values.begin(), values.end(), same)) return values[0];
  std::string reason = "a pointer that depends on the path taken";
  auto pick = [&](const Expr& c, const Address& a, const Address& b) { return choose(phi, c, a, b); };
  auto result = choose_by_path(phi, values, reason, pick);
  if (result) return *result;
  const bool one =
      std::all_of(values.begin(), values.end(), [&](const Address& v) { return v.buffer == values[0].buffer; });
  return {one ? values[0].buffer : -1, data(phi, reason)};
}

}  // namespace kernelcast::frontend
