// Binder: puts the parts together. Blocks of code with the same loops and guard share one Domain; its leaves feed the
// accesses of all of them. The definition of every count is in kernelcast/bind.h.
#include "kernelcast/bind.h"

#include <algorithm>
#include <numeric>

#include "kernelcast/error.h"
#include "profile/access_counter.h"
#include "profile/atomics.h"
#include "profile/launch_check.h"
#include "profile/launch_memo.h"
#include "profile/reuse.h"
#include "profile/slowest_warp.h"

namespace kernelcast {
namespace {

constexpr std::size_t most_patterns = 8192;
constexpr double default_work_limit = 1e7;

bool same_requests(const Access& a, const Access& b) {
  return a.space == b.space && (a.kind == AccessKind::atomic) == (b.kind == AccessKind::atomic) && a.bytes == b.bytes &&
         a.unknown == b.unknown && (a.unknown >= 0 || a.offset == b.offset) && a.also == b.also;
}

bool same_guard(const Guard& a, const Guard& b) {
  return std::equal(a.paths.begin(), a.paths.end(), b.paths.begin(), b.paths.end(),
                    [](const Path& x, const Path& y) { return x.condition == y.condition && x.factors == y.factors; });
}

}  // namespace

struct Binder::Impl {
  struct DomainPlan final : LeafSink {
    DomainPlan(Impl& i, int l, const Guard& g, const std::optional<Expr>& c)
        : impl(i), loop(l), guard(&g), domain(i.profile, l, g, c, i.pool) {}
    void take(const Leaf& leaf) override { impl.count_leaf(*this, leaf, *impl.result); }
    Impl& impl;
    int loop;
    const Guard* guard;
    Domain domain;
    std::vector<int> counters;               // what its accesses need
    std::vector<int> unknown_branches;       // branches on an unknown probability
    int condition_branch = -1;               // the branch whose condition this domain decides
    double barriers = 0, flat_barriers = 0;  // of one execution by a group
    double warps = 0, lanes = 0, group_executions = 0;
    double reach = 0;  // lane executions with every lane that may be active: no fewer than happen
    WarpPath once;     // of its blocks together
    WarpShares shares;
    BlockRange blocks;
  };
  /// The operations of all blocks of one domain and with the same unknowns.
  struct OpPlan {
    int domain = 0;
    std::vector<std::size_t> branches;  // unknowns that let each lane decide whether the blocks run
    OpCounts all{}, issued_elsewhere{};
    struct Op {
      std::size_t op_class;
      double by_warps, by_lanes;
    };
    std::vector<Op> ops{};  // those that occur
  };
  struct AccessPlan {
    const Access* access;
    int domain, counter;
  };
  struct BufferPlan {
    int buffer;
    std::vector<int> accesses;
    bool read = false, written = false;
  };

  Impl(const KernelProfile& p, const MemoryGeometry& g)
      : profile(p), geometry(g), reader(p), tables(g.warp_size), patterns(g), reuse(p, g) {
    if (g.warp_size < 1 || g.warp_size > 64 || g.sector_bytes < 1 || g.segment_bytes < 1 || g.shared_banks < 1 ||
        g.bank_bytes < 1)
      throw UserError("memory geometry out of range: warp_size 1 to 64, other sizes at least 1");
    if (g.bank_bytes > most_period || std::lcm<std::int64_t>(g.sector_bytes, g.segment_bytes) > most_period / 4)
      throw UserError("memory geometry out of range: sectors and segments of " + std::to_string(g.sector_bytes) +
                      " and " + std::to_string(g.segment_bytes) + " bytes, banks of " + std::to_string(g.bank_bytes) +
                      ": nothing repeats within " + std::to_string(most_period) + " bytes");
    for (const Block& block : p.blocks) add_block(block);
    for (std::size_t b = 0; b < p.branches.size(); ++b) add_branch(static_cast<int>(b));
    reuse.prepare(reader.symbols());
    pool.compile(reader.symbols());
    for (OpPlan& plan : op_plans)
      for (std::size_t i = 0; i < op_class_count; ++i)
        if (plan.all.n[i] != 0 || plan.issued_elsewhere.n[i] != 0)
          plan.ops.push_back({i, plan.all.n[i], plan.all.n[i] + plan.issued_elsewhere.n[i]});
    plan_buffers();
    for (const auto& d : domains)
      if (d->condition_branch < 0) shared_paths.push_back({&d->once, usual_length(d->once), &d->shares, &d->blocks});
  }

  int domain_of(int loop, const Guard& guard) {
    for (std::size_t d = 0; d < domains.size(); ++d)
      if (domains[d]->loop == loop && domains[d]->condition_branch < 0 && same_guard(*domains[d]->guard, guard))
        return static_cast<int>(d);
    domains.push_back(std::make_unique<DomainPlan>(*this, loop, guard, std::nullopt));
    return static_cast<int>(domains.size()) - 1;
  }

  void add_block(const Block& block) {
    const int d = domain_of(block.loop, block.guard);
    DomainPlan& plan = *domains[d];
    for (const Access& a : block.accesses) {
      accesses.push_back({&a, d, counter_of(plan, a)});
      by_coordinates = by_coordinates || a.by_coordinates;
      reuse.add(a, block.loop, plan.domain.scope(), pool, reader.symbols());
    }
    kernelcast::add_block(block, plan.once);
    plan.barriers += block.barriers;
    plan.flat_barriers += block.flat_barriers;
    block_domain.push_back(d);
    const auto branches = data_branches(block);
    auto ops = std::find_if(op_plans.begin(), op_plans.end(),
                            [&](const OpPlan& p) { return p.domain == d && p.branches == branches; });
    if (ops == op_plans.end()) ops = op_plans.insert(op_plans.end(), OpPlan{d, branches});
    ops->all += block.ops;
    ops->issued_elsewhere += block.issued_elsewhere;
  }

  /// Accesses of a domain that make the same requests are counted once.
  int counter_of(DomainPlan& plan, const Access& a) {
    for (int c : plan.counters)
      if (same_requests(counters[c]->access(), a)) return c;
    const int c = static_cast<int>(counters.size());
    plan.counters.push_back(c);
    counters.push_back(std::make_unique<AccessCounter>(a, plan.domain.scope(), geometry, pool));
    return c;
  }

  /// The lane-wise probabilities in the guards of a block and of the loops around it.
  std::vector<std::size_t> data_branches(const Block& block) const {
    std::vector<std::size_t> found;
    const auto add = [&](const Guard& guard) {
      for (const Path& path : guard.paths)
        for (const Path::Factor& f : path.factors)
          if (const Unknown& u = profile.unknowns[f.unknown]; u.kind == Unknown::Kind::probability && !u.uniform)
            found.push_back(static_cast<std::size_t>(f.unknown));
    };
    add(block.guard);
    for (int l = block.loop; l >= 0; l = profile.loops[l].parent) add(profile.loops[l].guard);
    return found;
  }

  /// True where the default of a probability stands for what nobody knows; 0 and 1 are a decision.
  bool left_open(const OpPlan& plan) const {
    return std::any_of(plan.branches.begin(), plan.branches.end(), [&](std::size_t u) {
      return !reader.given(u) && reader.unknowns()[u] > 0 && reader.unknowns()[u] < 1;
    });
  }

  void add_branch(int index) {
    const Branch& branch = profile.branches[index];
    if (branch.block < 0) return;
    const Block& block = profile.blocks[branch.block];
    if (branch.unknown >= 0) {
      const Unknown& u = profile.unknowns[branch.unknown];
      if (!u.uniform && u.kind == Unknown::Kind::probability)
        domains[block_domain[branch.block]]->unknown_branches.push_back(index);
      return;
    }
    bool by_lane = false;
    for (int axis = 0; axis < 3; ++axis) by_lane = by_lane || branch.condition.depends_on(local_id(axis));
    if (!by_lane) return;  // all lanes of a warp agree
    domains.push_back(std::make_unique<DomainPlan>(*this, block.loop, block.guard, branch.condition));
    domains.back()->condition_branch = index;
  }

  void plan_buffers() {
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const Access& a = *accesses[i].access;
      if (a.space != MemorySpace::global && a.space != MemorySpace::texture) continue;
      auto it = std::find_if(buffers.begin(), buffers.end(),
                             [&](const BufferPlan& b) { return a.buffer >= 0 && b.buffer == a.buffer; });
      if (it == buffers.end()) it = buffers.insert(buffers.end(), BufferPlan{a.buffer, {}, false, false});
      it->read = it->read || a.kind != AccessKind::store;
      it->written = it->written || a.kind != AccessKind::load;
      it->accesses.push_back(static_cast<int>(i));
    }
  }

  void count_leaf(DomainPlan& plan, const Leaf& leaf, Workload& w) {
    const double times = leaf.times();
    if (plan.condition_branch >= 0) {
      if (leaf.truth != nullptr) w.branch_counts[plan.condition_branch].divergent += times * divergent_known(leaf);
      return;
    }
    double reach = 0;  // outcomes overlap, so capped by the whole block
    for (const LanePart& part : leaf.parts) {
      plan.warps += times * part.weight * part.warps;
      plan.lanes += times * part.weight * part.lanes;
      plan.shares.add(part, times, launch.block->warps);
      reach += part.set->lanes;
    }
    if (reach > 0 && times > 0) plan.blocks.add(*leaf.box, launch.grid);
    plan.reach +=
        leaf.volume * std::min(reach, static_cast<double>(launch.block->threads)) * std::max(1.0, leaf.weight);
    if (plan.barriers > 0) plan.group_executions += times * group_execution(leaf);
    for (int c : plan.counters) counters[c]->add(leaf, patterns);
    for (int b : plan.unknown_branches)
      w.branch_counts[b].divergent += times * divergent_unknown(leaf, launch.unknowns[profile.branches[b].unknown]);
  }

  // Probability that the group as a whole executes: the largest among its warps.
  double group_execution(const Leaf& leaf) {
    if (leaf.parts.size() == 1 && leaf.parts[0].each == nullptr && leaf.parts[0].probability == 1)
      return leaf.parts[0].weight;
    warp_executions.assign(launch.block->warps, 0.0);
    for (const LanePart& part : leaf.parts)
      for_warps(part, [&](std::size_t w, std::span<const double> q) {
        double none = 1;
        for (double x : q) none *= 1 - x;
        warp_executions[w] += part.weight * (1 - none);
      });
    return *std::max_element(warp_executions.begin(), warp_executions.end());
  }

  // Calls f(warp, probabilities of its possible lanes); `current_lanes` has the thread numbers.
  template <class F>
  void for_warps(const LanePart& part, F f) {
    for (std::size_t w = 0; w < part.set->warp_bits.size(); ++w) {
      lane_q.clear();
      current_lanes.clear();
      for (std::uint64_t m = part.set->warp_bits[w]; m != 0; m &= m - 1) {
        const std::size_t t = w * geometry.warp_size + __builtin_ctzll(m);
        lane_q.push_back(part.each == nullptr ? part.probability : (*part.each)[t]);
        current_lanes.push_back(t);
      }
      if (!lane_q.empty()) f(w, lane_q);
    }
  }

  double divergent_known(const Leaf& leaf) {
    double sum = 0;
    for (const LanePart& part : leaf.parts)
      for_warps(part, [&](std::size_t, std::span<const double> q) {
        double none[2] = {1, 1};
        for (std::size_t i = 0; i < q.size(); ++i) none[(*leaf.truth)[current_lanes[i]]] *= 1 - q[i];
        sum += part.weight * (1 - none[0]) * (1 - none[1]);
      });
    return sum;
  }

  double divergent_unknown(const Leaf& leaf, double p) {
    double sum = 0;
    for (const LanePart& part : leaf.parts)
      for_warps(part, [&](std::size_t, std::span<const double> q) {
        double none = 1, no_taken = 1, no_other = 1;
        for (double x : q) {
          none *= 1 - x;
          no_taken *= 1 - x * p;
          no_other *= 1 - x * (1 - p);
        }
        sum += part.weight * (1 - no_taken - no_other + none);
      });
    return sum;
  }

  enum class Direction { read, write, both };

  // The upper bound of the header for the accesses of one buffer in one direction. `known_only`: of those whose
  // addresses are known.
  double distinct_bytes(const BufferPlan& b, Direction direction, bool known_only = false) const {
    const std::int64_t declared = b.buffer >= 0 ? reader.buffer_bytes()[b.buffer] : -1;
    const auto extent = [&](std::int64_t lo, std::int64_t hi) {
      if (declared >= 0) {
        lo = std::max<std::int64_t>(lo, 0);
        hi = std::min(hi, declared - 1);
      }
      return lo > hi ? 0.0 : static_cast<double>(hi - lo) + 1;
    };
    std::int64_t lo = 0, hi = -1;
    double sum = 0;
    bool bounded = b.buffer >= 0;
    for (int i : b.accesses) {
      const AccessPlan& plan = accesses[i];
      const AccessCounter& c = *counters[plan.counter];
      const double reach = domains[plan.domain]->reach * c.repeats() * plan.access->bytes;
      const AccessKind kind = plan.access->kind;
      if ((direction == Direction::read && kind == AccessKind::store) ||
          (direction == Direction::write && kind == AccessKind::load))
        continue;
      if (plan.access->unknown >= 0 || plan.access->by_coordinates || b.buffer < 0 || !domain_exact[plan.domain]) {
        if (known_only) continue;
        sum += declared >= 0 ? std::min(reach, static_cast<double>(declared)) : reach;
        if (reach > 0) bounded = false;
        continue;
      }
      if (c.empty()) continue;
      sum += std::min(extent(c.lowest(), c.highest()), reach);
      if (lo > hi) {
        lo = c.lowest();
        hi = c.highest();
      } else {
        lo = std::min(lo, c.lowest());
        hi = std::max(hi, c.highest());
      }
    }
    if (bounded) return std::min(sum, extent(lo, hi));
    return declared >= 0 ? std::min(sum, static_cast<double>(declared)) : sum;
  }

  void footprints(Workload& out) const {
    out.footprint_bytes = out.footprint_read_bytes = out.footprint_write_bytes = out.compulsory_bytes = 0;
    for (const BufferPlan& b : buffers) {
      const double both = distinct_bytes(b, Direction::both);
      out.footprint_bytes += both;
      if (b.read) out.footprint_read_bytes += b.written ? distinct_bytes(b, Direction::read) : both;
      if (b.written) out.footprint_write_bytes += b.read ? distinct_bytes(b, Direction::write) : both;
      if (b.read) out.compulsory_bytes += distinct_bytes(b, Direction::read, true);
      if (b.written) out.compulsory_bytes += distinct_bytes(b, Direction::write, true);
    }
  }

  void set_assumptions(Workload& out) {
    sample_notes.clear();
    for (std::size_t d = 0; d < domains.size(); ++d)
      if (!domain_exact[d])
        sample_notes.push_back({"iterations of code in kernel " + profile.kernel + domain_place(d),
                                "a sample, counts are not exact", "", Assumption::Kind::sampled});
    for (const AccessPlan& a : accesses)
      if (!counters[a.counter]->exact())
        sample_notes.push_back({"addresses of the access at " + place_of(profile, a.access->line),
                                "a sample, counts are not exact", "", Assumption::Kind::sampled});
    if (!sample_notes.empty())
      sample_notes.erase(std::unique(sample_notes.begin(), sample_notes.end()), sample_notes.end());
    const auto& open = reader.assumptions();
    if (out.assumptions.size() == open.size() + sample_notes.size() &&
        std::equal(open.begin(), open.end(), out.assumptions.begin()) &&
        std::equal(sample_notes.begin(), sample_notes.end(), out.assumptions.begin() + open.size()))
      return;
    out.assumptions = open;
    out.assumptions.insert(out.assumptions.end(), sample_notes.begin(), sample_notes.end());
  }

  [[nodiscard]] std::string domain_place(std::size_t d) const {
    for (std::size_t b = 0; b < block_domain.size(); ++b)
      if (block_domain[b] == static_cast<int>(d)) return " (" + place_of(profile, profile.blocks[b].line) + ")";
    return domains[d]->condition_branch >= 0
               ? " (" + place_of(profile, profile.branches[domains[d]->condition_branch].line) + ")"
               : "";
  }

  void bind(const Launch& l, Workload& out) {
    result = &out;
    reader.read(l);
    if (memo_version != reader.version()) {
      memo.clear();
      memo_version = reader.version();
    }
    if (const Workload* known = memo_wanted ? memo.find(reader.values()) : nullptr) {
      out = *known;
      return;
    }
    if (patterns.size() > most_patterns || tables.size() > most_patterns) {
      patterns.clear();
      tables.clear();
    }
    pool.evaluate(reader.values());
    launch.profile = &profile;
    launch.geometry = geometry;
    launch.grid = l.grid;
    BlockLanes& lanes = tables.block(l.block);
    launch.block = &lanes;
    launch.all_lanes = &tables.all(lanes);
    launch.pool = &pool;
    launch.parameters = reader.symbols();
    launch.parameter_values = reader.values();
    launch.unknowns = reader.unknowns();
    launch.tables = &tables;

    out.access_counts.resize(accesses.size());
    out.branch_counts.assign(profile.branches.size(), {});
    out.block_counts.resize(block_domain.size());
    for (auto& c : counters) c->start(launch);
    domain_exact.assign(domains.size(), true);
    count_domains();
    assemble(l, out);
    if (memo_wanted) memo.remember(reader.values(), out);
  }

  // The limit of work is shared out: what one domain and its accesses leave is there for those that follow.
  void count_domains() {
    double left = work_limit;
    auto waiting = static_cast<double>(domains.size() + counters.size());
    const double least = work_limit / (2 * waiting);
    for (std::size_t d = 0; d < domains.size(); ++d) {
      DomainPlan& plan = *domains[d];
      plan.warps = plan.lanes = plan.group_executions = plan.reach = 0;
      plan.shares.clear();
      plan.blocks.clear();
      if (plan.condition_branch >= 0 && !divergence_wanted) continue;  // these come last
      const auto n = static_cast<double>(plan.counters.size());
      launch.work_limit = std::max(least, left / waiting);
      launch.leaf_work = 16 + 8 * n;
      domain_exact[d] = plan.domain.visit(launch, plan);
      left -= plan.domain.work();
      for (int c : plan.counters) left -= counters[c]->work();
      waiting -= 1 + n;
    }
  }

  void count_operations(const OpPlan& plan, Workload& out) const {
    const double warps = domains[plan.domain]->warps, lanes = domains[plan.domain]->lanes;
    for (const OpPlan::Op& op : plan.ops) {
      out.warp_ops.n[op.op_class] += op.by_warps * warps;
      out.thread_ops.n[op.op_class] += op.by_lanes * lanes;
    }
    if (plan.all.n[static_cast<std::size_t>(OpClass::tensor)] != 0) out.warp_ops.tensor.add(plan.all.tensor, warps);
    if (plan.branches.empty() || !left_open(plan)) return;
    for (const OpPlan::Op& op : plan.ops) out.data_branch_ops.n[op.op_class] += op.by_warps * warps;
    out.data_branch_ops.tensor.add(plan.all.tensor, warps);
  }

  void assemble(const Launch& l, Workload& out) {
    out.grid = l.grid;
    out.block = l.block;
    out.cache = l.cache;
    out.launch_overhead_s = l.launch_overhead_s;
    out.geometry = geometry;
    out.blocks = static_cast<double>(l.grid.count());
    out.threads = out.blocks * static_cast<double>(launch.block->threads);
    out.warps_per_block = static_cast<double>(launch.block->warps);
    out.warps = out.blocks * out.warps_per_block;
    for (OpCounts* ops : {&out.warp_ops, &out.thread_ops, &out.data_branch_ops}) *ops = {};
    out.barriers = out.flat_barriers = 0;
    for (const auto& d : domains) {
      out.barriers += d->barriers * d->group_executions;
      out.flat_barriers += d->flat_barriers * d->group_executions;
    }
    for (std::size_t b = 0; b < block_domain.size(); ++b)
      out.block_counts[b] = {domains[block_domain[b]]->warps, domains[block_domain[b]]->lanes};
    for (const OpPlan& plan : op_plans) count_operations(plan, out);
    for (std::size_t b = 0; b < profile.branches.size(); ++b)
      if (profile.branches[b].block >= 0)
        out.branch_counts[b].warps = out.block_counts[profile.branches[b].block].warps;
    clear_other_ways(out);
    for (auto& row : out.by_space)
      for (auto& c : row) c = {};
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const Access& a = *accesses[i].access;
      const DomainPlan& plan = *domains[accesses[i].domain];
      const AccessCounter& counter = *counters[accesses[i].counter];
      AccessCount& count = out.access_counts[i];
      count.requests = counter.repeats() * plan.warps;
      count.lanes = counter.repeats() * plan.lanes;
      count.bytes = count.lanes * a.bytes;
      count.words = count.lanes * words_of(a.bytes);
      count.sectors = counter.cost().sectors;
      count.segments = counter.cost().segments;
      count.bank_passes = counter.cost().bank_passes;
      count.distinct = a.kind == AccessKind::atomic && a.unknown < 0 && !counter.empty()
                           ? std::max(1.0, static_cast<double>(counter.highest() - counter.lowest() + 1) / a.bytes)
                           : 0;
      join_lanes(a, count);
      if (a.bulk) {  // asks nothing of the load/store units
        count.requests = count.lanes = count.words = 0;
        if (a.space != MemorySpace::shared)
          count.bank_passes = 0;
        else if (a.row_bytes > 0)  // rows are written one after another, however narrow
          count.bank_passes = std::max(count.bank_passes, count.bytes / a.row_bytes);
      }
      add_other_ways(a, count, out);
      out.by_space[static_cast<int>(a.space)][static_cast<int>(a.kind)] += count;
    }
    footprints(out);
    find_reuse(out);
    if (by_coordinates) cap_footprints(out);
    out.hottest_atomic_share = 0;
    out.stalls = {};
    out.phases.clear();
    for (std::size_t b = 0; b < profile.blocks.size(); ++b) {
      out.stalls.add(profile.blocks[b].stalls, out.block_counts[b].warps);
      add_phases(out.phases, profile.blocks[b].phases, out.block_counts[b].warps);
    }
    out.slowest = slowest_path(shared_paths, launch.block->warps);
    out.cluster = profile.cluster;
    set_registers(out);
    out.longest = longest_path(shared_paths, launch.block->warps, launch.grid);
    out.spill_bytes = profile.registers.spill_bytes;
    out.stack_bytes = static_cast<double>(profile.stack_bytes);
    out.registers_per_thread = profile.registers.per_thread;
    out.shared_bytes_per_block = static_cast<double>(profile.static_shared_bytes + l.dynamic_shared_bytes);
    out.counts_method = CountsMethod::symbolic;
    sum_atomics(profile, out);
    set_assumptions(out);
  }

  /// Boxes of tensor maps lie nowhere: their bytes are those of the distinct ones.
  static void cap_footprints(Workload& out) {
    if (!out.reuse.known) return;
    const auto touched = [&out](Reuse::Direction d) {
      return out.reuse.at(d, Reuse::depths - 1, Reuse::windows - 1).footprint * out.geometry.sector_bytes;
    };
    out.footprint_read_bytes = std::min(out.footprint_read_bytes, touched(Reuse::read));
    out.footprint_write_bytes = std::min(out.footprint_write_bytes, touched(Reuse::write));
    out.footprint_bytes = std::min(out.footprint_bytes, touched(Reuse::read) + touched(Reuse::write));
  }

  /// Registers that a block's warps hold at most at a time: the largest that each asks for, or those of the launch.
  void set_registers(Workload& out) const {
    out.set_registers_per_block = 0;
    if (profile.set_registers.empty() || out.blocks <= 0) return;
    double others = out.warps_per_block, registers = 0;
    for (const SetRegisters& s : profile.set_registers) {
      const double warps = std::min(others, out.block_counts[static_cast<std::size_t>(s.block)].warps / out.blocks);
      registers += warps * s.registers;
      others -= warps;
    }
    out.set_registers_per_block = (registers + others * profile.registers.per_thread) * geometry.warp_size;
  }

  void find_reuse(Workload& out) {
    if (reuse_wanted) {
      reuse.find(launch, reader.buffer_bytes(), out);
      return;
    }
    if (out.reuse.known) out.reuse = {};
    out.streams.clear();
    out.reuse.reason = "it was not asked for";
  }

  const KernelProfile& profile;
  MemoryGeometry geometry;
  LaunchReader reader;
  ConstantPool pool;
  LaneTables tables;
  PatternTable patterns;
  LaunchMemo memo;
  std::uint64_t memo_version = 0;
  std::vector<std::unique_ptr<DomainPlan>> domains;
  std::vector<int> block_domain;
  std::vector<OpPlan> op_plans;
  std::vector<std::unique_ptr<AccessCounter>> counters;
  std::vector<AccessPlan> accesses;  // blocks in order, accesses in order within them
  std::vector<BufferPlan> buffers;
  std::vector<SharedPath> shared_paths;  // of the domains that hold code
  ReuseFinder reuse;
  bool by_coordinates = false;  // whether any access is
  bool reuse_wanted = true, memo_wanted = true, divergence_wanted = true;
  LaunchState launch;
  double work_limit = default_work_limit;
  Workload* result = nullptr;  // of the bind that is running

  std::vector<char> domain_exact;
  std::vector<double> warp_executions, lane_q;
  std::vector<std::size_t> current_lanes;
  std::vector<Assumption> sample_notes;
};

Binder::Binder(const KernelProfile& profile, const MemoryGeometry& geometry)
    : impl_(std::make_unique<Impl>(profile, geometry)) {}
Binder::~Binder() = default;
Binder::Binder(Binder&&) noexcept = default;

Workload Binder::bind(const Launch& launch) {
  Workload out;
  impl_->bind(launch, out);
  return out;
}

void Binder::bind(const Launch& launch, Workload& out) { impl_->bind(launch, out); }

void Binder::set_work_limit(double lane_evaluations) {
  impl_->work_limit = lane_evaluations;
  impl_->memo.clear();
}

void Binder::set_divergence(bool wanted) {
  impl_->divergence_wanted = wanted;
  impl_->memo.clear();
}

void Binder::set_memo(bool wanted) {
  impl_->memo_wanted = wanted;
  impl_->memo.clear();
}

void Binder::skip_windows(int first) {
  impl_->reuse.skip_windows(std::clamp(first, 1, Reuse::windows - 1));
  impl_->memo.clear();
}

void Binder::set_reuse(bool wanted) {
  impl_->reuse_wanted = wanted;
  impl_->memo.clear();
}

void Binder::set_streams(bool wanted) {
  impl_->reuse.keep_walks(wanted);
  impl_->memo.clear();
}

}  // namespace kernelcast
