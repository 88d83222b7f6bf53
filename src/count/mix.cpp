// Which parts are exact is read off the profile. The rest is bookkeeping: every total of a workload is a sum over
// blocks and accesses, so it can be summed again over parts of different origin.
//
// Where an access runs a known number of times at an address that data decide, the execution gives what one request
// costs, and the closed form how many there are: a ratio estimate, of smaller variance than the extrapolated total
// (Cochran, "Sampling Techniques", chapter 6) and equal to it when every block ran.
#include "count/mix.h"

#include <algorithm>
#include <set>

#include "kernelcast/error.h"

namespace kernelcast {
namespace {

/// Unknowns that decide a part, by whether the launch answers them.
struct Decides {
  std::set<int> open, given;
  [[nodiscard]] Origin origin(Origin if_open) const {
    return open.empty() || !given.empty() ? Origin::closed : if_open;
  }
};

class Parts {
 public:
  Parts(const KernelProfile& profile, const Launch& launch) : profile_(profile), launch_(launch) {}

  [[nodiscard]] Decides of_block(const Block& block) const {
    Decides d;
    add(d, block.guard);
    for (int l = block.loop; l >= 0; l = profile_.loops[static_cast<std::size_t>(l)].parent) {
      const Loop& loop = profile_.loops[static_cast<std::size_t>(l)];
      add(d, loop.guard);
      add(d, loop.unknown);
    }
    return d;
  }
  [[nodiscard]] Decides with(Decides d, int unknown) const {
    add(d, unknown);
    return d;
  }

 private:
  void add(Decides& d, int unknown) const {
    if (unknown < 0) return;
    const Unknown& u = profile_.unknowns.at(static_cast<std::size_t>(unknown));
    (launch_.assume.contains(u.key) ? d.given : d.open).insert(unknown);
  }
  void add(Decides& d, const Guard& guard) const {
    for (const Path& path : guard.paths)
      for (const Path::Factor& f : path.factors) add(d, f.unknown);
  }

  const KernelProfile& profile_;
  const Launch& launch_;
};

bool is_sampled(const Workload& closed) {
  return std::any_of(closed.assumptions.begin(), closed.assumptions.end(),
                     [](const Assumption& a) { return a.kind == Assumption::Kind::sampled; });
}

AccessCount scaled(const AccessCount& closed, const AccessCount& executed) {
  const double k = closed.requests / executed.requests;
  AccessCount c = closed;
  c.sectors = executed.sectors * k;
  c.segments = executed.segments * k;
  c.bank_passes = executed.bank_passes * k;
  return c;
}

void take_parts(const KernelProfile& profile, const Workload& executed, CountOrigin& origin, Workload& w) {
  for (std::size_t b = 0; b < origin.blocks.size(); ++b)
    if (origin.blocks[b] != Origin::closed) w.block_counts[b] = executed.block_counts[b];
  for (std::size_t a = 0; a < origin.accesses.size(); ++a) {
    const AccessCount& measured = executed.access_counts[a];
    if (origin.accesses[a] == Origin::executed) w.access_counts[a] = measured;
    if (origin.accesses[a] != Origin::both) continue;
    if (measured.requests > 0)
      w.access_counts[a] = scaled(w.access_counts[a], measured);
    else
      origin.accesses[a] = Origin::closed;
  }
  for (std::size_t b = 0; b < origin.branches.size(); ++b) {
    const BranchCount& measured = executed.branch_counts[b];
    if (origin.branches[b] == Origin::executed || profile.branches[b].block < 0) w.branch_counts[b] = measured;
    if (origin.branches[b] != Origin::both) continue;
    if (measured.warps > 0)
      w.branch_counts[b].divergent = measured.divergent * w.branch_counts[b].warps / measured.warps;
    else
      origin.branches[b] = Origin::closed;
  }
}

/// A default decides whether the block runs, and every lane on its own (Workload::data_branch_ops).
bool default_decides(const KernelProfile& profile, const Decides& d) {
  return std::any_of(d.open.begin(), d.open.end(), [&](int index) {
    const Unknown& u = profile.unknowns[static_cast<std::size_t>(index)];
    return u.kind == Unknown::Kind::probability && !u.uniform && u.default_value > 0 && u.default_value < 1;
  });
}

void add_up(const KernelProfile& profile, const Launch& launch, const CountOrigin& origin, Workload& w) {
  sum_parts(profile, w);
  const Parts parts(profile, launch);
  w.data_branch_ops = {};
  for (std::size_t b = 0; b < profile.blocks.size(); ++b)
    if (origin.blocks[b] == Origin::closed && default_decides(profile, parts.of_block(profile.blocks[b])))
      w.data_branch_ops += profile.blocks[b].ops.scaled(w.block_counts[b].warps);
}

bool barriers_executed(const KernelProfile& profile, const CountOrigin& origin) {
  for (std::size_t b = 0; b < origin.blocks.size(); ++b)
    if (profile.blocks[b].barriers > 0 && origin.blocks[b] != Origin::closed) return true;
  return false;
}

double unreached_ops(const KernelProfile& profile, const Workload& closed, const Workload& executed,
                     const CountOrigin& origin) {
  double ops = 0;
  for (std::size_t b = 0; b < origin.blocks.size(); ++b)
    if (origin.blocks[b] != Origin::closed && executed.block_counts[b].warps == 0)
      ops += closed.block_counts[b].warps * profile.blocks[b].ops.total();
  return ops;
}

/// Blocks in closed form on which a default still stands: the launch answered one of their unknowns, not all.
std::set<int> still_open(const KernelProfile& profile, const Launch& launch, const CountOrigin& origin) {
  const Parts parts(profile, launch);
  std::set<int> open;
  std::size_t k = 0;
  for (std::size_t b = 0; b < profile.blocks.size(); ++b) {
    const Decides block = parts.of_block(profile.blocks[b]);
    if (origin.blocks[b] == Origin::closed) open.insert(block.open.begin(), block.open.end());
    for (const Access& a : profile.blocks[b].accesses) {
      const Decides access = parts.with(block, a.unknown);
      if (origin.accesses[k++] == Origin::closed) open.insert(access.open.begin(), access.open.end());
    }
  }
  return open;
}

std::vector<Assumption> joined_assumptions(const KernelProfile& profile, const Launch& launch, const Workload& closed,
                                           const Workload& executed, const CountOrigin& origin) {
  std::vector<Assumption> all;
  const std::set<int> open = still_open(profile, launch, origin);
  const auto ends_early = [](const Assumption& a) { return a.kind == Assumption::Kind::contents; };  // may
  for (const Assumption& a : closed.assumptions)
    if (ends_early(a) || std::any_of(open.begin(), open.end(), [&](int u) {
          return a.kind == Assumption::Kind::unknown && a.subject == profile.unknowns[static_cast<std::size_t>(u)].key;
        }))
      all.push_back(a);
  all.insert(all.end(), executed.assumptions.begin(), executed.assumptions.end());
  return all;
}

}  // namespace

std::string_view name_of(Origin o) {
  switch (o) {
    case Origin::closed:
      return "closed form";
    case Origin::executed:
      return "executed";
    case Origin::both:
      return "both";
  }
  return "";
}

bool CountOrigin::all_closed() const {
  const auto is_closed = [](Origin o) { return o == Origin::closed; };
  return std::all_of(blocks.begin(), blocks.end(), is_closed) &&
         std::all_of(accesses.begin(), accesses.end(), is_closed) &&
         std::all_of(branches.begin(), branches.end(), is_closed);
}

bool CountOrigin::all_executed() const {
  const auto is_executed = [](Origin o) { return o == Origin::executed; };
  return !blocks.empty() && std::all_of(blocks.begin(), blocks.end(), is_executed) &&
         std::all_of(accesses.begin(), accesses.end(), is_executed);
}

CountOrigin count_origin(const KernelProfile& profile, const Launch& launch, const Workload& closed) {
  const bool sampled = is_sampled(closed);
  const Parts parts(profile, launch);
  const auto origin_of = [&](const Decides& d, Origin if_open) {
    return sampled && d.given.empty() ? Origin::executed : d.origin(if_open);
  };
  CountOrigin o;
  for (const Block& block : profile.blocks) {
    const Decides d = parts.of_block(block);
    const Origin of_block = origin_of(d, Origin::executed);
    o.blocks.push_back(of_block);
    for (const Access& a : block.accesses) {
      const bool data_address = of_block == Origin::closed && d.given.empty() && a.unknown >= 0;
      o.accesses.push_back(data_address ? origin_of(parts.with({}, a.unknown), Origin::both) : of_block);
    }
  }
  for (const Branch& branch : profile.branches) {
    if (branch.block < 0) {
      o.branches.push_back(Origin::closed);
      continue;
    }
    const Origin of_block = o.blocks.at(static_cast<std::size_t>(branch.block));
    const Decides d = parts.of_block(profile.blocks[static_cast<std::size_t>(branch.block)]);
    const bool data_branch = of_block == Origin::closed && d.given.empty() && branch.unknown >= 0;
    o.branches.push_back(data_branch ? origin_of(parts.with({}, branch.unknown), Origin::both) : of_block);
  }
  return o;
}

Mixed mixed(const KernelProfile& profile, const Launch& launch, const Workload& closed, const Workload& executed,
            CountOrigin origin) {
  const bool fits = closed.block_counts.size() == profile.blocks.size() &&
                    executed.block_counts.size() == profile.blocks.size() &&
                    closed.access_counts.size() == origin.accesses.size() &&
                    executed.access_counts.size() == origin.accesses.size() &&
                    executed.branch_counts.size() == profile.branches.size() && closed.geometry == executed.geometry;
  if (!fits) throw InternalError("workloads of another profile or geometry cannot be joined");
  Workload w = closed;
  w.counts_method = origin.all_executed() ? CountsMethod::executed
                    : origin.all_closed() ? CountsMethod::symbolic
                                          : CountsMethod::mixed;
  take_parts(profile, executed, origin, w);
  add_up(profile, launch, origin, w);
  if (barriers_executed(profile, origin)) {
    w.barriers = executed.barriers;
    w.flat_barriers = executed.flat_barriers;
  }
  w.locality = executed.locality;
  w.sampled = executed.sampled;
  w.hottest_atomic_share = executed.hottest_atomic_share;
  sum_atomics(profile, w);
  w.unreached_ops = unreached_ops(profile, closed, executed, origin);
  w.warp_imbalance = executed.warp_imbalance;
  if (!origin.all_closed()) w.slowest = w.longest = {};
  w.assumptions = joined_assumptions(profile, launch, closed, executed, origin);
  return {std::move(w), std::move(origin)};
}

void sum_parts(const KernelProfile& profile, Workload& w) {
  w.warp_ops = w.thread_ops = {};
  w.stalls = {};
  w.phases.clear();
  clear_other_ways(w);
  for (auto& row : w.by_space)
    for (auto& c : row) c = {};
  std::size_t k = 0;
  for (std::size_t b = 0; b < profile.blocks.size(); ++b) {
    const BlockCount& n = w.block_counts.at(b);
    w.warp_ops += profile.blocks[b].ops.scaled(n.warps);
    w.thread_ops += profile.blocks[b].ops.scaled_lanes(n.lanes);
    w.thread_ops += profile.blocks[b].issued_elsewhere.scaled_lanes(n.lanes);
    w.stalls.add(profile.blocks[b].stalls, n.warps);
    add_phases(w.phases, profile.blocks[b].phases, n.warps);
    for (const Access& a : profile.blocks[b].accesses) {
      const AccessCount& c = w.access_counts.at(k++);
      add_other_ways(a, c, w);
      w.by_space[static_cast<int>(a.space)][static_cast<int>(a.kind)] += c;
    }
  }
  sum_atomics(profile, w);
}

}  // namespace kernelcast
