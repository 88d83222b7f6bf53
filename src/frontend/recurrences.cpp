// Values carried around loops. A header phi is bound to a placeholder, the value that the latch sends back is read in
// terms of it, and the recurrence is matched against the forms with a closed solution after c iterations:
//   x' = x + s        ->  start + c*s            (s not changing in the loop)
//   x' = x * 2^k      ->  start << (k*c)
//   x' = x >> k       ->  start >> (k*c)         (also floor division by 2^k)
//   x' = a - x        ->  start or a - start, alternating;   x' = x ^ a likewise
// Everything else is a data symbol.
#include <bit>

#include "frontend/kernel_model.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

bool is_power_of_two(std::int64_t v) { return v > 0 && (v & (v - 1)) == 0; }
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

std::optional<Expr> KernelModel::solve_recurrence(const Expr& next, Symbol previous, const Expr& start,
                                                  llvm::Loop* loop) {
  const Expr x(previous);
  const Expr c(counter(loop));
  auto invariant = [&](const Expr& e) {
    if (e.depends_on(previous) || e.depends_on(counter(loop))) return false;
    for (const DataValue* d : data_in(e)) {
      auto* i = dyn_cast<Instruction>(d->value);
      if (i && loop->contains(i)) return false;
    }
    for (auto& [phi, s] : placeholders_)
      if (e.depends_on(s) && loop->contains(phi->getParent())) return false;
    return true;
  };
  if (next == x) return start;
  if (Expr step = next - x; invariant(step)) return start + c * step;
  for (std::int64_t k = 1; k <= 16; ++k) {
    const Expr factor(std::int64_t{1} << k);
    if (next == floor_div(x, factor) || next == Expr::apply(Op::shift_right, x, k) || next == divide(x, factor)) {
      const Expr solution = Expr::apply(Op::shift_right, start, c * k);
      geometric_[loop].push_back({solution, start, k, false});
      return solution;
    }
  }
  if (auto k = next.coefficient(previous)) {
    const Expr rest = next - *k * x;
    if (auto factor = k->constant(); factor && rest.is_zero() && *factor > 1 && is_power_of_two(*factor)) {
      const Expr solution = Expr::apply(Op::shift_left, start, c * log2_of(*factor));
      geometric_[loop].push_back({solution, start, log2_of(*factor), true});
      return solution;
    }
    if (k->constant() == -1 && invariant(rest)) return select(mod(c, 2), rest - start, start);
  }
  for (std::int64_t bit = 0; bit < 16; ++bit) {
    const Expr flip(std::int64_t{1} << bit);
    if (next == Expr::apply(Op::bit_xor, x, flip) || next == Expr::apply(Op::bit_xor, flip, x))
      return select(mod(c, 2), Expr::apply(Op::bit_xor, start, flip), start);
  }
  return std::nullopt;
}

Expr KernelModel::header_phi(PHINode* phi, llvm::Loop* loop) {
  if (auto it = placeholders_.find(phi); it != placeholders_.end()) return it->second;
  BasicBlock* before = loop->getLoopPredecessor();
  BasicBlock* latch = loop->getLoopLatch();
  if (!before || !latch) return data(phi, "carried around a loop of several latches");
  if (placeholders_.size() > 8) return data(phi, "carried around loops that depend on one another");
  const Expr start = integer(phi->getIncomingValueForBlock(before));
  const Symbol placeholder("phi:" + std::to_string(placeholders_.size()));
  placeholders_.emplace(phi, placeholder);
  integers_.emplace_back();
  addresses_.emplace_back();
  const Expr next = integer(phi->getIncomingValueForBlock(latch));
  integers_.pop_back();
  addresses_.pop_back();
  auto solution = solve_recurrence(next, placeholder, start, loop);
  placeholders_.erase(phi);
  return solution ? *solution : data(phi, "carried around the loop at " + text_of(line_of(*loop)));
}

Address KernelModel::header_phi_address(PHINode* phi, llvm::Loop* loop) {
  // The address of a pointer phi while its own recurrence is read: the placeholder stands for the bytes advanced.
  BasicBlock* before = loop->getLoopPredecessor();
  BasicBlock* latch = loop->getLoopLatch();
  if (!before || !latch) return unknown_address(phi, "a pointer carried around a loop of several latches");
  const Address start = address(phi->getIncomingValueForBlock(before));
  if (auto it = placeholders_.find(phi); it != placeholders_.end()) return {start.buffer, it->second};
  if (placeholders_.size() > 8) return unknown_address(phi, "pointers that depend on one another");
  const Symbol placeholder("phi:" + std::to_string(placeholders_.size()));
  placeholders_.emplace(phi, placeholder);
  integers_.emplace_back();
  addresses_.emplace_back();
  const Address next = address(phi->getIncomingValueForBlock(latch));
  integers_.pop_back();
  addresses_.pop_back();
  auto solution =
      next.buffer == start.buffer ? solve_recurrence(next.offset, placeholder, start.offset, loop) : std::nullopt;
  placeholders_.erase(phi);
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

Expr KernelModel::merge_phi(PHINode* phi) {
  BasicBlock* here = phi->getParent();
  llvm::Loop* level = loops_.getLoopFor(here);
  if (phi->getNumIncomingValues() == 1) {
    const Expr inside = integer(phi->getIncomingValue(0));
    llvm::Loop* inner = loops_.getLoopFor(phi->getIncomingBlock(0));
    return inner && !inner->contains(here) ? exit_value(phi, inner, inside) : inside;
  }
  std::vector<Expr> values;
  for (unsigned n = 0; n < phi->getNumIncomingValues(); ++n) {
    Expr v = integer(phi->getIncomingValue(n));
    llvm::Loop* inner = loops_.getLoopFor(phi->getIncomingBlock(n));
    if (inner && !inner->contains(here)) v = exit_value(phi, inner, v);
    values.push_back(v);
  }
  if (std::all_of(values.begin(), values.end(), [&](const Expr& v) { return v == values[0]; })) return values[0];
  // A chain of selects over the edges, by the known conditions relative to where the paths part.
  BasicBlock* top = node_at(dominators_.getNode(here)->getIDom()->getBlock(), level);
  Expr result = values.back();
  for (std::size_t n = values.size(); n-- > 0;) {
    const Guard edge = edge_guard(phi->getIncomingBlock(static_cast<unsigned>(n)), here, level, top);
    if (edge.paths.size() != 1 || !edge.paths[0].factors.empty()) return data(phi, "depends on the path taken");
    if (n + 1 < values.size()) result = select(edge.paths[0].condition, values[n], result);
  }
  return result;
}

}  // namespace kernelcast::frontend
