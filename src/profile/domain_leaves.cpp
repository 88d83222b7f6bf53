// Domain, part 3: leaves. What the cutting left open depends on the lane alone: a linear term holds in a row of the
// block for an interval of x, any other is evaluated for each lane; unknowns weigh lanes with their probability.
#include <algorithm>
#include <cmath>

#include "kernelcast/error.h"
#include "profile/domain.h"

namespace kernelcast {

void Domain::lanes_of(const std::vector<std::uint64_t>& bits) {
  lanes_.clear();
  for (std::size_t w = 0; w < bits.size(); ++w)
    for (std::uint64_t m = bits[w]; m != 0; m &= m - 1)
      lanes_.push_back(static_cast<std::uint32_t>(w * launch_->geometry.warp_size + __builtin_ctzll(m)));
}

// Clears the lanes for which the term does not hold at leaf_.box (its outer variables have one value there).
void Domain::apply(Term& term, std::vector<std::uint64_t>& bits) {
  if (term.now->affine()) return apply_rows(term, bits);
  lanes_of(bits);
  work_ += static_cast<double>(lanes_.size());
  term.program.evaluate(*term.now, scope_, launch_->parameters, launch_->parameter_values, *leaf_.box, *launch_->block,
                        lanes_, lane_values_);
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    if (lane_values_[i] == 0)  // only linear terms are of another kind
      bits[lanes_[i] / launch_->geometry.warp_size] &= ~(1ULL << (lanes_[i] % launch_->geometry.warp_size));
}

// A linear term: in a row of the block (one value of y and z) it holds for an interval of x, or all but one x.
void Domain::apply_rows(Term& term, std::vector<std::uint64_t>& bits) {
  const Index& index = *term.now;
  const ConstantPool& pool = *launch_->pool;
  VariableMask ignored = 0;
  if (!affine_range(index, *leaf_.box, pool, ignored).within(-int64_max / 2, int64_max / 2))
    throw ArithmeticError("a condition leaves the 64-bit range: " + index.expression().str(),
                          index.expression().symbol_names());
  Int128 base = pool[index.constant_slot()];
  std::array<std::int64_t, 3> stride{};
  for (const auto& t : index.terms()) {
    if (t.variable < first_outer)
      stride[t.variable] = pool[t.slot];
    else
      base += static_cast<Int128>(pool[t.slot]) * leaf_.box->lo[t.variable];
  }
  const Dim3& size = launch_->block->size;
  const std::int64_t s = size.x > 1 ? stride[0] : 0, n = size.x;
  row_bits_.assign(bits.size(), 0);
  std::int64_t first = 0;
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y, first += n) {
      const auto r =
          static_cast<std::int64_t>(base + static_cast<Int128>(stride[1]) * y + static_cast<Int128>(stride[2]) * z);
      if (term.kind_now == Kind::negative) {
        std::int64_t from = 0, to = n;
        if (s == 0)
          to = r < 0 ? n : 0;
        else if (s > 0)
          to = r < 0 ? std::min(n, (s - 1 - r) / s) : 0;
        else
          from = r >= 0 ? std::min(n, r / -s + 1) : 0;
        set_row(first + from, first + to);
        continue;
      }
      std::int64_t from = 0, to = n;  // where the value is 0
      if (s == 0) {
        if (r != 0) to = 0;
      } else if (r % s != 0 || -r / s < 0 || -r / s >= n) {
        to = 0;
      } else {
        from = -r / s;
        to = from + 1;
      }
      if (term.kind_now == Kind::zero) {
        set_row(first + from, first + to);
      } else {
        set_row(first, first + (to > from ? from : n));
        if (to > from) set_row(first + to, first + n);
      }
    }
  work_ += static_cast<double>(launch_->block->threads);
  for (std::size_t w = 0; w < bits.size(); ++w) bits[w] &= row_bits_[w];
}

// Threads from .. to - 1 of the block.
void Domain::set_row(std::int64_t from, std::int64_t to) {
  if (from >= to) return;
  const std::int64_t warp_size = launch_->geometry.warp_size;
  std::int64_t warp = from / warp_size, first = warp * warp_size;
  for (; first < to; ++warp, first += warp_size) {
    const std::int64_t low = std::max<std::int64_t>(from - first, 0), high = std::min(to - first, warp_size);
    const std::uint64_t below = high == 64 ? ~0ULL : (1ULL << high) - 1;
    row_bits_[warp] |= below & ~((1ULL << low) - 1);
  }
}

void Domain::apply_open(int first, int last, const std::vector<std::int8_t>& decisions,
                        std::vector<std::uint64_t>& bits) {
  for (int t = first; t < last; ++t)
    if (decisions[t] < 0) apply(terms_[t], bits);
}

void Domain::emit(const Box& box, double weight, const std::vector<std::int8_t>& decisions) {
  leaf_.box = &box;
  leaf_.weight = weight;
  leaf_.volume = box.volume();
  work_ += launch_->leaf_work;
  leaf_.parts.clear();
  leaf_.truth = nullptr;
  if (!plain_) {
    emit_expected(decisions);
  } else if (std::all_of(decisions.begin(), decisions.begin() + first_condition_,
                         [](std::int8_t d) { return d == 1; })) {
    leaf_.parts.push_back(LanePart::certain(*launch_->all_lanes));
    if (has_condition_) bits_ = launch_->all_lanes->warp_bits;
  } else {
    bits_ = launch_->all_lanes->warp_bits;
    apply_open(0, first_condition_, decisions, bits_);
    const LaneSet& set = launch_->tables->intern(*launch_->block, bits_);
    if (set.lanes > 0) leaf_.parts.push_back(LanePart::certain(set));
  }
  if (leaf_.parts.empty()) return;
  if (has_condition_) evaluate_condition(decisions);
  sink_->take(leaf_);
}

void Domain::evaluate_condition(const std::vector<std::int8_t>& decisions) {
  const auto begin = decisions.begin() + first_condition_;
  if (std::find(begin, decisions.end(), 0) != decisions.end()) return;
  if (std::all_of(begin, decisions.end(), [](std::int8_t d) { return d == 1; })) return;
  apply_open(first_condition_, static_cast<int>(terms_.size()), decisions, bits_);
  truth_.assign(launch_->block->threads, 0);
  lanes_of(bits_);
  for (std::uint32_t t : lanes_) truth_[t] = 1;
  leaf_.truth = &truth_;
}

// Probabilities lane by lane, for each outcome of the uniform unknowns. Leaves the lanes that may be active in bits_.
void Domain::emit_expected(const std::vector<std::int8_t>& decisions) {
  const std::size_t outcomes = std::size_t{1} << uniform_.size(), threads = launch_->block->threads;
  const auto warp_size = static_cast<std::size_t>(launch_->geometry.warp_size);
  probability_.resize(outcomes);
  sum_.resize(outcomes);
  for (auto& q : probability_) q.assign(threads, 1.0);
  bits_ = launch_->all_lanes->warp_bits;
  work_ += static_cast<double>(threads * outcomes);
  for (const Level& level : levels_) {
    for (auto& s : sum_) s.assign(threads, 0.0);
    for (const PathPlan& path : level.paths) {
      if (std::find(decisions.begin() + path.first, decisions.begin() + path.last, 0) != decisions.begin() + path.last)
        continue;
      path_bits_ = bits_;
      apply_open(path.first, path.last, decisions, path_bits_);
      lanes_of(path_bits_);
      for (std::size_t a = 0; a < outcomes; ++a) {
        double q = 1;
        for (const auto& f : path.factors) {
          const auto at = std::find(uniform_.begin(), uniform_.end(), f.unknown);
          const double p = at == uniform_.end() ? launch_->unknowns[f.unknown]
                                                : static_cast<double>(a >> (at - uniform_.begin()) & 1);
          q *= f.taken ? p : 1 - p;
        }
        for (std::uint32_t t : lanes_) sum_[a][t] += q;
      }
    }
    std::fill(path_bits_.begin(), path_bits_.end(), 0);
    path_bits_.resize(bits_.size(), 0);
    for (std::size_t a = 0; a < outcomes; ++a)
      for (std::size_t t = 0; t < threads; ++t) {
        probability_[a][t] *= sum_[a][t];
        if (probability_[a][t] > 0) path_bits_[t / warp_size] |= 1ULL << (t % warp_size);
      }
    bits_ = path_bits_;
    apply_open(level.first_trip, level.last_trip, decisions, bits_);
    for (auto& q : probability_)
      for (std::size_t t = 0; t < threads; ++t)
        if ((bits_[t / warp_size] >> (t % warp_size) & 1) == 0) q[t] = 0;
  }
  for (std::size_t a = 0; a < outcomes; ++a) {
    double weight = 1;
    for (std::size_t u = 0; u < uniform_.size(); ++u)
      weight *= (a >> u & 1) != 0 ? launch_->unknowns[uniform_[u]] : 1 - launch_->unknowns[uniform_[u]];
    if (weight == 0) continue;
    const std::vector<double>& q = probability_[a];
    std::fill(path_bits_.begin(), path_bits_.end(), 0);
    double one = -1;
    bool same = true;
    for (std::size_t t = 0; t < threads; ++t) {
      if (q[t] <= 0) continue;
      path_bits_[t / warp_size] |= 1ULL << (t % warp_size);
      if (one < 0) one = q[t];
      same = same && q[t] == one;
    }
    if (one < 0) continue;
    LanePart part{weight, &launch_->tables->intern(*launch_->block, path_bits_), one, same ? nullptr : &q, 0, 0};
    for (std::size_t first = 0; first < threads; first += warp_size) {
      double none = 1;
      for (std::size_t t = first; t < std::min(first + warp_size, threads); ++t) {
        none *= 1 - q[t];
        part.lanes += q[t];
      }
      part.warps += 1 - none;
    }
    leaf_.parts.push_back(part);
  }
}

}  // namespace kernelcast
