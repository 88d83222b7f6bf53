// Idea: an address is a sum of strides times lanes, groups and loop counters; distinct_sectors.h counts the bytes that
// a box of these touches. Which variables run is what "depth" and "window" of Workload::reuse say; the working-set
// argument (traffic = distinct data of a passage that fits the cache, times passages) is that of tiling: Wolf and Lam,
// PLDI 1991.
//
// An address that is not linear in a variable (x % w, x / w, swizzles) is taken bit by bit: the stride of bit k is
// f(2^k) - f(0), which is exact for divisions, remainders and masks by powers of two and an estimate else.
//
// A tuner asks for a million launches a second: what does not depend on the launch is prepared once, strides that do
// not change from window to window are added once, and windows and depths that are alike are counted once.
#include "profile/reuse.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "kernelcast/error.h"

namespace kernelcast {
namespace {

bool is_group(int variable) { return variable >= first_outer && variable < first_counter; }

bool among(Symbol s, std::span<const Symbol> list) { return std::find(list.begin(), list.end(), s) != list.end(); }

bool is_argument(Symbol s) { return s.name().starts_with("arg:") || s.name().starts_with("real:"); }

/// Whether the launch gives every argument that the expression mentions.
bool arguments_given(const Expr& e, std::span<const Symbol> parameters) {
  const std::set<Symbol> needed = e.symbols();
  return std::all_of(needed.begin(), needed.end(), [&](Symbol s) { return !is_argument(s) || among(s, parameters); });
}

bool computable(const Expr& e, std::span<const Symbol> inputs) {
  const std::set<Symbol> needed = e.symbols();
  return std::all_of(needed.begin(), needed.end(), [&](Symbol s) { return among(s, inputs); });
}

/// Data that shift a regular address keep its pattern; what data decide alone has none.
bool by_lane(const Expr& offset) {
  return offset.depends_on(local_id(0)) || offset.depends_on(local_id(1)) || offset.depends_on(local_id(2));
}

}  // namespace

int ReuseFinder::chain_of(int loop) {
  for (std::size_t c = 0; c < chains_.size(); ++c)
    if (chains_[c].loop == loop) return static_cast<int>(c);
  Chain chain;
  chain.loop = loop;
  for (int l = loop; l >= 0; l = profile_.loops[static_cast<std::size_t>(l)].parent)
    chain.loops.insert(chain.loops.begin(), l);
  chains_.push_back(std::move(chain));
  return static_cast<int>(chains_.size()) - 1;
}

void ReuseFinder::add(const Access& access, int loop, const Scope& scope, ConstantPool& pool,
                      std::span<const Symbol> parameters) {
  const std::size_t position = accesses_++;
  if (access.space != MemorySpace::global && access.space != MemorySpace::texture) return;
  if (scope.symbols.size() > max_variables) return;
  const bool given = arguments_given(access.offset, parameters);
  Plan plan{&access, position, chain_of(loop), Index(given ? access.offset : Expr(0), scope, pool), {}, {}, given};
  plan.terms = plan.offset.terms();
  std::sort(plan.terms.begin(), plan.terms.end(), [](const auto& a, const auto& b) { return a.variable < b.variable; });
  plans_.push_back(std::move(plan));
  Chain& chain = chains_[static_cast<std::size_t>(plans_.back().chain)];
  if (chain.counters.empty()) chain.counters = scope.symbols;
}

void ReuseFinder::prepare(std::span<const Symbol> parameters) {
  parameters_.assign(parameters.begin(), parameters.end());
  for (Chain& chain : chains_) {
    std::vector<Symbol> inputs = parameters_;
    inputs.insert(inputs.end(), chain.counters.begin(), chain.counters.end());
    std::vector<Expr> trips;
    for (int l : chain.loops) {
      const Expr& of_loop = profile_.loops[static_cast<std::size_t>(l)].trips;
      trips.push_back(computable(of_loop, inputs) ? of_loop : Expr(1));
      for (std::size_t v = first_counter; v < chain.counters.size(); ++v)
        chain.nested = chain.nested || trips.back().depends_on(chain.counters[v]);
    }
    chain.trips = CompiledExprs(trips, inputs);
    for (Plan& p : plans_) {
      if (&chains_[static_cast<std::size_t>(p.chain)] != &chain || p.offset.affine()) continue;
      const Expr offset = p.access->offset;
      p.computable = computable(offset, inputs);
      if (p.computable) p.general = CompiledExprs(std::span<const Expr>(&offset, 1), inputs);
    }
  }
  rows_ = 1;
  for (const Chain& chain : chains_)
    if (!chain.loops.empty()) rows_ = std::max(rows_, std::min<std::size_t>(Reuse::depths, chain.loops.size() + 2));
  for (Plan& p : plans_) p.scattered = (p.access->unknown >= 0 && !by_lane(p.access->offset)) || !p.computable;
  const auto alike = [](const Plan& a, const Plan& b) {
    return a.chain != b.chain && a.access->buffer >= 0 && a.access->buffer == b.access->buffer &&
           a.access->bytes == b.access->bytes &&
           (a.access->kind == AccessKind::load) == (b.access->kind == AccessKind::load);
  };
  for (Plan& p : plans_)
    p.shares = !p.scattered && std::any_of(plans_.begin(), plans_.end(),
                                           [&](const Plan& other) { return !other.scattered && alike(p, other); });
  shares_ = std::any_of(plans_.begin(), plans_.end(), [](const Plan& p) { return p.shares; });
}

/// Trip counts in the middle of the grid, outer loops in the middle of theirs.
void ReuseFinder::trips_of(Chain& chain, const LaunchState& launch) {
  chain.now.assign(chain.loops.size(), 1);
  chain.run = 1;
  if (chain.loops.empty()) return;
  const std::size_t base = parameters_.size();
  in_.assign(base + chain.counters.size(), 0);
  std::copy(launch.parameter_values.begin(), launch.parameter_values.end(), in_.begin());
  const auto groups = launch.grid.array();
  for (std::size_t a = 0; a < 3; ++a) in_[base + first_outer + a] = groups[a] / 2;
  out_.resize(chain.loops.size());
  bool defined = true;
  for (std::size_t l = 0; l < chain.loops.size(); ++l) {
    const kernelcast::Loop& loop = profile_.loops[static_cast<std::size_t>(chain.loops[l])];
    if (l == 0 || chain.nested) {
      try {
        chain.trips.evaluate(in_, out_, scratch_);
        defined = true;
      } catch (const ArithmeticError&) {
        defined = false;
      }
    }
    if (loop.unknown >= 0) {
      chain.now[l] = std::max<std::int64_t>(
          1, static_cast<std::int64_t>(std::lround(launch.unknowns[static_cast<std::size_t>(loop.unknown)])));
    } else if (defined) {
      chain.now[l] = std::max<std::int64_t>(1, out_[l]);
    }
    if (base + first_counter + l < in_.size()) in_[base + first_counter + l] = chain.now[l] / 2;
  }
}

/// Indices that are cut off at the borders, as min(x + 1, n - 1), are linear around the middle of the launch: the few
/// that the border moves touch what their neighbours touch. `at(v, value)` evaluates the offset with one variable
/// changed; in_ holds the others. Whether all variables are linear between a quarter and three quarters of their way.
template <class At>
bool ReuseFinder::linear_inside(Group& group, const At& at, const std::int64_t (&most)[max_variables],
                                std::size_t variables) {
  const std::size_t base = parameters_.size();
  for (std::size_t v = 0; v < variables; ++v) in_[base + v] = most[v] / 2;
  const std::int64_t middle = at(0, most[0] / 2);
  std::int64_t start = middle;
  bool linear = true;
  for (std::size_t v = 0; v < variables && linear; ++v) {
    const std::int64_t n = most[v], here = n / 2;
    if (n <= 1) continue;
    const std::int64_t step = here + 1 < n ? at(v, here + 1) - middle : middle - at(v, here - 1);
    for (const std::int64_t other : {n / 4, here - 1, std::max(here, n - 1 - n / 4)})
      linear = linear && at(v, other) - middle == step * (other - here);
    group.steps.push_back({static_cast<int>(v), step, 0});
    start -= step * here;
  }
  std::fill(in_.begin() + static_cast<std::ptrdiff_t>(base), in_.end(), 0);
  if (linear)
    group.offsets.push_back(start);
  else
    group.steps.clear();
  return linear;
}

void ReuseFinder::general_steps(const Plan& plan, const LaunchState& launch, Group& group) {
  const Chain& chain = chains_[static_cast<std::size_t>(plan.chain)];
  const std::size_t base = parameters_.size();
  in_.assign(base + chain.counters.size(), 0);
  std::copy(launch.parameter_values.begin(), launch.parameter_values.end(), in_.begin());
  out_.resize(1);
  const auto at = [&](std::size_t v, std::int64_t value) {
    const std::int64_t before = in_[base + v];
    in_[base + v] = value;
    plan.general.evaluate(in_, out_, scratch_);
    in_[base + v] = before;
    return out_[0];
  };
  std::int64_t most[max_variables];
  sizes(chain, launch, most);
  for (std::size_t a = 0; a < 3; ++a) most[first_outer + a] = launch.grid.array()[a];
  if (linear_inside(group, at, most, chain.counters.size())) return;
  const std::int64_t start = at(0, 0);
  group.offsets.push_back(start);
  for (std::size_t v = 0; v < chain.counters.size(); ++v) {
    const std::int64_t n = most[v];
    if (n <= 1) continue;
    const int variable = static_cast<int>(v);
    const std::int64_t step = at(v, 1) - start;
    if (at(v, n - 1) - start == step * (n - 1) && at(v, n / 2) - start == step * (n / 2)) {
      group.steps.push_back({variable, step, 0});
      continue;
    }
    for (std::int64_t bit = 1; bit < n; bit *= 2)
      group.steps.push_back({variable, at(v, bit) - start, std::min<std::int64_t>(2, (n + bit - 1) / bit), bit});
  }
}

void ReuseFinder::steps_of(const Plan& plan, const LaunchState& launch, Group& group) {
  if (plan.offset.affine()) {
    for (const Index::LinearTerm& t : plan.terms) group.steps.push_back({t.variable, (*launch.pool)[t.slot], 0});
    group.offsets.push_back((*launch.pool)[plan.offset.constant_slot()]);
  } else {
    general_steps(plan, launch, group);
  }
  const std::int64_t first = group.offsets.front();
  for (std::int64_t also : plan.access->also) group.offsets.push_back(first + also);
}

/// Without the variables that have one value: groups that differ in these alone are alike.
void ReuseFinder::drop_still_steps(const LaunchState& launch, Group& group) {
  std::int64_t most[max_variables];
  sizes(chains_[static_cast<std::size_t>(group.chain)], launch, most);
  for (std::size_t a = 0; a < 3; ++a) most[first_outer + a] = launch.grid.array()[a];
  std::erase_if(group.steps, [&](const Step& s) { return s.stride == 0 || most[s.variable] <= 1; });
}

void ReuseFinder::group_accesses(const LaunchState& launch, const Workload& out) {
  used_groups_ = 0;
  for (const Plan& plan : plans_) {
    const AccessCount& count = out.access_counts[plan.position];
    if (count.sectors <= 0) continue;
    if (used_groups_ == groups_.size()) groups_.emplace_back();
    Group& g = groups_[used_groups_];
    g.buffer = plan.access->buffer;
    g.chain = plan.chain;
    g.bytes = plan.access->bytes;
    g.direction = plan.access->kind == AccessKind::load ? Reuse::read : Reuse::write;
    g.requested = count.sectors;
    g.requests = count.requests;
    g.request_bytes = count.bytes;
    g.scattered = plan.scattered;
    g.shares = plan.shares;
    g.host = -1;
    g.guests.clear();
    g.steps.clear();
    g.offsets.clear();
    try {
      if (!g.scattered) steps_of(plan, launch, g);
      drop_still_steps(launch, g);
    } catch (const ArithmeticError&) {
      g.scattered = true;
    }
    add_group();
  }
}

/// Takes the group behind the used ones in: joined with one of these that differs by constants only, or by itself.
void ReuseFinder::add_group() {
  const Group& group = groups_[used_groups_];
  for (std::size_t i = 0; i < used_groups_ && group.buffer >= 0 && !group.scattered; ++i) {
    Group& known = groups_[i];
    if (known.buffer != group.buffer || known.chain != group.chain || known.scattered ||
        known.direction != group.direction || known.bytes != group.bytes || known.steps != group.steps)
      continue;
    known.offsets.insert(known.offsets.end(), group.offsets.begin(), group.offsets.end());
    known.requested += group.requested;
    known.requests += group.requests;
    known.request_bytes += group.request_bytes;
    return;
  }
  ++used_groups_;
}

/// Numbers of values of all variables but the groups, which are 1.
void ReuseFinder::sizes(const Chain& chain, const LaunchState& launch, std::int64_t (&n)[max_variables]) const {
  std::fill(std::begin(n), std::end(n), 1);
  const auto block = launch.block->size.array();
  for (std::size_t a = 0; a < 3; ++a) n[a] = block[a];
  for (std::size_t l = 0; l < chain.now.size() && first_counter + l < max_variables; ++l)
    n[first_counter + l] = chain.now[l];
}

/// The first blocks of a grid, x fastest. Windows of as many blocks share a column, and so do those that nobody reads
/// and the first one that is read.
void ReuseFinder::find_windows(const Dim3& grid) {
  const auto size = grid.array();
  const std::int64_t all = grid.count();
  std::int64_t blocks = 1, before = 0;
  std::size_t columns = 0;
  for (std::size_t w = 0; w < Reuse::windows; ++w, blocks *= 4) {
    std::int64_t left = w + 1 == Reuse::windows ? all : std::min(blocks, all);
    windows_.column[w] = columns;
    if (w > 0 && w < first_window_) continue;
    if (left == before) {  // all blocks, as the windows behind
      std::fill(windows_.column.begin() + (columns > 1 ? static_cast<std::ptrdiff_t>(w) : 0), windows_.column.end(),
                columns - 1);
      break;
    }
    before = left;
    windows_.blocks[columns] = static_cast<double>(left);
    for (std::size_t a = 0; a < 3; ++a) {
      windows_.size[a][columns] = std::min(size[a], left);
      left = left <= size[a] ? 1 : (left + size[a] - 1) / size[a];
    }
    ++columns;
  }
  columns_ = columns;
}

/// Distinct sectors of a group for each column; `n` says how far the variables run, but for the groups.
void ReuseFinder::footprints(const Group& group, std::span<const std::int64_t> offsets,
                             const std::int64_t (&n)[max_variables], Row& sectors) {
  const auto count = [](const Step& s, std::int64_t all) {
    return s.bit == 0 ? all : std::min<std::int64_t>(2, (all + s.bit - 1) / s.bit);
  };
  strides_.clear();
  if (bit_counts_.size() < group.ascending.size()) bit_counts_.resize(group.ascending.size());
  for (const Step& s : group.ascending) {
    if (!is_group(s.variable)) {
      strides_.push_back({s.stride, count(s, n[s.variable]), nullptr});
      continue;
    }
    const Counts* counts = &windows_.size[static_cast<std::size_t>(s.variable - first_outer)];
    if (s.bit != 0) {
      Counts& of_bit = bit_counts_[strides_.size()];
      for (std::size_t w = 0; w < columns_; ++w) of_bit[w] = count(s, (*counts)[w]);
      counts = &of_bit;
    }
    strides_.push_back({s.stride, 1, counts->data()});
  }
  counter_.count(offsets, group.bytes, geometry_.sector_bytes, strides_, std::span(sectors.data(), columns_));
}

/// Offsets in the order of the code: those that lie close together, in memory and in the code, are one run of a warp's
/// requests, of which each touches what the one before left out.
double ReuseFinder::near_share(const Group& g) {
  if (g.scattered || g.requests <= 0) return 1;
  const double sector = geometry_.sector_bytes;
  const double each = g.requested / g.requests;                                            // sectors of one request
  const bool dense = g.requested * sector <= 1.5 * g.request_bytes + sector * g.requests;  // lanes are neighbours
  places_.clear();
  for (std::size_t k = 0; k < g.offsets.size(); ++k) places_.emplace_back(g.offsets[k], static_cast<int>(k));
  std::sort(places_.begin(), places_.end());
  double left = 0;
  for (std::size_t begin = 0; begin < places_.size();) {
    std::size_t end = begin + 1;
    int first = places_[begin].second, last = first;
    for (; end < places_.size(); ++end) {
      const int low = std::min(first, places_[end].second), high = std::max(last, places_[end].second);
      const auto gap = static_cast<double>(places_[end].first - places_[end - 1].first);
      if (gap > (dense ? each : 1) * sector || high - low > Reuse::reach) break;
      first = low;
      last = high;
    }
    const double more = static_cast<double>(places_[end - 1].first - places_[begin].first) / sector;
    left += std::min(static_cast<double>(end - begin) * each, dense ? each + more : each * (1 + more));
    begin = end;
  }
  return left / (each * static_cast<double>(places_.size()));
}

/// Iterations of the innermost loop that one sector serves.
void ReuseFinder::lengthen_run(const Group& g) {
  Chain& chain = chains_[static_cast<std::size_t>(g.chain)];
  if (chain.loops.empty() || g.scattered) return;
  const int innermost = static_cast<int>(first_counter + chain.loops.size()) - 1;
  for (const Step& s : g.steps) {
    const std::int64_t stride = std::abs(s.stride);
    if (s.variable != innermost || s.bit > 1 || stride == 0 || stride >= geometry_.sector_bytes) continue;
    chain.run = std::max(chain.run, (geometry_.sector_bytes + stride - 1) / stride);
  }
  chain.run = std::min(chain.run, chain.now.back());
}

void ReuseFinder::prepare_group(Group& g) {
  lengthen_run(g);
  if (g.offsets.size() > 1) {
    const double left = near_share(g);
    near_[g.direction] += g.requested * left;
    if (g.direction == Reuse::write && chains_[static_cast<std::size_t>(g.chain)].loops.empty())
      stored_again_ += g.requested * (1 - left);
    std::sort(g.offsets.begin(), g.offsets.end());
    g.offsets.erase(std::unique(g.offsets.begin(), g.offsets.end()), g.offsets.end());
  } else {
    near_[g.direction] += g.requested;
  }
  requested_[g.direction] += g.requested;
  g.ascending.assign(g.steps.begin(), g.steps.end());
  const auto shorter = [](const Step& a, const Step& b) { return std::abs(a.stride) < std::abs(b.stride); };
  if (!std::is_sorted(g.ascending.begin(), g.ascending.end(), shorter))
    std::sort(g.ascending.begin(), g.ascending.end(), shorter);
}

/// Strides and offsets; add_traffic() adds the levels, by rows.
AccessStream ReuseFinder::stream_of(const Group& g) const {
  AccessStream walk;
  walk.direction = g.direction;
  walk.bytes = g.bytes;
  walk.offsets = g.offsets;
  for (const Step& s : g.steps) {
    const int loop = s.variable - static_cast<int>(first_counter);
    if (loop < 0) continue;
    const std::int64_t trips = chains_[static_cast<std::size_t>(g.chain)].now[static_cast<std::size_t>(loop)];
    int depth = 0;
    while (depth + 1 < Reuse::depths && outside_of(g, static_cast<std::size_t>(depth)) > loop) ++depth;
    const std::int64_t count = s.bit == 0 ? trips : std::min<std::int64_t>(2, (trips + s.bit - 1) / s.bit);
    if (s.stride != 0 && count > 1) walk.steps.push_back({s.stride, count, depth});
  }
  return walk;
}

void ReuseFinder::add_traffic(const Group& g, const LaunchState& launch, double declared, double blocks,
                              AccessStream* walk) {
  const Chain& chain = chains_[static_cast<std::size_t>(g.chain)];
  Phase& phase = phases_[phase_of(chain)];
  const bool alone = !g.scattered && g.host < 0 && g.guests.empty();
  const bool counted = alone && walks_like_the_last(g);
  if (counted && g.requested == last_->requested && declared == last_declared_) {
    for (std::size_t depth = 0; depth <= whole_; ++depth) {
      const LastRows& last = last_rows_[depth];
      for (std::size_t w = 0; w < columns_; ++w) phase.footprint[g.direction][depth][w] += last.sectors[w];
      for (std::size_t w = 0; w < columns_; ++w) traffic_[g.direction][depth][w] += last.traffic[w];
      if (walk != nullptr) walk->level[depth] = {last.sectors[columns_ - 1], last.traffic[columns_ - 1]};
    }
    return;
  }
  Row requested, most, sectors, traffic;
  for (std::size_t w = 0; w < columns_; ++w) requested[w] = g.requested / blocks * windows_.blocks[w];
  if (declared > 0)
    most.fill(declared);
  else
    most = requested;
  int before = -1;
  std::int64_t run_before = 0;
  bool were_together = false;
  for (std::size_t depth = 0; depth <= whole_; ++depth) {
    if (g.host >= 0 && joined(groups_[static_cast<std::size_t>(g.host)], depth)) continue;  // counted with its host
    const int outside = outside_of(g, depth);
    const bool together = !g.guests.empty() && joined(g, depth);
    const std::int64_t run = depth == 1 && outside == static_cast<int>(chain.loops.size()) ? chain.run : 1;
    if (outside != before || run != run_before || together != were_together) {
      before = outside;
      run_before = run;
      were_together = together;
      double passages = 1;
      for (int l = 0; l < outside; ++l) {
        const std::int64_t trips = chain.now[static_cast<std::size_t>(l)];
        passages *= static_cast<double>(l + 1 < outside ? trips : (trips + run - 1) / run);
      }
      if (together) {
        double asked = g.requested;
        for (const int guest : g.guests) asked += groups_[static_cast<std::size_t>(guest)].requested;
        for (std::size_t w = 0; w < columns_; ++w) requested[w] = asked / blocks * windows_.blocks[w];
        if (declared <= 0) most = requested;
      }
      if (g.scattered) {
        for (std::size_t w = 0; w < columns_; ++w)
          sectors[w] = most[w] * -std::expm1(-(requested[w] / passages) / most[w]);
      } else {
        if (together)
          distinct_together(g, launch, outside, run, sectors);
        else if (counted)
          sectors = last_rows_[depth].distinct;
        else
          distinct(g, g.offsets, launch, outside, run, sectors);
        if (alone) last_rows_[depth].distinct = sectors;
        for (std::size_t w = 0; w < columns_; ++w)
          sectors[w] = std::min(std::min(passages == 1 ? requested[w] : requested[w] / passages, sectors[w]), most[w]);
      }
      for (std::size_t w = 0; w < columns_; ++w) traffic[w] = std::min(requested[w], sectors[w] * passages);
    }
    for (std::size_t w = 0; w < columns_; ++w) phase.footprint[g.direction][depth][w] += sectors[w];
    for (std::size_t w = 0; w < columns_; ++w) traffic_[g.direction][depth][w] += traffic[w];
    if (walk != nullptr) walk->level[depth] = {sectors[columns_ - 1], traffic[columns_ - 1]};
    if (alone) {
      last_rows_[depth].sectors = sectors;
      last_rows_[depth].traffic = traffic;
    }
  }
  if (!alone) return;
  last_ = &g;
  last_declared_ = declared;
}

/// Arrays that are walked alike, as those of a vector sum, have as many sectors each.
bool ReuseFinder::walks_like_the_last(const Group& g) const {
  return last_ != nullptr && last_->chain == g.chain && last_->bytes == g.bytes && last_->offsets == g.offsets &&
         last_->ascending == g.ascending;
}

void ReuseFinder::find(const LaunchState& launch, std::span<const std::int64_t> buffer_bytes, Workload& out) {
  for (Chain& chain : chains_) trips_of(chain, launch);
  group_accesses(launch, out);
  const double blocks = static_cast<double>(launch.grid.count());
  find_windows(launch.grid);
  used_phases_ = 0;
  out.streams.clear();
  last_ = nullptr;
  requested_ = near_ = {};
  stored_again_ = 0;
  for (std::size_t i = 0; i < used_groups_; ++i) prepare_group(groups_[i]);
  whole_ = rows_ - 1;
  if (shares_) join_groups();
  for (auto& of_direction : traffic_)
    for (std::size_t row = 0; row <= whole_; ++row) of_direction[row].fill(0);
  for (std::size_t i = 0; i < used_groups_; ++i) {
    const Group& g = groups_[i];
    const std::int64_t bytes = g.buffer >= 0 ? buffer_bytes[static_cast<std::size_t>(g.buffer)] : 0;
    const double declared = bytes > 0 ? std::ceil(static_cast<double>(bytes) / geometry_.sector_bytes) : 0;
    if (keep_streams_ && !g.scattered) out.streams.push_back(stream_of(g));
    add_traffic(g, launch, declared, blocks, keep_streams_ && !g.scattered ? &out.streams.back() : nullptr);
  }
  write(out.reuse);
  for (AccessStream& walk : out.streams) {
    const auto rows = walk.level;
    for (std::size_t d = 0; d < Reuse::depths; ++d) walk.level[d] = rows[row_of(d)];
  }
  for (const auto d : {Reuse::read, Reuse::write})
    out.reuse.near[d] = requested_[d] > 0 ? std::min(1.0, near_[d] / requested_[d]) : 1;
  out.reuse.stored_again = requested_[Reuse::write] > 0 ? stored_again_ / requested_[Reuse::write] : 0;
}

std::size_t ReuseFinder::phase_of(const Chain& chain) {
  const int outermost = chain.loops.empty() ? -1 : chain.loops.front();
  for (std::size_t i = 0; i < used_phases_; ++i)
    if (phases_[i].loop == outermost) return i;
  if (used_phases_ == phases_.size()) phases_.emplace_back();
  Phase& phase = phases_[used_phases_];
  phase.loop = outermost;
  for (auto& of_direction : phase.footprint)
    for (std::size_t row = 0; row <= whole_; ++row) of_direction[row].fill(0);
  return used_phases_++;
}

/// The row that has the numbers of a depth of Workload::reuse.
std::size_t ReuseFinder::row_of(std::size_t depth) const {
  const bool all = depth + 1 == Reuse::depths;
  return all && used_phases_ > 1 ? whole_ : std::min(depth, rows_ - 1);
}

/// Over its whole life a block touches what all of its phases touch; within a passage it is in one of them.
void ReuseFinder::write(Reuse& out) const {
  out.known = true;
  out.reason = {};
  Row read{}, written{}, most;
  for (std::size_t d = 0; d < Reuse::depths; ++d) {
    const bool all = d + 1 == Reuse::depths;
    const std::size_t row = all ? whole_ : std::min(d, rows_ - 1);
    if (d >= rows_ && (!all || used_phases_ < 2)) {  // as one loop less deep
      for (auto& of_direction : out.level) of_direction[d] = of_direction[d - 1];
      continue;
    }
    read.fill(0);
    written.fill(0);
    most.fill(-1);
    for (std::size_t i = 0; i < used_phases_; ++i) {
      const Phase& p = phases_[i];
      if (p.loop < 0 && used_phases_ > 1 && !all) continue;  // no loop, no passages
      const Row &more_read = p.footprint[0][row], &more_written = p.footprint[1][row];
      for (std::size_t w = 0; w < columns_; ++w) {
        const double both = more_read[w] + more_written[w];
        const bool larger = both > most[w];
        most[w] = larger ? both : most[w];
        read[w] = all ? read[w] + more_read[w] : larger ? more_read[w] : read[w];
        written[w] = all ? written[w] + more_written[w] : larger ? more_written[w] : written[w];
      }
    }
    for (std::size_t w = 0; w < Reuse::windows; ++w) {
      const std::size_t c = windows_.column[w];
      out.level[Reuse::read][d][w] = {read[c], traffic_[0][row][c]};
      out.level[Reuse::write][d][w] = {written[c], traffic_[1][row][c]};
    }
  }
}

}  // namespace kernelcast
