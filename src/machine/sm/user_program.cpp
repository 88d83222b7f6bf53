// Idea: all warps run the same program, the mean warp: loops run their mean trips, blocks that only some warps or lanes
// reach are passed over in the share of executions in which none does (a branch forward). Counts are the workload's,
// whether closed forms or execution found them, so that totals agree with those of the other models.
//
// Where copies in bulk complete on mbarriers, warps differ: one fills stages of shared memory, others multiply. Warps
// with the same parts in that, by guards that only the number of the thread decides, are a role with a program of its
// own (user_roles.cpp).
//
// Registers are given so that operands of an instruction lie in different banks: which ones the compiler takes is not
// known. Two instructions that the architecture could issue together do so, as its compilers try to.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "kernelcast/error.h"
#include "kernelcast/sm_model.h"
#include "machine/sm/user_block.h"
#include "machine/sm/user_roles.h"

namespace kernelcast::sm {
namespace {

constexpr double everywhere = 1 - 1e-6;
constexpr int first_result = 16, last_result = 239;  // registers of results that are waited for
constexpr std::size_t longest_program = 1'000'000;

class Builder {
 public:
  Builder(const KernelProfile& profile, const Workload& workload, const Spec& spec, const HitShares& hits)
      : p_(profile), w_(workload), spec_(spec), hits_(hits), roles_(roles_of(profile, workload)) {
    if (w_.block_counts.size() != p_.blocks.size()) throw InternalError("workload of another profile");
    out_.program.name = p_.kernel.empty() ? "kernel" : p_.kernel;
    find_fillers();
    make_rings();
  }

  UserProgram build() {
    for (std::size_t r = 0; r < roles_.size(); ++r) role(r);
    for (const Pending& pending : pending_) resolve(pending);
    pair_up();
    for (const Instruction& i : out_.program.instructions)
      for (const int reg : {i.destination, i.sources[0], i.sources[1], i.sources[2]})
        out_.program.registers = std::max(out_.program.registers, reg + 1);
    out_.instructions = out_.outside_instructions;
    for (const UserLoop& l : out_.loops) out_.instructions += l.iterations * l.instructions;
    return std::move(out_);
  }

 private:
  struct Pending {
    std::size_t producer;
    double distance;
    int loop;  // of UserProgram::loops
  };
  struct Item {
    std::size_t at;
    int block, loop;
  };

  // ---- how often ----

  void role(std::size_t r) {
    role_ = r;
    const UserRole& role = roles_[r];
    auto& code = out_.program.instructions;
    if (r > 0) {
      push({});
      code.back().op = Op::exit;
    }
    const std::size_t start = scope_ = code.size();
    weight_ = roles_.size() > 1 ? role.warps / w_.warps_per_block : 1;
    if (roles_.size() > 1) out_.program.roles.push_back({role.warps, static_cast<int>(start)});
    carries_ = {};
    find_counts();
    parallel_.unarrived = 0;
    parallel_.emptied = role.products > 0 ? empty_ : -1;
    parallel_.filled = role.fills > 0 ? full_ : -1;
    parallel_.waited = role.products > 0 ? full_ : role.fills > 0 ? empty_ : -1;
    body(-1, 1, 1);
    if (code.size() == start) emit({Op::nop, Latency::alu, -1, 0});
  }

  /// The ring of stages that are full, and that of those that are empty again, which warps that only copy wait for.
  void make_rings() {
    double fills = 0, waits = 0;
    int arrivals = 0;
    bool multiplies = false;
    for (const UserRole& r : roles_) {
      multiplies = multiplies || r.products > 0;
      if (r.fills > 0 && r.products <= 0) fills += r.fills, waits += r.waits;
      if (r.products > 0 && r.arrivals > 0) arrivals += r.warps;
    }
    const bool filled = std::ranges::any_of(roles_, [](const UserRole& r) { return r.fills > 0; });
    if (!filled || !multiplies) return;
    full_ = 0;
    out_.program.mbarriers.push_back({1, 0});
    out_.program.joint =
        std::ranges::all_of(roles_, [&](const UserRole& r) { return r.barriers == roles_[0].barriers; });
    out_.warps = static_cast<int>(std::lround(w_.warps_per_block));
    if (fills <= 0 || waits <= 0 || arrivals <= 0) return;
    // Stages that are filled before the first wait need none.
    const double ahead = hits_.stages - std::max(0.0, fills - waits);
    empty_ = 1;
    out_.program.mbarriers.push_back({arrivals, std::max(0, static_cast<int>(std::lround(ahead)))});
  }

  void find_counts() {
    const double warps = std::max(1.0, w_.warps);
    std::size_t next = 0;
    per_warp_.clear();
    first_access_.clear();
    for (std::size_t b = 0; b < p_.blocks.size(); ++b) {
      per_warp_.push_back(w_.block_counts[b].warps / warps * roles_[role_].share[b]);
      first_access_.push_back(next);
      next += p_.blocks[b].accesses.size();
    }
    if (next > w_.access_counts.size()) throw InternalError("workload of another profile");
    iterations_.assign(p_.loops.size(), 0);
    for (std::size_t l = p_.loops.size(); l-- > 0;) {
      for (std::size_t b = 0; b < p_.blocks.size(); ++b)
        if (p_.blocks[b].loop == static_cast<int>(l)) iterations_[l] = std::max(iterations_[l], per_warp_[b]);
      if (iterations_[l] > 0) continue;
      for (std::size_t child = l + 1; child < p_.loops.size(); ++child)
        if (p_.loops[child].parent == static_cast<int>(l))
          iterations_[l] = std::max(iterations_[l], iterations_[child]);
    }
  }

  [[nodiscard]] std::size_t first_block(int loop) const {
    for (std::size_t b = 0; b < p_.blocks.size(); ++b)
      for (int l = p_.blocks[b].loop; l >= 0; l = p_.loops[static_cast<std::size_t>(l)].parent)
        if (l == loop) return b;
    return p_.blocks.size();
  }

  [[nodiscard]] std::vector<Item> items(int loop) const {
    std::vector<Item> out;
    for (std::size_t b = 0; b < p_.blocks.size(); ++b)
      if (p_.blocks[b].loop == loop) out.push_back({b, static_cast<int>(b), -1});
    for (std::size_t l = 0; l < p_.loops.size(); ++l)
      if (p_.loops[l].parent == loop) out.push_back({first_block(static_cast<int>(l)), -1, static_cast<int>(l)});
    std::ranges::stable_sort(out, {}, &Item::at);
    return out;
  }

  // ---- structure ----

  /// `runs`: executions of the body by a warp; `share`: what an instruction emitted counts in an iteration.
  void body(int loop, double runs, double share) {
    share_ = share;
    const std::vector<Item> all = items(loop);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Item& item = all[k];
      const double own = item.block >= 0 ? per_warp_[static_cast<std::size_t>(item.block)]
                                         : iterations_[static_cast<std::size_t>(item.loop)];
      if (own <= 0 || runs <= 0) continue;
      const double times = own / runs;
      const double before = share_;
      const std::optional<std::size_t> skip = times < everywhere ? std::optional(begin_skip(1 - times)) : std::nullopt;
      share_ = before * std::min(times, 1.0);
      if (item.loop >= 0) {
        run_loop(std::max(times, 1.0), own, [&] { body(item.loop, own, 1); });
      } else if (times > 2 - everywhere) {  // more often than the loops around it say
        run_loop(times, own, [&] { block(item.block, 0); });
      } else {
        block(item.block, loop >= 0 && k + 1 == all.size() ? 1 : 0);
      }
      share_ = before;
      if (!skip) continue;
      scope_ = out_.program.instructions.size();  // what stands before it is not always executed
      out_.program.instructions[*skip].target = static_cast<int>(scope_);
    }
  }

  template <class Body>
  void run_loop(double trips, double iterations, Body&& inside) {
    const auto index = static_cast<int>(out_.loops.size());
    out_.loops.push_back({-1, loop_, static_cast<int>(role_), trips, iterations, 0});
    const int outer = loop_;
    const double share = share_;
    loop_ = index;
    share_ = 1;
    const std::size_t start = out_.program.instructions.size();
    scope_ = start;
    inside();
    share_ = 1;
    Instruction branch;
    branch.op = Op::branch;
    branch.target = static_cast<int>(start);
    set_trips(branch, trips);
    out_.loops[static_cast<std::size_t>(index)].branch = static_cast<int>(out_.program.instructions.size());
    push(branch);
    loop_ = outer;
    share_ = share;
    scope_ = out_.program.instructions.size();
  }

 public:
  static void set_trips(Instruction& branch, double trips) {
    branch.trips = std::max(1, static_cast<int>(std::floor(trips)));
    branch.fraction = std::clamp(trips - branch.trips, 0.0, 1.0);
  }

 private:
  /// The conditional branch that ends the block before is this one.
  std::size_t begin_skip(double fraction) {
    auto& code = out_.program.instructions;
    if (code.size() <= scope_ || code.back().op != Op::nop) push({});
    code.back().op = Op::branch;
    code.back().fraction = fraction;
    return code.size() - 1;
  }

  void push(const Instruction& i) {
    if (out_.program.instructions.size() >= longest_program)
      throw LimitError("sm: the kernel has more than a million instructions; ask kernelcast");
    out_.program.instructions.push_back(i);
    (loop_ < 0 ? out_.outside_instructions : out_.loops[static_cast<std::size_t>(loop_)].instructions) +=
        share_ * weight_;
  }

  // ---- instructions ----

  [[nodiscard]] bool executes(Op op) const {
    return std::ranges::any_of(spec_.units, [&](const Unit& u) { return std::ranges::find(u.ops, op) != u.ops.end(); });
  }

  void lacks(Op op) const {
    const auto no = [this](const std::string& what) {
      throw LimitError("sm: the kernel has " + what + ", and " + spec_.name + " has none; ask kernelcast");
    };
    if (op == Op::matrix) no("matrix instructions");
    if (op == Op::matrix_async) no("asynchronous matrix instructions");
    if (op == Op::copy_async) no("asynchronous copies");
  }

  void emit(const Piece& piece) {
    Instruction i;
    i.op = piece.op;
    if (i.op == Op::hfma && !executes(i.op)) i.op = Op::ffma;
    if (i.op == Op::dfma && !executes(i.op) && piece.latency == Latency::fp64)
      throw LimitError("sm: the kernel has FP64 instructions, and " + spec_.name +
                       " has no pipe for them; ask kernelcast");
    i.access = piece.access;
    i.product = piece.product;
    i.mbarrier = piece.mbarrier;
    i.open = piece.open;
    if (!executes(i.op)) lacks(i.op);
    for (int k = 0; k < info(i.op).max_sources; ++k)
      i.sources[static_cast<std::size_t>(k)] = fillers_[static_cast<std::size_t>(k)];
    push(i);
  }

  void block(int b, int branches) {
    const kernelcast::Block& block = p_.blocks[static_cast<std::size_t>(b)];
    const double executions = w_.block_counts[static_cast<std::size_t>(b)].warps;
    std::vector<BlockAccess> accesses;
    for (std::size_t a = 0; a < block.accesses.size(); ++a) {
      const kernelcast::Access& access = block.accesses[a];
      const AccessCount& count = w_.access_counts[first_access_[static_cast<std::size_t>(b)] + a];
      if (access.space == MemorySpace::constant || executions <= 0) continue;
      const bool copied = access.async || access.bulk;
      if (copied && access.kind != AccessKind::load) continue;           // what of a copy lies in shared memory
      if (access.bulk && access.space == MemorySpace::shared) continue;  // a copy from there
      const double requests = access.bulk ? count.bytes / std::max(access.bytes, 1) : count.requests;
      if (requests <= 0) continue;
      Carry carry;
      const int n = std::max(1, carry.take(requests / executions));
      using Copy = BlockAccess::Copy;
      accesses.push_back({access.space, access.kind, add_access(access, count, requests, passes_of_copies(b)), n,
                          access.bulk                         ? Copy::bulk
                          : access.async && has_events(block) ? Copy::lanes
                                                              : Copy::none});
    }
    add_products(block);
    const std::size_t start = out_.program.instructions.size();
    const BlockCode code = block_code(block, accesses, branches, parallel_, carries_);
    for (Piece piece : code.pieces) {
      if (piece.access < 0 && info(piece.op).memory) piece.access = plain_access();
      emit(piece);
    }
    for (const Wait& wait : code.waits) pending_.push_back({start + wait.producer, wait.distance, loop_});
  }

  /// Of a memory instruction that is in no access: a shuffle through the banks, an asynchronous copy.
  int plain_access() {
    if (plain_ < 0) {
      sm::Access a;
      a.sectors = 4;
      a.passes = 1;
      a.l1_hits = hits_.load_l1;
      a.l2_hits = hits_.load_l2;
      plain_ = static_cast<int>(out_.program.accesses.size());
      out_.program.accesses.push_back(a);
    }
    return plain_;
  }

  /// Nothing: a line a cycle.
  [[nodiscard]] std::optional<double> l1_passes(const AccessCount& count) const {
    if (spec_.l1.l1_banks == 0 && spec_.l1_bytes_per_cycle == 0) return std::nullopt;
    const double passes = spec_.l1.l1_banks > 0 ? count.bank_passes : count.segments;
    const double data = spec_.l1_bytes_per_cycle > 0 ? 4 * count.words / spec_.l1_bytes_per_cycle : 0;
    return std::max(passes, data) / count.requests;
  }

  /// Wavefronts of shared memory for one copy of a warp in block `b`.
  [[nodiscard]] std::optional<double> passes_of_copies(int b) const {
    double passes = 0, requests = 0;
    const auto& accesses = p_.blocks[static_cast<std::size_t>(b)].accesses;
    for (std::size_t a = 0; a < accesses.size(); ++a) {
      if (!accesses[a].async || accesses[a].kind != AccessKind::store) continue;
      const AccessCount& count = w_.access_counts[first_access_[static_cast<std::size_t>(b)] + a];
      passes += count.bank_passes;
      requests += count.requests;
    }
    return requests > 0 ? std::optional(passes / requests) : std::nullopt;
  }

  /// The products that executions of the block's matrix instructions are, each type in proportion to what it
  /// multiplies.
  void add_products(const kernelcast::Block& block) {
    parallel_.matrix.clear();
    parallel_.product.clear();
    double beside = 0, all = 0;
    for (const AsyncEvent& e : block.events) {
      if (e.kind == AsyncEvent::Kind::product) beside += e.count;
      if (e.kind == AsyncEvent::Kind::product || e.kind == AsyncEvent::Kind::matrix) all += e.count;
    }
    const TensorOps& ops = block.ops.tensor;
    const double instructions = block.ops[OpClass::tensor];
    if (instructions <= 0) return;
    const double asynchronous = std::accumulate(ops.async.begin(), ops.async.end(), 0.0);
    const double share = all > 0 ? beside / all : asynchronous > 0 ? 1 : 0;
    add_products(ops.warp, instructions * (1 - share), {}, parallel_.matrix);
    Product parts;
    parts.shared_bytes = share > 0 ? ops.shared_bytes / (instructions * share) : 0;
    parts.whole = asynchronous > 0 && block.stalls.products < 2 * asynchronous;  // four warps issue a wgmma
    std::array<double, tensor_type_count> held = ops.async;
    for (double& multiply_adds : held) multiply_adds *= ops.hold();
    add_products(held, instructions * share, parts, parallel_.product);
  }

  void add_products(const std::array<double, tensor_type_count>& multiply_adds, double instructions, Product like,
                    std::vector<int>& out) {
    const double all = std::accumulate(multiply_adds.begin(), multiply_adds.end(), 0.0);
    if (all <= 0 || instructions <= 0) return;
    for (std::size_t t = 0; t < tensor_type_count; ++t) {
      if (multiply_adds[t] <= 0) continue;
      like.type = static_cast<TensorType>(t);
      like.multiply_adds = all / instructions;
      check(like);
      const auto known = std::ranges::find(out_.program.products, like);
      const auto index = static_cast<int>(known - out_.program.products.begin());
      if (known == out_.program.products.end()) out_.program.products.push_back(like);
      const int times = std::max(1, static_cast<int>(std::lround(instructions * multiply_adds[t] / all)));
      out.insert(out.end(), static_cast<std::size_t>(times), index);
    }
  }

  void check(const Product& product) const {
    const double rate = spec_.tensor_fma[static_cast<std::size_t>(product.type)];
    if (rate > 0) return;
    const std::string type(name_of(product.type));
    throw LimitError("sm: the kernel multiplies matrices of " + type + ", " +
                     (std::isnan(rate) ? "whose rate is not known here; set compute.tensor_" + type + "_fma_per_unit"
                                       : "which this GPU does not") +
                     "; ask kernelcast");
  }

  int add_access(const kernelcast::Access& access, const AccessCount& count, double requests,
                 std::optional<double> shared_passes) {
    sm::Access a;
    a.bytes = access.bytes;
    if (access.space == MemorySpace::shared || access.space == MemorySpace::constant)
      a.passes = count.bank_passes / requests;
    if ((access.space == MemorySpace::global || access.space == MemorySpace::texture) && !access.bulk)
      a.passes = l1_passes(count);
    if (access.async) a.shared_passes = shared_passes;
    a.sectors = std::max(count.sectors / requests, 0.0);
    a.lines = count.segments * w_.geometry.segment_bytes / requests / spec_.line_bytes_l1;
    const bool local = access.space == MemorySpace::local;
    a.l1_hits = access.kind != AccessKind::load || access.bulk ? 0 : local ? hits_.local_l1 : hits_.load_l1;
    a.l2_hits = local ? 1 : access.kind == AccessKind::load ? hits_.load_l2 : hits_.store_l2;
    // Stores to local memory stay in an L1 that has room for them.
    if (local && access.kind == AccessKind::store) a.sectors = *a.sectors * (1 - hits_.local_l1);
    out_.program.accesses.push_back(a);
    return static_cast<int>(out_.program.accesses.size()) - 1;
  }

  // ---- registers ----

  /// Three registers that are never written, in different banks as far as there are any.
  void find_fillers() {
    for (std::size_t k = 0; k < 3; ++k) {
      fillers_[k] = static_cast<std::int16_t>(k);
      for (int reg = 0; reg < first_result; ++reg) {
        bool fresh = true;
        for (std::size_t j = 0; j < k; ++j) fresh = fresh && spec_.bank_of(fillers_[j]) != spec_.bank_of(reg);
        if (!fresh) continue;
        fillers_[k] = static_cast<std::int16_t>(reg);
        break;
      }
    }
    next_.assign(static_cast<std::size_t>(spec_.banks()), first_result);
  }

  std::int16_t result_in(int bank) {
    int& next = next_[static_cast<std::size_t>(bank)];
    for (;; ++next) {
      if (next > last_result) next = first_result;
      if (spec_.bank_of(next) == bank) return static_cast<std::int16_t>(next++);
    }
  }

  /// First instruction from the wanted place on that has an operand to spare; behind the end of a loop is its start.
  void resolve(const Pending& pending) {
    auto& code = out_.program.instructions;
    std::size_t begin = 0, end = code.size();
    if (pending.loop >= 0) {
      const int branch = out_.loops[static_cast<std::size_t>(pending.loop)].branch;
      begin = static_cast<std::size_t>(code[static_cast<std::size_t>(branch)].target);
      end = static_cast<std::size_t>(branch);
    }
    std::size_t at = pending.producer + static_cast<std::size_t>(pending.distance);
    for (std::size_t tries = 0; tries < std::min<std::size_t>(end - begin, 64); ++tries, ++at) {
      if (at >= end && pending.loop < 0) return;
      const std::size_t index = begin + (at - begin) % (end - begin);
      Instruction& i = code[index];
      for (std::size_t k = 0; k < static_cast<std::size_t>(info(i.op).max_sources); ++k) {
        if (i.sources[k] >= first_result || index == pending.producer) continue;
        const std::int16_t reg = result_in(spec_.bank_of(fillers_[k]));
        i.sources[k] = reg;
        code[pending.producer].destination = reg;
        return;
      }
    }
  }

  // ---- dual issue ----

  void pair_up() {
    if (spec_.dual != DualIssue::by_control_code) return;
    auto& code = out_.program.instructions;
    const auto alone = [](Op op) {
      return op == Op::branch || (op >= Op::copy_async && op <= Op::barrier) || op == Op::exit;
    };
    const std::uint32_t dual =
        spec_.control == ControlKind::eight_bit ? spec_.dual_code : encode_control({.stall = 0, .dual = true});
    for (std::size_t i = 0; i + 1 < code.size(); ++i) {
      const Instruction &first = code[i], &second = code[i + 1];
      const bool leads = spec_.dual_slot0_leads || i % static_cast<std::size_t>(spec_.group_instructions) != 0;
      const bool reads = std::ranges::any_of(second.sources, [&](int s) { return s >= 0 && s == first.destination; });
      if (!leads || reads || alone(first.op) || alone(second.op) || (info(first.op).memory && info(second.op).memory))
        continue;
      if (!has_other_unit(second.op, unit_of(first.op))) continue;  // the pair would never find its lanes
      code[i].control = dual;
      ++i;
    }
  }

  [[nodiscard]] int unit_of(Op op) const {
    for (std::size_t u = 0; u < spec_.units.size(); ++u)
      if (std::ranges::find(spec_.units[u].ops, op) != spec_.units[u].ops.end()) return static_cast<int>(u);
    return -1;
  }

  [[nodiscard]] bool has_other_unit(Op op, int than) const {
    if (unit_of(op) < 0) return true;
    for (std::size_t u = 0; u < spec_.units.size(); ++u)
      if (static_cast<int>(u) != than && std::ranges::find(spec_.units[u].ops, op) != spec_.units[u].ops.end())
        return true;
    return false;
  }

  const KernelProfile& p_;
  const Workload& w_;
  const Spec& spec_;
  const HitShares& hits_;
  std::vector<UserRole> roles_;
  std::size_t role_ = 0;
  double weight_ = 1;  // share of the block's warps that the role has
  BlockAsync parallel_;
  int full_ = -1, empty_ = -1;                 // rings of mbarriers
  std::vector<double> per_warp_, iterations_;  // of blocks, of loops
  std::vector<std::size_t> first_access_;
  UserProgram out_;
  Carries carries_;
  std::vector<Pending> pending_;
  std::array<std::int16_t, 3> fillers_{0, 1, 2};
  std::vector<int> next_;  // by bank
  int loop_ = -1, plain_ = -1;
  double share_ = 1;
  std::size_t scope_ = 0;  // where the innermost loop's body begins
};

}  // namespace

UserProgram user_program(const KernelProfile& profile, const Workload& workload, const Spec& spec,
                         const HitShares& hits) {
  return Builder(profile, workload, spec, hits).build();
}

UserProgram with_trips(const UserProgram& program, const std::vector<double>& trips) {
  UserProgram out = program;
  out.instructions = out.outside_instructions;
  for (std::size_t l = 0; l < out.loops.size(); ++l) {
    UserLoop& loop = out.loops[l];
    const double old_entries = program.loops[l].iterations / program.loops[l].trips;
    const double parents = loop.parent < 0 ? 1
                                           : out.loops[static_cast<std::size_t>(loop.parent)].iterations /
                                                 program.loops[static_cast<std::size_t>(loop.parent)].iterations;
    loop.trips = trips.at(l);
    loop.iterations = old_entries * parents * loop.trips;
    Builder::set_trips(out.program.instructions[static_cast<std::size_t>(loop.branch)], loop.trips);
    out.instructions += loop.iterations * loop.instructions;
  }
  return out;
}

}  // namespace kernelcast::sm
