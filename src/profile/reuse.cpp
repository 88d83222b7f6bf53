// Idea: an address is a sum of strides times lanes, groups and loop counters. The set of bytes that a box of these
// touches is counted by adding one stride after the other, smallest first: a stride that is no longer than what is
// covered so far makes that longer, a larger one makes copies of it. Which variables run is what "depth" and "window"
// of Workload::reuse say; the working-set argument (traffic = distinct data of a passage that fits the cache, times
// passages) is that of tiling: Wolf and Lam, PLDI 1991.
//
// An address that is not linear in a variable (x % w, x / w, swizzles) is taken bit by bit: the stride of bit k is
// f(2^k) - f(0), which is exact for divisions, remainders and masks by powers of two and an estimate else.
#include "profile/reuse.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "kernelcast/error.h"

namespace kernelcast {
namespace {

/// A run of bytes, and how many copies of it the strides of groups of runs have made.
struct Run {
  std::int64_t low;
  double length, copies;
};

std::int64_t floor_mod(std::int64_t a, std::int64_t m) {
  const std::int64_t r = a % m;
  return r < 0 ? r + m : r;
}

double sectors_of(const Run& run, int sector) {
  const double inside = static_cast<double>(floor_mod(run.low, sector));
  return std::floor((inside + run.length - 1) / sector) + 1;
}

/// Joins runs that overlap or lie within one sector of another. They are sorted.
void join(std::vector<Run>& runs, int sector) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const double end = static_cast<double>(runs[last].low) + runs[last].length;
    if (static_cast<double>(runs[i].low) <= end + sector / 2.0 && runs[i].copies == runs[last].copies) {
      runs[last].length = std::max(
          runs[last].length, static_cast<double>(runs[i].low) + runs[i].length - static_cast<double>(runs[last].low));
    } else {
      runs[++last] = runs[i];
    }
  }
  runs.resize(last + 1);
}

/// Copies every run `s.count` times, `s.stride` apart; runs that differ by multiples of the stride share copies.
void copy(std::vector<Run>& runs, const Stride& s, int sector) {
  std::vector<Run> out;
  std::vector<char> done(runs.size(), 0);
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (done[i] != 0) continue;
    places.clear();
    Run run = runs[i];
    for (std::size_t j = i; j < runs.size(); ++j) {
      const std::int64_t apart = runs[j].low - runs[i].low, off = floor_mod(apart, s.stride);
      if (done[j] != 0 || std::min(off, s.stride - off) >= std::max(1, sector / 2)) continue;
      done[j] = 1;
      places.push_back((apart + s.stride / 2) / s.stride);
      run.length = std::max(run.length, runs[j].length);
    }
    double copies = 0;
    std::int64_t covered = places.front() - 1;
    for (const std::int64_t p : places) {  // ascending, like the runs
      const std::int64_t first = std::max(p, covered + 1), last = p + s.count - 1;
      if (last >= first) copies += static_cast<double>(last - first + 1);
      covered = std::max(covered, last);
    }
    run.copies *= copies;
    out.push_back(run);
  }
  runs = std::move(out);
}

}  // namespace

double distinct_sectors(std::vector<Stride>& strides, std::span<const std::int64_t> offsets, int bytes, int sector) {
  std::vector<Run> runs;
  runs.reserve(offsets.size());
  std::int64_t lowest = 0;  // strides that go down end where the same going up would start
  for (const Stride& s : strides) lowest += std::min<std::int64_t>(0, s.stride) * (s.count - 1);
  for (const std::int64_t o : offsets) runs.push_back({o + lowest, static_cast<double>(bytes), 1});
  join(runs, sector);
  for (Stride& s : strides) s.stride = std::abs(s.stride);
  std::sort(strides.begin(), strides.end(), [](const Stride& a, const Stride& b) { return a.stride < b.stride; });
  std::vector<Stride> outer;  // those that made copies
  for (const Stride& s : strides) {
    if (s.stride == 0 || s.count <= 1) continue;
    double shortest = runs.front().length;
    for (const Run& r : runs) shortest = std::min(shortest, r.length);
    if (static_cast<double>(s.stride) <= std::max(shortest, static_cast<double>(sector)) && outer.empty()) {
      for (Run& r : runs) r.length += static_cast<double>(s.stride * (s.count - 1));
      join(runs, sector);
      continue;
    }
    bool merged = false;
    for (auto o = outer.rbegin(); o != outer.rend() && !merged; ++o) {
      if (s.stride % o->stride != 0 || s.stride / o->stride > o->count) continue;
      const std::int64_t more = s.stride / o->stride * (s.count - 1);
      for (Run& r : runs) r.copies *= static_cast<double>(o->count + more) / static_cast<double>(o->count);
      o->count += more;
      merged = true;
    }
    if (merged) continue;
    // Copies of runs that together are as long as the stride grow into one another.
    const double reach = outer.empty() ? shortest : static_cast<double>(outer.back().stride * (outer.back().count - 1));
    if (!outer.empty() && static_cast<double>(s.stride) < reach) {
      const double grow = static_cast<double>(s.stride * (s.count - 1)) / static_cast<double>(outer.back().stride);
      const double most = static_cast<double>(s.count);
      const double factor = std::min(most, 1 + grow / static_cast<double>(outer.back().count));
      // Strides that are no multiples of one another fall between: all copies are distinct.
      const bool between = s.stride % outer.back().stride != 0;
      for (Run& r : runs) r.copies *= between ? most : factor;
      continue;
    }
    copy(runs, s, sector);
    outer.push_back(s);
  }
  double sum = 0;
  for (const Run& r : runs) sum += sectors_of(r, sector) * r.copies;
  return sum;
}

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

namespace {

/// Whether the launch gives every argument that the expression mentions.
bool arguments_given(const Expr& e, std::span<const Symbol> parameters) {
  const std::set<Symbol> needed = e.symbols();
  return std::all_of(needed.begin(), needed.end(), [&](Symbol s) {
    return s.name().rfind("arg:", 0) != 0 || std::find(parameters.begin(), parameters.end(), s) != parameters.end();
  });
}

}  // namespace

void ReuseFinder::add(const Access& access, int loop, const Scope& scope, ConstantPool& pool,
                      std::span<const Symbol> parameters) {
  const std::size_t position = accesses_++;
  if (access.space != MemorySpace::global && access.space != MemorySpace::texture) return;
  if (scope.symbols.size() > max_variables) return;
  const bool given = arguments_given(access.offset, parameters);
  plans_.push_back({&access, position, chain_of(loop), Index(given ? access.offset : Expr(0), scope, pool), {}, given});
  Chain& chain = chains_[static_cast<std::size_t>(plans_.back().chain)];
  if (chain.counters.empty()) chain.counters = scope.symbols;
}

namespace {

bool computable(const Expr& e, const std::vector<Symbol>& inputs) {
  const std::set<Symbol> needed = e.symbols();
  return std::all_of(needed.begin(), needed.end(),
                     [&](Symbol s) { return std::find(inputs.begin(), inputs.end(), s) != inputs.end(); });
}

}  // namespace

void ReuseFinder::prepare(std::span<const Symbol> parameters) {
  parameters_.assign(parameters.begin(), parameters.end());
  for (Chain& chain : chains_) {
    std::vector<Symbol> inputs = parameters_;
    inputs.insert(inputs.end(), chain.counters.begin(), chain.counters.end());
    std::vector<Expr> trips;
    for (int l : chain.loops) {
      const Expr& of_loop = profile_.loops[static_cast<std::size_t>(l)].trips;
      trips.push_back(computable(of_loop, inputs) ? of_loop : Expr(1));
    }
    chain.trips = CompiledExprs(trips, inputs);
    for (Plan& p : plans_) {
      if (&chains_[static_cast<std::size_t>(p.chain)] != &chain || p.offset.affine()) continue;
      const Expr offset = p.access->offset;
      p.computable = computable(offset, inputs);
      if (!p.computable) continue;
      p.general = CompiledExprs(std::span<const Expr>(&offset, 1), inputs);
    }
  }
}

/// Trip counts in the middle of the grid, outer loops in the middle of theirs.
void ReuseFinder::trips_of(Chain& chain, const LaunchState& launch) {
  chain.now.assign(chain.loops.size(), 1);
  const std::size_t base = parameters_.size();
  in_.assign(base + chain.counters.size(), 0);
  std::copy(launch.parameter_values.begin(), launch.parameter_values.end(), in_.begin());
  const auto groups = launch.grid.array();
  for (std::size_t a = 0; a < 3; ++a) in_[base + first_outer + a] = groups[a] / 2;
  out_.resize(chain.loops.size());
  for (std::size_t l = 0; l < chain.loops.size(); ++l) {
    const kernelcast::Loop& loop = profile_.loops[static_cast<std::size_t>(chain.loops[l])];
    if (loop.unknown >= 0) {
      chain.now[l] = std::max<std::int64_t>(
          1, static_cast<std::int64_t>(std::lround(launch.unknowns[static_cast<std::size_t>(loop.unknown)])));
    } else {
      try {
        chain.trips.evaluate(in_, out_, scratch_);
        chain.now[l] = std::max<std::int64_t>(1, out_[l]);
      } catch (const ArithmeticError&) {
        chain.now[l] = 1;
      }
    }
    if (base + first_counter + l < in_.size()) in_[base + first_counter + l] = chain.now[l] / 2;
  }
}

void ReuseFinder::general_strides(Plan& plan, const LaunchState& launch, Group& group) {
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
  const std::int64_t start = at(0, 0);
  group.offsets = {start};
  for (std::size_t v = 0; v < chain.counters.size(); ++v) {
    const std::int64_t n = most[v];
    if (n <= 1) continue;
    const std::int64_t step = at(v, 1) - start;
    if (at(v, n - 1) - start == step * (n - 1) && at(v, n / 2) - start == step * (n / 2)) {
      group.by_variable[v].push_back({step, n});
      continue;
    }
    for (std::int64_t bit = 1; bit < n; bit *= 2)
      group.by_variable[v].push_back({at(v, bit) - start, std::min<std::int64_t>(2, (n + bit - 1) / bit)});
  }
}

void ReuseFinder::strides_of(Plan& plan, const LaunchState& launch, Group& group) {
  if (plan.offset.affine()) {
    for (const Index::LinearTerm& t : plan.offset.terms())
      group.by_variable[t.variable].push_back({(*launch.pool)[t.slot], 0});  // runs over the whole variable
    group.offsets = {(*launch.pool)[plan.offset.constant_slot()]};
  } else {
    general_strides(plan, launch, group);
  }
  const std::int64_t first = group.offsets.front();
  for (std::int64_t also : plan.access->also) group.offsets.push_back(first + also);
}

void ReuseFinder::add_to_groups(Group&& group) {
  for (Group& known : groups_) {
    if (known.buffer != group.buffer || known.buffer < 0 || known.chain != group.chain || known.scattered ||
        group.scattered || known.direction != group.direction || known.bytes != group.bytes ||
        !std::equal(std::begin(known.by_variable), std::end(known.by_variable), std::begin(group.by_variable)))
      continue;
    known.offsets.insert(known.offsets.end(), group.offsets.begin(), group.offsets.end());
    known.requested += group.requested;
    return;
  }
  groups_.push_back(std::move(group));
}

/// Numbers of values of all variables but the groups, which are 1.
void ReuseFinder::sizes(const Chain& chain, const LaunchState& launch, std::int64_t (&n)[max_variables]) const {
  std::fill(std::begin(n), std::end(n), 1);
  const auto block = launch.block->size.array();
  for (std::size_t a = 0; a < 3; ++a) n[a] = block[a];
  for (std::size_t l = 0; l < chain.now.size() && first_counter + l < max_variables; ++l)
    n[first_counter + l] = chain.now[l];
}

double ReuseFinder::footprint(const Group& group, const std::int64_t (&n)[max_variables]) {
  strides_.clear();
  for (std::size_t v = 0; v < max_variables; ++v) {
    const auto& of_variable = group.by_variable[v];
    if (of_variable.size() == 1) {
      strides_.push_back({of_variable[0].stride, n[v]});
      continue;
    }
    std::int64_t bit = 1;
    for (const Stride& s : of_variable) {
      strides_.push_back({s.stride, std::min<std::int64_t>(2, (n[v] + bit - 1) / bit)});
      bit *= 2;
    }
  }
  return distinct_sectors(strides_, group.offsets, group.bytes, geometry_.sector_bytes);
}

namespace {

/// Data that shift a regular address keep its pattern; what data decide alone has none.
bool by_lane(const Expr& offset) {
  return offset.depends_on(local_id(0)) || offset.depends_on(local_id(1)) || offset.depends_on(local_id(2));
}

/// The first `blocks` groups of a grid, x fastest.
void window_sizes(const Dim3& grid, double blocks, std::int64_t (&n)[max_variables]) {
  double left = blocks;
  const auto size = grid.array();
  for (std::size_t a = 0; a < 3; ++a) {
    const double here = std::min(static_cast<double>(size[a]), std::ceil(left));
    n[first_outer + a] = static_cast<std::int64_t>(here);
    left = std::max(1.0, left / static_cast<double>(size[a]));
  }
}

}  // namespace

void ReuseFinder::find(const LaunchState& launch, std::span<const std::int64_t> buffer_bytes, Workload& out) {
  out.reuse = {};
  out.reuse.known = true;
  for (Chain& chain : chains_) trips_of(chain, launch);
  groups_.clear();
  for (Plan& plan : plans_) {
    const AccessCount& count = out.access_counts[plan.position];
    if (count.sectors <= 0) continue;
    const Access& a = *plan.access;
    Group g{a.buffer, plan.chain, a.bytes,       a.kind == AccessKind::load ? Reuse::read : Reuse::write,
            {},       {},         count.sectors, (a.unknown >= 0 && !by_lane(a.offset)) || !plan.computable};
    try {
      if (!g.scattered) strides_of(plan, launch, g);
    } catch (const ArithmeticError&) {
      g.scattered = true;
    }
    add_to_groups(std::move(g));
  }
  const double blocks = static_cast<double>(launch.grid.count());
  phases_.clear();
  for (Group& g : groups_) {
    std::sort(g.offsets.begin(), g.offsets.end());
    g.offsets.erase(std::unique(g.offsets.begin(), g.offsets.end()), g.offsets.end());
    const Chain& chain = chains_[static_cast<std::size_t>(g.chain)];
    std::int64_t n[max_variables];
    for (int depth = 0; depth < Reuse::depths; ++depth) {
      sizes(chain, launch, n);
      double passages = 1;
      const int outside = depth == Reuse::depths - 1 ? 0 : static_cast<int>(chain.loops.size()) - depth;
      for (int l = 0; l < outside; ++l) {
        passages *= static_cast<double>(chain.now[static_cast<std::size_t>(l)]);
        if (first_counter + l < max_variables) n[first_counter + l] = 1;
      }
      for (int w = 0; w < Reuse::windows; ++w) {
        const double window = Reuse::blocks_in(w, blocks);
        const double requested = g.requested / blocks * window;
        double sectors = requested / passages;
        const double declared = g.buffer >= 0 && buffer_bytes[static_cast<std::size_t>(g.buffer)] > 0
                                    ? std::ceil(static_cast<double>(buffer_bytes[static_cast<std::size_t>(g.buffer)]) /
                                                geometry_.sector_bytes)
                                    : requested;
        if (g.scattered) {
          if (declared > 0) sectors = declared * -std::expm1(-sectors / declared);
        } else {
          window_sizes(launch.grid, window, n);
          sectors = std::min({sectors, footprint(g, n), declared});
        }
        const auto d = static_cast<std::size_t>(depth), k = static_cast<std::size_t>(w);
        phase_of(chain).footprint[g.direction][d][k] += sectors;
        out.reuse.level[g.direction][d][k].traffic += std::min(requested, sectors * passages);
      }
    }
  }
  join_phases(out.reuse);
}

ReuseFinder::Phase& ReuseFinder::phase_of(const Chain& chain) {
  const int outermost = chain.loops.empty() ? -1 : chain.loops.front();
  for (Phase& p : phases_)
    if (p.loop == outermost) return p;
  phases_.push_back({outermost, {}});
  return phases_.back();
}

/// Over its whole life a block touches what all of its phases touch; within a passage it is in one of them.
void ReuseFinder::join_phases(Reuse& out) const {
  for (std::size_t d = 0; d < Reuse::depths; ++d)
    for (std::size_t w = 0; w < Reuse::windows; ++w) {
      double most = -1;
      for (const Phase& p : phases_) {
        if (p.loop < 0 && phases_.size() > 1 && d + 1 < Reuse::depths) continue;  // no loop, no passages
        const double read = p.footprint[0][d][w], written = p.footprint[1][d][w];
        auto& r = out.level[0][d][w].footprint;
        auto& s = out.level[1][d][w].footprint;
        if (d + 1 == Reuse::depths) {
          r += read;
          s += written;
        } else if (read + written > most) {
          most = read + written;
          r = read;
          s = written;
        }
      }
    }
}

}  // namespace kernelcast
