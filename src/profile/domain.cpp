// Domain, part 2: cutting. Start from the box of all groups and iterations; decide every term on the box by (exactly
// linear) interval arithmetic; drop the box when the code cannot run there; where a term is open and depends on outer
// variables, cut along one of them, at the thresholds that a linear term names, otherwise in half. What is left open
// depends on the lane alone and is evaluated for each. A grid thus falls into its interior and its edges, whatever its
// size.
#include "profile/domain.h"

#include <algorithm>
#include <cmath>

#include "kernelcast/error.h"

namespace kernelcast {
namespace {

std::int64_t clamp_to(Int128 v, std::int64_t lo, std::int64_t hi) {
  return static_cast<std::int64_t>(std::clamp<Int128>(v, lo, hi));
}

/// A population count is a call on machines that are not known to have the instruction.
bool has_two_bits(VariableMask m) {
  const VariableMask rest = m & (m - 1);
  return rest != 0 && (rest & (rest - 1)) == 0;
}

// What deciding one term on one box costs, in lane evaluations.
constexpr double term_work = 4;

// What a sheared variable adds to the coefficient of the one it follows.
Int128 sheared_part(const Index& index, const Box& box, const ConstantPool& pool) {
  for (const auto& t : index.terms())
    if (t.variable == box.sheared) return static_cast<Int128>(pool[t.slot]) * box.slope;
  return 0;
}

// The coefficient of an outer variable on the box.
Int128 coefficient_on(const Index& index, const Box& box, const ConstantPool& pool, int v) {
  Int128 c = v == box.along ? sheared_part(index, box, pool) : 0;
  for (const auto& t : index.terms())
    if (t.variable == v) c += pool[t.slot];
  return c;
}

}  // namespace

Bounds affine_range(const Index& index, const Box& box, const ConstantPool& pool, VariableMask& open) {
  Int128 lo = pool[index.constant_slot()], hi = lo;
  const auto add = [&](int variable, Int128 c) {
    if (c == 0) return;
    lo += c * (c > 0 ? box.lo[variable] : box.hi[variable]);
    hi += c * (c > 0 ? box.hi[variable] : box.lo[variable]);
    if (box.is_free(variable)) open |= 1U << variable;
  };
  if (box.sheared < 0) {
    for (const auto& t : index.terms()) add(t.variable, pool[t.slot]);
    return {lo, hi};
  }
  const Int128 extra = sheared_part(index, box, pool);  // c * slope * (x - lo[along]) more than c * lo[sheared]
  lo -= extra * box.lo[box.along];
  hi -= extra * box.lo[box.along];
  Int128 along = extra;
  for (const auto& t : index.terms()) {
    if (t.variable == box.along)
      along += pool[t.slot];
    else
      add(t.variable, pool[t.slot]);
  }
  add(box.along, along);
  return {lo, hi};
}

bool Domain::visit(const LaunchState& launch, LeafSink& sink) {
  launch_ = &launch;
  sink_ = &sink;
  work_ = 0;
  exact_ = true;
  for (Term& t : terms_) {
    const bool special = t.positive_slot < 0 || (*launch.pool)[t.positive_slot] > 0;
    t.now = special ? &t.index : &t.general;
    t.kind_now = special ? t.kind : Kind::nonzero;
  }
  root_.variables = static_cast<int>(scope_.symbols.size());  // lo of lanes and groups is 0
  const auto size = launch.block->size.array(), groups = launch.grid.array();
  for (int axis = 0; axis < 3; ++axis) {
    root_.hi[axis] = size[axis] - 1;
    root_.hi[first_outer + axis] = groups[axis] - 1;
  }
  make_roots(0, root_, 1.0);
  return exact_;
}

void Domain::make_roots(std::size_t level, Box& box, double weight) {
  if (level + 1 == levels_.size()) return descend(box, weight, 0);
  Level& l = levels_[level];
  if (l.unknown >= 0) {
    const double trips = launch_->unknowns[l.unknown];
    const auto whole = static_cast<std::int64_t>(std::floor(trips));
    if (whole > 0) {
      box.lo[l.variable] = 0;
      box.hi[l.variable] = whole - 1;
      make_roots(level + 1, box, weight);
    }
    if (const double fraction = trips - static_cast<double>(whole); fraction > 0) {
      box.lo[l.variable] = box.hi[l.variable] = whole;
      make_roots(level + 1, box, weight * fraction);
    }
    return;
  }
  Bounds b;
  if (l.trips.affine()) {
    VariableMask ignored = 0;
    b = affine_range(l.trips, box, *launch_->pool, ignored);
  } else {
    b = l.trips.range_on(box, *launch_->pool);
  }
  if (b.hi <= 0) return;
  if (!fits_int64(b.hi))
    throw LimitError("the trip count of a loop of kernel " + profile_.kernel + " (line " +
                     std::to_string(profile_.loops[l.loop].line.line) +
                     ") cannot be bounded: " + profile_.loops[l.loop].trips.str());
  box.lo[l.variable] = 0;
  box.hi[l.variable] = static_cast<std::int64_t>(b.hi) - 1;
  make_roots(level + 1, box, weight);
}

// 1: holds on the whole box, 0: nowhere, -1: open, `open` has the outer variables it depends on.
int Domain::decide(Term& term, const Box& box, VariableMask& open) {
  VariableMask mask = 0;
  Bounds b;
  if (term.now->affine()) {
    b = affine_range(*term.now, box, *launch_->pool, mask);
  } else {
    Shape shape;
    term.now->shape_on(box, *launch_->pool, shape);
    b = shape.range(box);
    mask = shape.mask();
  }
  switch (term.kind_now) {
    case Kind::negative:
      if (b.hi < 0) return 1;
      if (b.lo >= 0) return 0;
      break;
    case Kind::zero:
      if (b.is_point() && b.lo == 0) return 1;
      if (!b.contains(0)) return 0;
      break;
    case Kind::nonzero:
      if (!b.contains(0)) return 1;
      if (b.is_point()) return 0;
      break;
  }
  open = mask & ~lane_variables;
  return -1;
}

// False when the code cannot run anywhere on the box. Finds the first open term that depends on a free outer variable.
bool Domain::decide_all(const Box& box, std::vector<std::int8_t>& decisions, int& open_term, VariableMask& open) {
  decisions.assign(terms_.size(), 1);
  open_term = -1;
  const auto look = [&](int t) {
    VariableMask mask = 0;
    const int d = decide(terms_[t], box, mask);
    decisions[t] = static_cast<std::int8_t>(d);
    if (d < 0 && mask != 0 && open_term < 0) {
      open_term = t;
      open = mask;
    }
    return d;
  };
  for (const Level& level : levels_) {
    bool alive = false;
    for (const PathPlan& path : level.paths) {
      const int open_before = open_term;
      bool possible = true;
      for (int t = path.first; t < path.last && possible; ++t) possible = look(t) != 0;
      if (!possible) open_term = open_before;
      alive = alive || possible;
    }
    if (!alive) return false;
    for (int t = level.first_trip; t < level.last_trip; ++t)
      if (look(t) == 0) return false;
  }
  const int open_before = open_term;
  for (int t = first_condition_; t < static_cast<int>(terms_.size()); ++t)
    if (look(t) == 0) {
      open_term = open_before;
      break;
    }
  return true;
}

// Pieces [lo, cut0), [cut0, cut1), [cut1, hi]: with a linear term the outer ones are decided.
Domain::Split Domain::choose(Term& term, const Box& box, VariableMask open) {
  Split best;
  std::int64_t best_gain = 0;
  double widest = -1;
  const auto halve = [&](int v, double width) {
    if (width <= widest || best_gain > 0) return;
    widest = width;
    best.variable = v;
    best.cut[0] = best.cut[1] = box.lo[v] + (box.hi[v] - box.lo[v]) / 2 + 1;
  };
  if (!term.now->affine()) {
    for (int v = first_outer; v < box.variables; ++v)
      if (open >> v & 1) halve(v, static_cast<double>(box.hi[v] - box.lo[v]));
    return best;
  }
  VariableMask ignored = 0;
  const Bounds all = affine_range(*term.now, box, *launch_->pool, ignored);
  for (VariableMask m = open; m != 0; m &= m - 1) {
    const int v = __builtin_ctz(m);
    const Int128 c = coefficient_on(*term.now, box, *launch_->pool, v);
    const std::int64_t lo = box.lo[v], hi = box.hi[v];
    // Range of everything but this variable.
    const Int128 rest_lo = all.lo - c * (c > 0 ? lo : hi), rest_hi = all.hi - c * (c > 0 ? hi : lo);
    // The open stretch of v: for "negative" where c*v + rest_lo < 0 <= c*v + rest_hi, otherwise where 0 is within
    // reach.
    Int128 from = 0, to = 0;  // inclusive
    const Int128 low_edge = term.kind_now == Kind::negative ? -1 : 0;
    if (c > 0) {
      from = ceil_quotient(-rest_hi, c);           // c*v + rest_hi >= 0
      to = floor_quotient(low_edge - rest_lo, c);  // c*v + rest_lo <= low_edge
    } else {
      from = ceil_quotient(low_edge - rest_lo, c);  // division by a negative number turns the inequalities
      to = floor_quotient(-rest_hi, c);
    }
    const std::int64_t first = clamp_to(from, lo, hi + 1), behind = clamp_to(to + 1, lo, hi + 1);
    const std::int64_t gain = behind <= first ? hi - lo + 1 : (first - lo) + (hi + 1 - behind);
    if (gain > best_gain) {
      best_gain = gain;
      best.variable = v;
      best.cut[0] = first;
      best.cut[1] = std::max(first, behind);
    }
    halve(v, std::abs(static_cast<double>(c)) * static_cast<double>(hi - lo));
  }
  return best;
}

void Domain::descend(const Box& box, double weight, int depth) {
  if (static_cast<int>(decisions_.size()) <= depth) decisions_.resize(depth + 1);
  int open_term = -1;
  VariableMask open = 0;
  work_ += term_work * static_cast<double>(1 + terms_.size());
  if (!decide_all(box, decisions_[depth], open_term, open)) return;
  if (open_term < 0) return emit(box, weight, decisions_[depth]);
  // Rows that are cut off one by one are as many calls deep: beyond what a thread's stack holds, a sample must do.
  constexpr int deepest = 6000;
  if (depth > deepest || (work_ > launch_->work_limit && box.volume() > sample_points(work_, launch_->work_limit)))
    return sample(box, weight, depth);
  if (shear(terms_[open_term], box, open, weight, depth)) return;
  const Split split = choose(terms_[open_term], box, open);
  if (split.variable < 0) throw InternalError("a condition depends on a variable that cannot be split");
  const int v = split.variable;
  const std::int64_t edges[4] = {box.lo[v], split.cut[0], split.cut[1], box.hi[v] + 1};
  for (int i = 0; i < 3; ++i) {
    if (edges[i] >= edges[i + 1]) continue;
    Box piece = box;
    piece.restrict_to(v, edges[i], edges[i + 1] - 1);
    descend(piece, weight, depth + 1);
  }
}

// A term c_b * b + c_a * a + rest < 0 with c_a = -slope * c_b is constant along b = slope * a + j: triangular loops.
// For each a the open stretch of b is the same, moved by slope * a; below and above it the term is decided. So: one box
// below and one above for each a, and one sheared box for each j. Returns false where that does not apply or does not
// pay.
bool Domain::shear(Term& term, const Box& box, VariableMask open, double weight, int depth) {
  constexpr std::int64_t pays_from = 4;
  if (box.sheared >= 0 || !term.now->affine() || term.kind_now != Kind::negative || !has_two_bits(open)) return false;
  const ConstantPool& pool = *launch_->pool;
  int a = __builtin_ctz(open), b = __builtin_ctz(open & (open - 1));
  Int128 ca = coefficient_on(*term.now, box, pool, a), cb = coefficient_on(*term.now, box, pool, b);
  if (ca % cb != 0) {
    std::swap(a, b);
    std::swap(ca, cb);
    if (ca % cb != 0) return false;
  }
  const Int128 slope = -ca / cb;
  if (slope > int64_max >> 16 || slope < -(int64_max >> 16) || box.hi[a] - box.lo[a] + 1 < pays_from) return false;
  VariableMask ignored = 0;
  const Bounds all = affine_range(*term.now, box, pool, ignored);
  const auto low_end = [&](Int128 c, int v) { return c * (c > 0 ? box.lo[v] : box.hi[v]); };
  const auto high_end = [&](Int128 c, int v) { return c * (c > 0 ? box.hi[v] : box.lo[v]); };
  const Int128 rest_lo = all.lo - low_end(ca, a) - low_end(cb, b), rest_hi = all.hi - high_end(ca, a) - high_end(cb, b);
  // The open stretch for a = 0, as in choose().
  const Int128 from = cb > 0 ? ceil_quotient(-rest_hi, cb) : ceil_quotient(-1 - rest_lo, cb);
  const Int128 to = cb > 0 ? floor_quotient(-1 - rest_lo, cb) : floor_quotient(-rest_hi, cb);
  if (to <= from || to - from > 65536) return false;
  // Values of a for which it lies within the range of b.
  const Int128 below = box.lo[b] - from, above = box.hi[b] - to;
  const std::int64_t first =
      clamp_to(slope > 0 ? ceil_quotient(below, slope) : ceil_quotient(above, slope), box.lo[a], box.hi[a] + 1);
  const std::int64_t last =
      clamp_to(slope > 0 ? floor_quotient(above, slope) : floor_quotient(below, slope), box.lo[a] - 1, box.hi[a]);
  if (last - first + 1 < pays_from) return false;
  if (work_ + launch_->leaf_work * (2 * static_cast<double>(last - first + 1)) > launch_->work_limit) return false;
  const auto part = [&](std::int64_t a_lo, std::int64_t a_hi, Int128 b_lo, Int128 b_hi) {
    if (a_lo > a_hi || b_lo > b_hi) return;
    Box piece = box;
    piece.restrict_to(a, a_lo, a_hi);
    piece.restrict_to(b, static_cast<std::int64_t>(b_lo), static_cast<std::int64_t>(b_hi));
    descend(piece, weight, depth + 1);
  };
  part(box.lo[a], first - 1, box.lo[b], box.hi[b]);
  part(last + 1, box.hi[a], box.lo[b], box.hi[b]);
  for (std::int64_t x = first; x <= last; ++x) {
    part(x, x, box.lo[b], from + slope * x - 1);
    part(x, x, to + slope * x + 1, box.hi[b]);
  }
  for (Int128 j = from; j <= to; ++j) {
    Box piece = box;
    piece.restrict_to(a, first, last);
    piece.lo[b] = piece.hi[b] = static_cast<std::int64_t>(j + slope * first);
    piece.sheared = b;
    piece.along = a;
    piece.slope = static_cast<std::int64_t>(slope);
    descend(piece, weight, depth + 1);
  }
  return true;
}

void Domain::sample(const Box& box, double weight, int depth) {
  exact_ = false;
  const int points = sample_points(work_, launch_->work_limit);
  const double share = box.volume() / points;
  for (int i = 0; i < points; ++i) descend(sample_of(box, i), weight * share, depth + 1);
}

}  // namespace kernelcast
