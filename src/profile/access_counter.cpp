// Idea: on a leaf the active lanes are fixed, so a request's cost depends on the outer variables only through where its
// addresses lie. Where the address is linear in them with the same coefficients for all lanes, that is one shift, and
// only its residue modulo a segment matters: residues are counted (residues.h), each distinct one is evaluated once.
// Where it is not, the box is cut along the variables that spoil it, at worst into single points. Beyond the limit of
// work: a sample.
#include "profile/access_counter.h"

#include <algorithm>
#include <cmath>

#include "kernelcast/error.h"

namespace kernelcast {
namespace {

constexpr std::int64_t address_limit = std::int64_t{1} << 56;  // leaves room for word interleaving and shifts

// Looking at one node of an offset on one box, in lane evaluations.
constexpr double node_work = 4;

}  // namespace

AccessCounter::AccessCounter(const Access& access, const Scope& scope, const MemoryGeometry& geometry,
                             ConstantPool& pool)
    : access_(access), scope_(scope), geometry_(geometry) {
  rule_ = {access.space, access.kind == AccessKind::atomic, access.unknown >= 0, access.bytes,
           access.kind == AccessKind::load};
  if (access.space == MemorySpace::texture) rule_.space = MemorySpace::global;
  period_ = shift_period(rule_, geometry);
  std::vector<std::int64_t> shifts{0};
  shifts.insert(shifts.end(), access.also.begin(), access.also.end());
  repeats_ = static_cast<double>(shifts.size());
  least_shift_ = *std::min_element(shifts.begin(), shifts.end());
  most_shift_ = *std::max_element(shifts.begin(), shifts.end());
  for (std::int64_t s : shifts) {
    const std::int64_t r = residue_of(s, period_);
    const auto same = std::find_if(shifts_.begin(), shifts_.end(), [&](const Shift& x) { return x.residue == r; });
    if (same == shifts_.end())
      shifts_.push_back({r, 1});
    else
      same->times += 1;
  }
  if (access.unknown >= 0) return;
  offset_ = Index(access.offset, scope, pool);
  for (const auto& t : offset_.terms())
    (t.variable < first_outer ? lane_terms_ : outer_terms_).push_back({t.variable, t.slot});
}

void AccessCounter::start(const LaunchState& launch) {
  launch_ = &launch;
  cost_ = {};
  classes_.clear();
  relative_.set = nullptr;
  work_ = 0;
  exact_ = true;
  lowest_ = 0;
  highest_ = -1;
}

void AccessCounter::extend(Int128 low, Int128 high) {
  low += least_shift_;
  high += most_shift_ + access_.bytes - 1;
  if (low < -address_limit || high > address_limit)
    throw ArithmeticError("addresses of an access at line " + std::to_string(access_.line.line) +
                              " reach beyond 2^56 bytes: " + access_.offset.str(),
                          access_.offset.symbol_names());
  const auto a = static_cast<std::int64_t>(low), b = static_cast<std::int64_t>(high);
  if (empty()) {
    lowest_ = a;
    highest_ = b;
  } else {
    lowest_ = std::min(lowest_, a);
    highest_ = std::max(highest_, b);
  }
}

bool AccessCounter::LaneAddresses::add(std::int64_t lo, std::int64_t hi, std::int64_t coefficient,
                                       std::int64_t period) {
  const Int128 a = static_cast<Int128>(coefficient) * lo, b = static_cast<Int128>(coefficient) * hi;
  start += a;
  low += coefficient > 0 ? a : b;
  high += coefficient > 0 ? b : a;
  if (lo == hi) return false;
  const std::int64_t step = residue_of(coefficient, period);
  if (step == 0) return false;
  progressions[static_cast<std::size_t>(count++)] = {step, hi - lo + 1};
  return true;
}

// How many points of a box lie at each position of the variables that move something.
double AccessCounter::unmoved(const Box& box, VariableMask moved) {
  double n = 1;
  for (int v = first_outer; v < box.variables; ++v)
    if ((moved >> v & 1) == 0 && box.is_free(v)) n *= static_cast<double>(box.hi[v] - box.lo[v] + 1);
  return n;
}

void AccessCounter::add(const Leaf& leaf, PatternTable& patterns) {
  if (access_.unknown >= 0) {
    const double apart = launch_->unknowns[access_.unknown];
    addresses_.resize(launch_->block->threads);
    for (std::size_t t = 0; t < addresses_.size(); ++t)
      addresses_[t] = static_cast<std::int64_t>(std::floor(static_cast<double>(t % geometry_.warp_size) * apart));
    const ResidueCounts::Entry once{0, 1.0};
    for (const LanePart& part : leaf.parts) add_addresses(part, leaf.times(), std::span(&once, 1));
    return;
  }
  const Box& box = *leaf.box;
  if (!offset_.affine() || box.sheared >= 0) return add_box(box, leaf.weight, leaf, patterns);
  const ConstantPool& pool = *launch_->pool;
  std::array<std::int64_t, 3> stride{};
  for (const Term& t : lane_terms_) stride[static_cast<std::size_t>(t.variable)] = pool[t.slot];
  LaneAddresses addresses(pool[offset_.constant_slot()]);
  VariableMask moved = 0;
  for (const Term& t : outer_terms_)
    moved |= static_cast<VariableMask>(addresses.add(box.lo[t.variable], box.hi[t.variable], pool[t.slot], period_))
             << t.variable;
  add_affine(leaf, leaf.weight * unmoved(box, moved), stride, addresses, patterns);
}

void AccessCounter::add_box(const Box& box, double weight, const Leaf& leaf, PatternTable& patterns) {
  std::array<std::int64_t, 3> stride{};
  outer_.clear();
  const ConstantPool& pool = *launch_->pool;
  if (offset_.affine()) {
    for (const Term& t : lane_terms_) stride[static_cast<std::size_t>(t.variable)] = pool[t.slot];
    for (const Term& t : outer_terms_) outer_.push_back({t.variable, pool[t.slot]});
    Int128 base = pool[offset_.constant_slot()];
    if (box.sheared >= 0) unshear(box, base);
    return add_outer(box, weight, leaf, stride, base, patterns);
  }
  Shape shape;
  offset_.shape_on(box, pool, shape);
  work_ += node_work * static_cast<double>(offset_.nodes());
  const VariableMask spoiled = shape.rest_mask & box.free_outer();
  if (spoiled != 0) {
    if (work_ > launch_->work_limit && box.volume() > sample_points(work_, launch_->work_limit))
      return sample(box, weight, leaf, patterns);
    if (add_classes(box, spoiled, shape, weight, leaf, patterns)) return;
    int widest = -1;
    for (int v = first_outer; v < box.variables; ++v)
      if ((spoiled >> v & 1) != 0 && (widest < 0 || box.hi[v] - box.lo[v] > box.hi[widest] - box.lo[widest]))
        widest = v;
    Box half = box;
    const std::int64_t middle = box.lo[widest] + (box.hi[widest] - box.lo[widest]) / 2;
    half.restrict_to(widest, box.lo[widest], middle);
    add_box(half, weight, leaf, patterns);
    half = box;
    half.restrict_to(widest, middle + 1, box.hi[widest]);
    return add_box(half, weight, leaf, patterns);
  }
  for (VariableMask m = shape.linear_mask; m != 0; m &= m - 1) {
    const int v = __builtin_ctz(m);
    if (v < first_outer)
      stride[v] = shape.linear[v];
    else
      outer_.push_back({v, shape.linear[v]});
  }
  if (shape.rest_mask == 0 && shape.rest.is_point())
    return add_outer(box, weight, leaf, stride, shape.rest.lo, patterns);
  add_lanes(box, weight, leaf);
}

// Where the offset repeats along one of the spoiled variables: one point of it for each residue class, the rest of the
// class as a progression. Returns false where cutting in halves promises fewer pieces.
bool AccessCounter::add_classes(const Box& box, VariableMask spoiled, const Shape& shape, double weight,
                                const Leaf& leaf, PatternTable& patterns) {
  int best = -1;
  Period along;
  double gain = 2;  // pays from here on
  for (VariableMask m = spoiled; m != 0; m &= m - 1) {
    const int v = __builtin_ctz(m);
    const auto p = offset_.period(v, shape, *launch_->pool);
    if (!p) continue;
    const double count = static_cast<double>(box.hi[v] - box.lo[v]) + 1, turns = p->turns * count + 1;
    const double halves = std::min(count, turns * (2 + std::log2(std::max(1.0, count / turns))));
    if (halves / static_cast<double>(p->length) < gain) continue;
    gain = halves / static_cast<double>(p->length);
    best = v;
    along = *p;
  }
  if (best < 0) return false;
  const std::int64_t first = box.lo[best], last = box.hi[best];
  for (std::int64_t r = 0; r < along.length; ++r) {
    Box point = box;
    point.restrict_to(best, first + r, first + r);
    classes_.push_back({along.step, (last - first - r) / along.length + 1});
    add_box(point, weight, leaf, patterns);
    classes_.pop_back();
  }
  return true;
}

// Adds the progressions of residue classes to the addresses. Returns how many of their terms lie at each position.
double AccessCounter::add_classes(LaneAddresses& addresses) const {
  double n = 1;
  for (const Progression& c : classes_)
    if (!addresses.add(0, c.count - 1, c.step, period_)) n *= static_cast<double>(c.count);
  return n;
}

// Replaces the sheared variable in outer_ by the one it follows.
void AccessCounter::unshear(const Box& box, Int128& base) {
  for (std::size_t i = 0; i < outer_.size(); ++i) {
    if (outer_[i].variable != box.sheared) continue;
    const std::int64_t c = outer_[i].coefficient;
    Outer along{box.along, 0};
    if (__builtin_mul_overflow(c, box.slope, &along.coefficient))
      throw ArithmeticError("an address leaves the 64-bit range: " + access_.offset.str(),
                            access_.offset.symbol_names());
    base += static_cast<Int128>(c) * box.lo[box.sheared] - static_cast<Int128>(along.coefficient) * box.lo[box.along];
    outer_.erase(outer_.begin() + static_cast<std::ptrdiff_t>(i));
    for (Outer& o : outer_)
      if (o.variable == box.along) {
        if (__builtin_add_overflow(o.coefficient, along.coefficient, &o.coefficient))
          throw ArithmeticError("an address leaves the 64-bit range: " + access_.offset.str(),
                                access_.offset.symbol_names());
        return;
      }
    outer_.push_back(along);
    return;
  }
}

// address = stride * local id + base + sum over outer_.
void AccessCounter::add_outer(const Box& box, double weight, const Leaf& leaf,
                              const std::array<std::int64_t, 3>& stride, Int128 base, PatternTable& patterns) {
  LaneAddresses addresses(base);
  VariableMask moved = 0;
  for (const Outer& o : outer_)
    moved |= static_cast<VariableMask>(addresses.add(box.lo[o.variable], box.hi[o.variable], o.coefficient, period_))
             << o.variable;
  const double repeated = add_classes(addresses);
  add_affine(leaf, weight * unmoved(box, moved) * repeated, stride, addresses, patterns);
}

// Each lane at stride * local id from the addresses, each of which counts `times`.
void AccessCounter::add_affine(const Leaf& leaf, double times, std::array<std::int64_t, 3> stride,
                               const LaneAddresses& addresses, PatternTable& patterns) {
  const Dim3& size = launch_->block->size;
  if (size.x == 1) stride[0] = 0;
  if (size.y == 1) stride[1] = 0;
  if (size.z == 1) stride[2] = 0;
  for (const LanePart& part : leaf.parts) {
    const auto [least, most] = part.set->reach(stride);
    extend(addresses.low + least, addresses.high + most);
  }
  for (const LanePart& part : leaf.parts) {
    if (part.each == nullptr)
      add_pattern(pattern_of(part, stride, patterns), addresses, times * part.weight);
    else
      add_each(part, stride, addresses, times);
  }
}

// A progression that covers its residues evenly makes every other one whose steps stay among them a mere repetition;
// of what is left, one is summed up by the pattern and the others are counted by residue.
void AccessCounter::add_pattern(Pattern& pattern, const LaneAddresses& addresses, double times) {
  RequestCost sum;
  const auto add = [&](const RequestCost& c, double k) {
    sum.sectors += k * c.sectors;
    sum.segments += k * c.segments;
    sum.bank_passes += k * c.bank_passes;
  };
  const auto start = static_cast<std::int64_t>(addresses.start);
  if (addresses.count == 0) {
    for (const Shift& s : shifts_) add(pattern.at(residue_of(start + s.residue, period_)), s.times);
  } else if (addresses.count == 1) {
    for (const Shift& s : shifts_)
      add(pattern.along(residue_of(start + s.residue, period_), addresses.progressions[0]), s.times);
  } else {
    std::array<Progression, max_variables> others;
    std::size_t count = 0;
    const auto unit = [&](const Progression& p) { return spacing_of(p.step, period_); };
    const auto moves = addresses.moves();
    const auto finest =
        std::min_element(moves.begin(), moves.end(), [&](const auto& a, const auto& b) { return unit(a) < unit(b); });
    const std::int64_t spacing = unit(*finest);
    const bool even = finest->count % (period_ / spacing) == 0;
    for (auto p = moves.begin(); p != moves.end(); ++p) {
      if (p == finest) continue;
      if (even && p->step % spacing == 0)
        times *= static_cast<double>(p->count);
      else
        others[count++] = *p;
    }
    for (const auto& e : residues_.count(start, period_, std::span(others.data(), count)))
      for (const Shift& s : shifts_)
        add(pattern.along(residue_of(e.residue + s.residue, period_), *finest), e.count * s.times);
  }
  cost_.sectors += times * sum.sectors;
  cost_.segments += times * sum.segments;
  cost_.bank_passes += times * sum.bank_passes;
}

void AccessCounter::add_each(const LanePart& part, const std::array<std::int64_t, 3>& stride,
                             const LaneAddresses& addresses, double times) {
  const BlockLanes& block = *launch_->block;
  addresses_.resize(block.threads);
  for (std::size_t t = 0; t < block.threads; ++t)
    addresses_[t] = stride[0] * block.id[0][t] + stride[1] * block.id[1][t] + stride[2] * block.id[2][t];
  const auto starts = residues_.count(static_cast<std::int64_t>(addresses.start), period_, addresses.moves());
  work_ += static_cast<double>(block.threads * starts.size() * shifts_.size());
  add_addresses(part, times, starts);
}

// The pattern of these lanes and strides; the last few are kept at hand.
Pattern& AccessCounter::pattern_of(const LanePart& part, const std::array<std::int64_t, 3>& stride,
                                   PatternTable& patterns) {
  if (recent_generation_ != patterns.generation()) {
    recent_generation_ = patterns.generation();
    recent_.clear();
    next_recent_ = 0;
  }
  const auto equal = [](const std::array<std::int64_t, 3>& a, const std::array<std::int64_t, 3>& b) {
    return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2])) == 0;
  };
  for (const Recent& r : recent_)
    if (r.set == part.set && r.probability == part.probability && equal(r.stride, stride)) return *r.pattern;
  const auto canonical = canonical_stride(rule_, geometry_, *launch_->block, stride);
  for (Recent& r : recent_)
    if (r.set == part.set && r.probability == part.probability && equal(r.canonical, canonical)) {
      r.stride = stride;
      return *r.pattern;
    }
  const Recent r{part.set, part.probability, stride, canonical,
                 &patterns.find({part.set, canonical, part.probability, rule_})};
  constexpr std::size_t kept = 4;
  if (recent_.size() < kept) return *recent_.emplace_back(r).pattern;
  next_recent_ = (next_recent_ + 1) % kept;
  return *(recent_[next_recent_] = r).pattern;
}

// Any dependence on the lane: addresses at the box's first point, shifted by the residues of outer_.
void AccessCounter::add_lanes(const Box& box, double weight, const Leaf& leaf) {
  LaneAddresses addresses(0);
  VariableMask moved = 0;
  for (const Outer& o : outer_)
    moved |=
        static_cast<VariableMask>(addresses.add(0, box.hi[o.variable] - box.lo[o.variable], o.coefficient, period_))
        << o.variable;
  const double times = weight * unmoved(box, moved) * add_classes(addresses);
  const auto starts = residues_.count(0, period_, addresses.moves());
  for (const LanePart& part : leaf.parts) {
    lanes_.clear();
    for (std::size_t w = 0; w < part.set->warp_bits.size(); ++w)
      for (std::uint64_t m = part.set->warp_bits[w]; m != 0; m &= m - 1)
        lanes_.push_back(static_cast<std::uint32_t>(w * geometry_.warp_size + __builtin_ctzll(m)));
    work_ += static_cast<double>(lanes_.size() * starts.size() * shifts_.size());
    program_.evaluate(offset_, scope_, launch_->parameters, launch_->parameter_values, box, *launch_->block, lanes_,
                      lane_values_);
    addresses_.resize(launch_->block->threads);
    for (std::size_t i = 0; i < lanes_.size(); ++i) addresses_[lanes_[i]] = lane_values_[i];
    const auto [least, most] = std::minmax_element(lane_values_.begin(), lane_values_.end());
    extend(addresses.low + *least, addresses.high + *most);
    remember_lanes(part);
    add_addresses(part, times, starts);
  }
}

// Most boxes give the lanes the same addresses but for a shift, whose residue is all that matters.
void AccessCounter::remember_lanes(const LanePart& part) {
  Relative& r = relative_;
  const std::int64_t first = lane_values_.empty() ? 0 : lane_values_.front();
  const bool same = r.set == part.set && part.each == nullptr && r.probability == part.probability &&
                    std::equal(lane_values_.begin(), lane_values_.end(), r.values.begin(), r.values.end(),
                               [&](std::int64_t a, std::int64_t b) { return a - first == b; });
  r.first = first;
  if (same) return;
  r.set = part.each == nullptr ? part.set : nullptr;
  r.probability = part.probability;
  r.costs.clear();
  r.values.resize(lane_values_.size());
  std::transform(lane_values_.begin(), lane_values_.end(), r.values.begin(), [&](std::int64_t a) { return a - first; });
}

RequestCost AccessCounter::cost_at(const LanePart& part, std::int64_t shift, std::span<const double> probability) {
  const auto count = [&] { return count_requests(rule_, geometry_, *part.set, addresses_, shift, probability); };
  if (part.each != nullptr || relative_.set != part.set) return count();
  const std::int64_t residue = residue_of(relative_.first + shift, period_);
  for (const auto& [known, cost] : relative_.costs)
    if (known == residue) return cost;
  return relative_.costs.emplace_back(residue, count()).second;
}

// addresses_ of every thread, from every one of the starts.
void AccessCounter::add_addresses(const LanePart& part, double times, std::span<const ResidueCounts::Entry> starts) {
  const std::span<const double> q =
      part.each != nullptr ? std::span<const double>(*part.each) : std::span(&part.probability, 1);
  for (const auto& e : starts)
    for (const Shift& s : shifts_) {
      const RequestCost c = cost_at(part, e.residue + s.residue, q);
      const double k = e.count * s.times * times * part.weight;
      cost_.sectors += k * c.sectors;
      cost_.segments += k * c.segments;
      cost_.bank_passes += k * c.bank_passes;
    }
}

void AccessCounter::sample(const Box& box, double weight, const Leaf& leaf, PatternTable& patterns) {
  exact_ = false;
  // The extent stays an upper bound: that of the whole box.
  const Bounds all = offset_.range_on(box, *launch_->pool);
  LaneAddresses addresses(0);
  add_classes(addresses);
  extend(addresses.low + all.lo, addresses.high + all.hi);
  const int points = sample_points(work_, launch_->work_limit);
  const double share = box.volume() / points;
  for (int i = 0; i < points; ++i) add_box(sample_of(box, i), weight * share, leaf, patterns);
}

}  // namespace kernelcast
