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

}  // namespace

AccessCounter::AccessCounter(const Access& access, const Scope& scope, const MemoryGeometry& geometry,
                             ConstantPool& pool)
    : access_(access), scope_(scope), geometry_(geometry) {
  rule_ = {access.space, access.kind == AccessKind::atomic, access.unknown >= 0, access.bytes};
  if (access.space == MemorySpace::texture) rule_.space = MemorySpace::global;
  period_ = shift_period(rule_, geometry);
  shifts_.push_back(0);
  shifts_.insert(shifts_.end(), access.also.begin(), access.also.end());
  least_shift_ = *std::min_element(shifts_.begin(), shifts_.end());
  most_shift_ = *std::max_element(shifts_.begin(), shifts_.end());
  if (access.unknown < 0) offset_ = Index(access.offset, scope, pool);
}

void AccessCounter::start(const LaunchState& launch) {
  launch_ = &launch;
  work_ = 0;
  exact_ = true;
  lowest_ = 0;
  highest_ = -1;
  reach_bytes_ = 0;
}

void AccessCounter::extend(Int128 low, Int128 high) {
  low += least_shift_;
  high += most_shift_ + access_.bytes - 1;
  if (low < -address_limit || high > address_limit)
    throw ArithmeticError("addresses of an access at line " + std::to_string(access_.line.line) +
                          " reach beyond 2^56 bytes: " + access_.offset.str());
  const auto a = static_cast<std::int64_t>(low), b = static_cast<std::int64_t>(high);
  if (empty()) {
    lowest_ = a;
    highest_ = b;
  } else {
    lowest_ = std::min(lowest_, a);
    highest_ = std::max(highest_, b);
  }
}

void AccessCounter::add(const Leaf& leaf, PatternTable& patterns, AccessCount& out) {
  const double copies = static_cast<double>(shifts_.size()), times = leaf.times();
  double reach = 0;  // lanes that may be active; outcomes overlap, so capped by the whole block
  for (const LanePart& part : leaf.parts) {
    const double k = times * part.weight * copies;
    out.requests += k * part.warps;
    out.lanes += k * part.lanes;
    out.bytes += k * part.lanes * access_.bytes;
    reach += part.set->lanes;
  }
  reach_bytes_ += leaf.volume * std::min(reach, static_cast<double>(launch_->block->threads)) * copies * access_.bytes *
                  std::max(1.0, leaf.weight);
  if (access_.unknown >= 0) {
    const double apart = launch_->unknowns[access_.unknown];
    addresses_.resize(launch_->block->threads);
    for (std::size_t t = 0; t < addresses_.size(); ++t)
      addresses_[t] = static_cast<std::int64_t>(std::floor(static_cast<double>(t % geometry_.warp_size) * apart));
    const ResidueCounts::Entry once{0, 1.0};
    for (const LanePart& part : leaf.parts) add_addresses(part, times, std::span(&once, 1), out);
    return;
  }
  add_box(leaf.box, leaf.weight, leaf, patterns, out);
}

void AccessCounter::add_box(const Box& box, double weight, const Leaf& leaf, PatternTable& patterns, AccessCount& out) {
  std::array<std::int64_t, 3> stride{};
  outer_.clear();
  const ConstantPool& pool = *launch_->pool;
  if (offset_.affine()) {
    for (const auto& t : offset_.terms()) {
      if (t.variable < first_outer)
        stride[t.variable] = pool[t.slot];
      else
        outer_.push_back({t.variable, pool[t.slot]});
    }
    Int128 base = pool[offset_.constant_slot()];
    if (box.sheared >= 0) unshear(box, base);
    return add_affine(box, weight, leaf, stride, base, patterns, out);
  }
  Shape shape;
  offset_.shape_on(box, pool, shape);
  const VariableMask spoiled = shape.rest_mask & box.free_outer();
  if (spoiled != 0) {
    if (work_ > launch_->work_limit && box.volume() > sample_points(work_, launch_->work_limit))
      return sample(box, weight, leaf, patterns, out);
    int widest = -1;
    for (int v = first_outer; v < box.variables; ++v)
      if ((spoiled >> v & 1) != 0 && (widest < 0 || box.hi[v] - box.lo[v] > box.hi[widest] - box.lo[widest]))
        widest = v;
    work_ += 1;
    Box half = box;
    const std::int64_t middle = box.lo[widest] + (box.hi[widest] - box.lo[widest]) / 2;
    half.restrict_to(widest, box.lo[widest], middle);
    add_box(half, weight, leaf, patterns, out);
    half = box;
    half.restrict_to(widest, middle + 1, box.hi[widest]);
    return add_box(half, weight, leaf, patterns, out);
  }
  for (VariableMask m = shape.linear_mask; m != 0; m &= m - 1) {
    const int v = __builtin_ctz(m);
    if (v < first_outer)
      stride[v] = shape.linear[v];
    else
      outer_.push_back({v, shape.linear[v]});
  }
  if (shape.rest_mask == 0 && shape.rest.is_point())
    return add_affine(box, weight, leaf, stride, shape.rest.lo, patterns, out);
  add_lanes(box, weight, leaf, out);
}

// Replaces the sheared variable in outer_ by the one it follows.
void AccessCounter::unshear(const Box& box, Int128& base) {
  for (std::size_t i = 0; i < outer_.size(); ++i) {
    if (outer_[i].variable != box.sheared) continue;
    const std::int64_t c = outer_[i].coefficient;
    Outer along{box.along, 0};
    if (__builtin_mul_overflow(c, box.slope, &along.coefficient))
      throw ArithmeticError("an address leaves the 64-bit range: " + access_.offset.str());
    base += static_cast<Int128>(c) * box.lo[box.sheared] - static_cast<Int128>(along.coefficient) * box.lo[box.along];
    outer_.erase(outer_.begin() + static_cast<std::ptrdiff_t>(i));
    for (Outer& o : outer_)
      if (o.variable == box.along) {
        if (__builtin_add_overflow(o.coefficient, along.coefficient, &o.coefficient))
          throw ArithmeticError("an address leaves the 64-bit range: " + access_.offset.str());
        return;
      }
    outer_.push_back(along);
    return;
  }
}

// Fills shifts_of_box_ with the residues of base + sum over outer_; returns how often each pattern of the box repeats
// because of variables that move nothing.
double AccessCounter::shift_residues(const Box& box, double weight, std::int64_t base) {
  progressions_.clear();
  VariableMask used = 0;
  for (const Outer& o : outer_) {
    const std::int64_t step = residue_of(o.coefficient, period_), count = box.hi[o.variable] - box.lo[o.variable] + 1;
    if (step == 0 || count == 1) continue;
    progressions_.push_back({step, count});
    used |= 1U << o.variable;
  }
  double repeats = weight;
  for (int v = first_outer; v < box.variables; ++v)
    if ((used >> v & 1) == 0) repeats *= static_cast<double>(box.hi[v] - box.lo[v] + 1);
  if (progressions_.empty()) {
    one_shift_ = {residue_of(base, period_), 1.0};
    shifts_of_box_ = std::span(&one_shift_, 1);
  } else {
    shifts_of_box_ = residues_.count(base, period_, progressions_);
  }
  return repeats;
}

// address = stride * local id + base + sum over outer_.
void AccessCounter::add_affine(const Box& box, double weight, const Leaf& leaf, std::array<std::int64_t, 3> stride,
                               Int128 base, PatternTable& patterns, AccessCount& out) {
  const auto size = launch_->block->size.array();
  for (int axis = 0; axis < 3; ++axis)
    if (size[axis] == 1) stride[axis] = 0;
  Int128 low = base, high = base, start = base;
  for (const Outer& o : outer_) {
    const Int128 a = static_cast<Int128>(o.coefficient) * box.lo[o.variable],
                 b = static_cast<Int128>(o.coefficient) * box.hi[o.variable];
    start += a;
    low += std::min(a, b);
    high += std::max(a, b);
  }
  for (const LanePart& part : leaf.parts) {
    const auto [least, most] = part.set->reach(stride);
    extend(low + least, high + most);
  }
  const double repeats = shift_residues(box, weight, static_cast<std::int64_t>(start));
  for (const LanePart& part : leaf.parts) {
    if (part.each != nullptr) {
      const BlockLanes& block = *launch_->block;
      addresses_.resize(block.threads);
      for (std::size_t t = 0; t < block.threads; ++t)
        addresses_[t] = stride[0] * block.id[0][t] + stride[1] * block.id[1][t] + stride[2] * block.id[2][t];
      work_ += static_cast<double>(block.threads * shifts_of_box_.size());
      add_addresses(part, repeats, shifts_of_box_, out);
      continue;
    }
    const Recent& r = recent(part, stride, patterns);
    for (const auto& e : shifts_of_box_) {
      const double k = e.count * repeats * part.weight;
      for (std::int64_t s : shifts_)
        add_cost(patterns.cost(r.key, *r.pattern, residue_of(e.residue + s, period_)), k, out);
    }
  }
}

// The pattern of these lanes and strides; the last few are kept at hand.
const AccessCounter::Recent& AccessCounter::recent(const LanePart& part, const std::array<std::int64_t, 3>& stride,
                                                   PatternTable& patterns) {
  if (recent_generation_ != patterns.generation()) {
    recent_generation_ = patterns.generation();
    recent_.clear();
    next_recent_ = 0;
  }
  for (const Recent& r : recent_)
    if (r.key.set == part.set && r.stride == stride && r.key.probability == part.probability) return r;
  Recent r;
  r.stride = stride;
  r.key = {part.set, canonical_stride(rule_, geometry_, *launch_->block, stride), part.probability, rule_};
  r.pattern = &patterns.find(r.key);
  constexpr std::size_t kept = 4;
  if (recent_.size() < kept) return recent_.emplace_back(r);
  next_recent_ = (next_recent_ + 1) % kept;
  return recent_[next_recent_] = r;
}

// Any dependence on the lane: addresses at the box's first point, shifted by the residues of outer_.
void AccessCounter::add_lanes(const Box& box, double weight, const Leaf& leaf, AccessCount& out) {
  Int128 reach_low = 0, reach_high = 0;
  for (const Outer& o : outer_) {
    const Int128 reach = static_cast<Int128>(o.coefficient) * (box.hi[o.variable] - box.lo[o.variable]);
    reach_low += std::min<Int128>(reach, 0);
    reach_high += std::max<Int128>(reach, 0);
  }
  const double repeats = shift_residues(box, weight, 0);
  for (const LanePart& part : leaf.parts) {
    lanes_.clear();
    for (std::size_t w = 0; w < part.set->warp_bits.size(); ++w)
      for (std::uint64_t m = part.set->warp_bits[w]; m != 0; m &= m - 1)
        lanes_.push_back(static_cast<std::uint32_t>(w * geometry_.warp_size + __builtin_ctzll(m)));
    work_ += static_cast<double>(lanes_.size() * shifts_of_box_.size() * shifts_.size());
    program_.evaluate(offset_, scope_, launch_->parameters, launch_->parameter_values, box, *launch_->block, lanes_,
                      lane_values_);
    addresses_.resize(launch_->block->threads);
    for (std::size_t i = 0; i < lanes_.size(); ++i) addresses_[lanes_[i]] = lane_values_[i];
    const auto [least, most] = std::minmax_element(lane_values_.begin(), lane_values_.end());
    extend(reach_low + *least, reach_high + *most);
    add_addresses(part, repeats, shifts_of_box_, out);
  }
}

void AccessCounter::add_cost(const RequestCost& c, double k, AccessCount& out) {
  out.sectors += k * c.sectors;
  out.segments += k * c.segments;
  out.bank_passes += k * c.bank_passes;
}

// addresses_ of every thread, at every one of the shifts.
void AccessCounter::add_addresses(const LanePart& part, double times, std::span<const ResidueCounts::Entry> shifts,
                                  AccessCount& out) {
  const std::span<const double> q =
      part.each != nullptr ? std::span<const double>(*part.each) : std::span(&part.probability, 1);
  for (const auto& e : shifts)
    for (std::int64_t s : shifts_)
      add_cost(count_requests(rule_, geometry_, *part.set, addresses_, e.residue + s, q), e.count * times * part.weight,
               out);
}

void AccessCounter::sample(const Box& box, double weight, const Leaf& leaf, PatternTable& patterns, AccessCount& out) {
  exact_ = false;
  // The extent stays an upper bound: that of the whole box.
  const Bounds all = offset_.range_on(box, *launch_->pool);
  extend(all.lo, all.hi);
  const int points = sample_points(work_, launch_->work_limit);
  const double share = box.volume() / points;
  for (int i = 0; i < points; ++i) add_box(sample_of(box, i), weight * share, leaf, patterns, out);
}

}  // namespace kernelcast
