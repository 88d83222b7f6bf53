// Idea: a GPU's warp issues in order and stops at the first instruction whose operands are not there. The longest chain
// of such stops, not the number of instructions, is what few resident warps cannot hide.
//
// ptxas orders each block anew before that (the PTX text is in the order of the source): list scheduling, the
// instruction with the greatest critical-path height first among those that could issue earliest. Memory
// operations of one space stay in order around stores and barriers. Loads are held back while their results would fill
// more registers than ptxas spends on it.
//
// The latencies here are nominal: they decide the order and which latency hides behind which. The device's own numbers
// come in when Stalls are evaluated. Source of the method: list scheduling, Gibbons and Muchnick, SIGPLAN 1986;
// in-order stops, Hong and Kim, ISCA 2009, and Huang et al., GPUMech, MICRO 2014.
//
// An asynchronous copy stops nobody; a wait for its group does, for what is left of the group's time. So a pipeline of
// S stages hides S - 1 of its iterations.
//
// Limits: branches inside are walked as if taken one after the other; no software pipelining; rematerialisation is not
// seen. Paths that ptxas predicates are part of their block already (ptx_predication.h).
#include "machine/schedules.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>
#include <set>

namespace kernelcast::machine {
namespace {

using C = OpClass;

double issued(const OpCounts& ops) { return ops.total(); }

std::size_t index(Latency l) { return static_cast<std::size_t>(l); }

/// Instructions that a sequence such as a division expands to wait for one another.
constexpr double expansion = 5;

struct Result {
  double ready = 0;
  Latency cls = Latency::alu;
  double latency = 0;  // nominal, of the producer
};

/// product: a matrix instruction, which ptxas does not move over a barrier of the block (SASS of nvcc 13 for sm_90a: 64
/// of 64 HMMA stay between their BARs).
enum class Order : std::uint8_t { free, product, load, store, fence };
struct MemoryUse {
  Order order = Order::free;
  bool shared = false;
};

MemoryUse memory_use(const TimedInstruction& t) {
  const OpCounts& n = t.ops;
  if (t.async != Async::none || n[C::barrier] + n[C::fence] + n[C::async_copy] > 0) return {Order::fence, false};
  if (n[C::shared_store] + n[C::shared_atomic] > 0) return {Order::store, true};
  if (n[C::global_store] + n[C::global_atomic] + n[C::local_store] > 0) return {Order::store, false};
  if (n[C::shared_load] > 0) return {Order::load, true};
  if (n[C::global_load] + n[C::local_load] > 0) return {Order::load, false};
  if (n[C::control] > 0) return {Order::fence, false};
  if (n[C::tensor] > 0) return {Order::product, false};
  return {};
}

bool is_barrier(const TimedInstruction& t) { return t.ops[C::barrier] > 0; }

/// The values of a block: each definition of a register makes a new one.
struct Values {
  std::vector<std::vector<std::size_t>> uses, defs;  // of each instruction, each value once
  std::vector<int> weight;
  std::vector<bool> live_out;

  /// Without `renamed` a register is one value from its first definition to its last use.
  Values(const TimedBlock& block, const std::vector<int>& register_weight, const std::vector<bool>& registers_out,
         bool renamed)
      : weight(register_weight), live_out(register_weight.size(), false) {
    std::vector<std::size_t> now(register_weight.size());  // at first what the block begins with
    for (std::size_t r = 0; r < now.size(); ++r) now[r] = r;
    for (const TimedInstruction& t : block.code) {
      std::set<std::size_t> read, made;
      for (const int u : t.uses) read.insert(now[static_cast<std::size_t>(u)]);
      for (const int d : t.defs) {
        const auto r = static_cast<std::size_t>(d);
        if (renamed) {
          if (t.may_skip) read.insert(now[r]);
          now[r] = weight.size();
          weight.push_back(register_weight[r]);
          live_out.push_back(false);
        }
        made.insert(now[r]);
      }
      uses.emplace_back(read.begin(), read.end());
      defs.emplace_back(made.begin(), made.end());
    }
    for (std::size_t r = 0; r < now.size(); ++r)
      if (registers_out[r]) live_out[now[r]] = true;
  }
};

/// Dependences of one block: predecessors by register and by memory order.
class BlockGraph {
 public:
  BlockGraph(const TimedBlock& block, int registers, const Timing& timing) : block_(block), timing_(timing) {
    const std::size_t n = block.code.size();
    successors_.resize(n);
    waiting_for_.assign(n, 0);
    height_.assign(n, 0);
    std::vector<int> writer(static_cast<std::size_t>(registers), -1);
    std::vector<std::vector<int>> readers(static_cast<std::size_t>(registers));
    for (std::size_t i = 0; i < n; ++i) {
      const TimedInstruction& t = block.code[i];
      for (int u : t.uses) {
        add(writer[static_cast<std::size_t>(u)], i);
        readers[static_cast<std::size_t>(u)].push_back(static_cast<int>(i));
      }
      for (int d : t.defs) {
        const auto r = static_cast<std::size_t>(d);
        add(writer[r], i);
        for (int reader : readers[r]) add(reader, i);
        readers[r].clear();
        writer[r] = static_cast<int>(i);
      }
      order_memory(i);
    }
    for (std::size_t i = n; i-- > 0;) {
      for (int f : successors_[i]) height_[i] = std::max(height_[i], height_[static_cast<std::size_t>(f)]);
      height_[i] += latency_of(block.code[i]);
    }
  }

  std::vector<std::size_t> schedule() {
    const std::size_t n = block_.code.size();
    std::vector<std::size_t> order, open;
    std::vector<double> earliest(n, 0), under_way(n, 0);
    double now = 0, in_flight = 0;
    for (std::size_t i = 0; i < n; ++i)
      if (waiting_for_[i] == 0) open.push_back(i);
    while (!open.empty()) {
      std::size_t best = 0;
      for (std::size_t k = 1; k < open.size(); ++k)
        if (better(open[k], open[best], earliest, now, in_flight)) best = k;
      const std::size_t i = open[best];
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(best));
      order.push_back(i);
      const TimedInstruction& t = block_.code[i];
      now = std::max(now, earliest[i]) + issued(t.ops) * timing_.issue_cycles;
      in_flight -= under_way[i];
      const bool load = is_load(t);
      if (load && !successors_[i].empty()) {  // its registers are in flight until the first user has issued
        const double registers = static_cast<double>(t.defs.size());
        in_flight += registers;
        under_way[static_cast<std::size_t>(first_user(i))] += registers;
      }
      const double ready = now + latency_of(t) - issued(t.ops) * timing_.issue_cycles;
      for (int f : successors_[i]) {
        const auto j = static_cast<std::size_t>(f);
        if (uses_result(i, j)) earliest[j] = std::max(earliest[j], ready);
        if (--waiting_for_[j] == 0) open.push_back(j);
      }
    }
    return order;
  }

  /// See narrow_order().
  std::vector<std::size_t> narrow(const Values& values) {
    std::vector<int> users(values.weight.size(), 0);
    for (const auto& uses : values.uses)
      for (const std::size_t v : uses) ++users[v];
    const auto growth = [&](std::size_t i) {
      int change = 0;
      for (const std::size_t v : values.defs[i]) change += values.weight[v];
      for (const std::size_t v : values.uses[i])
        if (!values.live_out[v] && users[v] == 1) change -= values.weight[v];
      return change;
    };
    // A value that all of its users can take at once is alive for a moment only: a load of this kind is no growth.
    const auto lasting = [&](std::size_t i) {
      const int g = growth(i);
      if (g <= 0) return 2 * g;
      for (const int f : successors_[i])
        if (waiting_for_[static_cast<std::size_t>(f)] > 1 && uses_result(i, static_cast<std::size_t>(f))) return 2 * g;
      return values.live_out[values.defs[i].empty() ? 0 : values.defs[i].front()] ? 2 * g : 1;
    };
    std::vector<std::size_t> order;
    std::set<std::size_t> open, loads;  // in the order of the text
    const auto add = [&](std::size_t i) { (is_load(block_.code[i]) ? loads : open).insert(i); };
    for (std::size_t i = 0; i < block_.code.size(); ++i)
      if (waiting_for_[i] == 0) add(i);
    while (!open.empty() || !loads.empty()) {
      std::size_t best = block_.code.size();
      int least = std::numeric_limits<int>::max();
      const auto look = [&](const std::set<std::size_t>& candidates, std::size_t most, int good_enough) {
        for (const std::size_t i : candidates) {
          if (most-- == 0 || least <= good_enough) break;
          if (const int g = lasting(i); g < least) {
            least = g;
            best = i;
          }
        }
      };
      look(open, most_candidates, -1);
      if (least > 0) look(loads, most_loads, 1);
      if (!open.erase(best)) loads.erase(best);
      order.push_back(best);
      for (const std::size_t v : values.uses[best]) --users[v];
      for (int f : successors_[best])
        if (--waiting_for_[static_cast<std::size_t>(f)] == 0) add(static_cast<std::size_t>(f));
    }
    return order;
  }

  /// The order of the text, where what keeps more values alive than it ends waits until somebody needs it: fragments of
  /// a matrix product are loaded right before the first product that reads them.
  [[nodiscard]] std::vector<std::size_t> on_demand(const Values& values) const {
    const std::size_t n = block_.code.size();
    std::vector<std::vector<std::size_t>> needs(n);
    for (std::size_t i = 0; i < n; ++i)
      for (const int f : successors_[i]) needs[static_cast<std::size_t>(f)].push_back(i);
    std::vector<std::size_t> last_reader(values.weight.size(), n);
    for (std::size_t i = 0; i < n; ++i)
      for (const std::size_t v : values.uses[i]) last_reader[v] = i;
    const auto grows = [&](std::size_t i) {
      int change = 0;
      for (const std::size_t v : values.defs[i]) change += values.weight[v];
      for (const std::size_t v : values.uses[i])
        if (last_reader[v] == i && !values.live_out[v]) change -= values.weight[v];
      return change > 0;
    };
    std::vector<std::size_t> order;
    std::vector<char> placed(n, 0);
    std::vector<std::pair<std::size_t, std::size_t>> open;  // instruction and the next of what it needs
    for (std::size_t root = 0; root < n; ++root) {
      if (!successors_[root].empty() && grows(root)) continue;
      if (!placed[root]) open.emplace_back(root, 0);
      while (!open.empty()) {
        auto& [i, next] = open.back();
        if (next < needs[i].size()) {
          const std::size_t before = needs[i][next++];
          if (!placed[before]) open.emplace_back(before, 0);
          continue;
        }
        if (!placed[i]) order.push_back(i);
        placed[i] = 1;
        open.pop_back();
      }
    }
    return order;
  }

 private:
  static constexpr std::size_t most_candidates = 256, most_loads = 4096;

  void add(int from, std::size_t to) {
    if (from < 0 || from == static_cast<int>(to)) return;
    auto& f = successors_[static_cast<std::size_t>(from)];
    if (!f.empty() && f.back() == static_cast<int>(to)) return;
    f.push_back(static_cast<int>(to));
    ++waiting_for_[to];
  }

  void order_memory(std::size_t i) {
    const MemoryUse m = memory_use(block_.code[i]);
    if (m.order == Order::free) return;
    if (m.order == Order::product) {
      add(last_barrier_, i);
      products_.push_back(static_cast<int>(i));
      return;
    }
    if (is_barrier(block_.code[i])) {
      for (const int p : products_) add(p, i);
      products_.clear();
      last_barrier_ = static_cast<int>(i);
    }
    const int space = m.shared ? 1 : 0;
    if (m.order == Order::fence) {
      for (int s = 0; s < 2; ++s) {
        add(last_store_[s], i);
        for (int l : loads_[s]) add(l, i);
        loads_[s].clear();
        last_store_[s] = static_cast<int>(i);
      }
      add(last_fence_, i);
      last_fence_ = static_cast<int>(i);
    } else if (m.order == Order::store) {
      add(last_store_[space], i);
      for (int l : loads_[space]) add(l, i);
      loads_[space].clear();
      last_store_[space] = static_cast<int>(i);
      add(last_fence_, i);
    } else {
      add(last_store_[space], i);
      add(last_fence_, i);
      loads_[space].push_back(static_cast<int>(i));
    }
  }

  [[nodiscard]] double latency_of(const TimedInstruction& t) const {
    if (issued(t.ops) == 0) return 0;
    return timing_.latency[index(latency_class(t.ops))] + (issued(t.ops) - 1) * timing_.latency[0];
  }
  static bool is_load(const TimedInstruction& t) {
    return t.ops[C::global_load] + t.ops[C::shared_load] + t.ops[C::local_load] > 0;
  }
  [[nodiscard]] bool uses_result(std::size_t i, std::size_t j) const {
    for (int d : block_.code[i].defs)
      for (int u : block_.code[j].uses)
        if (d == u) return true;
    return false;
  }
  [[nodiscard]] int first_user(std::size_t i) const {
    for (int f : successors_[i])
      if (uses_result(i, static_cast<std::size_t>(f))) return f;
    return successors_[i].front();
  }
  /// Earlier start first, then the greater height, then the order of the text.
  [[nodiscard]] bool better(std::size_t a, std::size_t b, const std::vector<double>& earliest, double now,
                            double in_flight) const {
    const bool full = in_flight >= timing_.registers_in_flight;
    const bool held_a = full && is_load(block_.code[a]), held_b = full && is_load(block_.code[b]);
    const double start_a = std::max(now, earliest[a]), start_b = std::max(now, earliest[b]);
    if (held_a != held_b) return held_b;
    if (start_a != start_b) return start_a < start_b;
    if (height_[a] != height_[b]) return height_[a] > height_[b];
    return a < b;
  }

  const TimedBlock& block_;
  const Timing& timing_;
  std::vector<std::vector<int>> successors_;
  std::vector<int> waiting_for_;
  std::vector<double> height_;  // critical-path height: longest path to the end of the block, cycles
  int last_store_[2] = {-1, -1}, last_fence_ = -1, last_barrier_ = -1;
  std::vector<int> loads_[2], products_;
};

/// Pieces of code between barriers, those that follow one another without a barrier as one.
class PhaseIds {
 public:
  explicit PhaseIds(const std::vector<TimedBlock>& blocks) {
    for (const TimedBlock& b : blocks) {
      first_.push_back(pieces_);
      pieces_ += 1 + static_cast<std::size_t>(std::count_if(b.code.begin(), b.code.end(), is_barrier));
    }
    first_.push_back(pieces_);
    std::vector<std::size_t> joined(pieces_);
    std::iota(joined.begin(), joined.end(), std::size_t{0});
    const auto root = [&](std::size_t p) {
      while (joined[p] != p) p = joined[p] = joined[joined[p]];
      return p;
    };
    for (std::size_t b = 0; b < blocks.size(); ++b)
      for (const int s : blocks[b].successors)
        joined[root(first_[b + 1] - 1)] = root(first_[static_cast<std::size_t>(s)]);
    std::vector<int> id_of_root(pieces_, -1);
    for (std::size_t p = 0; p < pieces_; ++p) {
      int& id = id_of_root[root(p)];
      if (id < 0) id = count_++;
      ids_.push_back(id);
    }
  }
  /// Of the piece behind so many barriers of the block.
  [[nodiscard]] int of(std::size_t block, std::size_t barriers) const { return ids_[first_[block] + barriers]; }
  [[nodiscard]] bool part_the_code() const { return count_ > 1 && count_ <= most; }

 private:
  static constexpr int most = 16;  // more cost time and tell little
  std::size_t pieces_ = 0;
  std::vector<std::size_t> first_;  // piece of each block
  std::vector<int> ids_;
  int count_ = 0;
};

double arithmetic_of(const OpCounts& ops) {
  double n = 0;
  for (std::size_t k = 0; k < op_class_count; ++k) {
    const auto c = static_cast<OpClass>(k);
    const bool other = is_memory(c) || c == C::dual_issued || c == C::tensor || c == C::barrier || c == C::fence ||
                       c == C::control || c == C::shuffle || c == C::async_copy;
    if (!other) n += ops.n[k];
  }
  return n;
}

void add_instruction(const OpCounts& n, BarrierPhase& p) {
  p.instructions += issued(n);
  p.branches += n[C::control];
  p.barriers += n[C::barrier];
  p.arithmetic += arithmetic_of(n);
  p.products += n[C::tensor];
  p.shared += n[C::shared_load] + n[C::shared_store] + n[C::shared_atomic] + n[C::shuffle] + n[C::async_copy];
  p.global += n[C::global_load] + n[C::global_store] + n[C::global_atomic] + n[C::texture_load] + n[C::local_load] +
              n[C::local_store] + n[C::async_copy];
}

class InOrderWalk {
 public:
  InOrderWalk(const std::vector<TimedBlock>& blocks, int registers, const Timing& timing)
      : blocks_(blocks),
        timing_(timing),
        ids_(blocks),
        edges_(blocks.size()),
        state_(static_cast<std::size_t>(registers)),
        found_{std::vector<Stalls>(blocks.size()), std::vector<std::vector<BarrierPhase>>(blocks.size()),
               std::vector<std::vector<AsyncEvent>>(blocks.size())} {
    for (const TimedBlock& b : blocks) {
      std::vector<std::size_t> order(b.code.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      if (timing.reschedule && order.size() <= most_instructions) order = BlockGraph(b, registers, timing).schedule();
      orders_.push_back(std::move(order));
    }
  }

  Walk run() {
    walk(0, blocks_.size(), 0);
    return std::move(found_);
  }

 private:
  static constexpr std::size_t most_instructions = 4000;
  static constexpr int deepest = 4;

  /// Blocks first .. end - 1; a loop that ends inside is walked once more from its head.
  void walk(std::size_t first, std::size_t end, int depth) {
    for (std::size_t b = first; b < end; ++b) {
      enter(b);
      block(b);
      leave(b);
      if (depth >= deepest) continue;
      for (int s : blocks_[b].successors) {
        const auto head = static_cast<std::size_t>(s);
        if (head > b || head < first || (head == first && b + 1 == end && depth > 0)) continue;
        walk(head, b + 1, depth + 1);
      }
    }
  }

  /// What is still under way where a block begins: on any way there, of each register what comes back last. A way that
  /// a branch skips may be one that is hardly ever taken, as at the edge of a matrix; that it would have waited tells
  /// nothing of the others.
  void enter(std::size_t b) {
    std::vector<Edge>& edges = edges_[b];
    if (edges.empty()) return;
    const bool follows = b == 0 || std::ranges::count(blocks_[b - 1].successors, static_cast<int>(b)) > 0;
    if (!follows) {
      for (Result& r : state_) r.ready = std::min(r.ready, now_);
      stopped_.fill(now_);
    }
    for (const Edge& e : edges) {
      for (const auto& [place, left] : e.under_way) {
        Result& r = state_[place];
        if (now_ + left.ready > r.ready) r = {now_ + left.ready, left.cls, left.latency};
      }
      for (std::size_t c = 0; c < latency_count; ++c) stopped_[c] = std::min(stopped_[c], now_ + e.stopped[c]);
    }
    edges.clear();
  }

  void leave(std::size_t b) {
    for (const int s : blocks_[b].successors) {
      const auto next = static_cast<std::size_t>(s);
      if (next <= b + 1) continue;
      Edge e;
      for (std::size_t r = 0; r < state_.size(); ++r)
        if (state_[r].ready > now_)
          e.under_way.push_back({r, {state_[r].ready - now_, state_[r].cls, state_[r].latency}});
      for (std::size_t c = 0; c < latency_count; ++c) e.stopped[c] = stopped_[c] - now_;
      edges_[next].push_back(std::move(e));
    }
  }

  void block(std::size_t b) {
    Stalls s, before;
    BarrierPhase piece{.id = ids_.of(b, 0)};
    std::size_t barriers = 0;
    found_.phases[b].clear();
    found_.events[b].clear();
    double slots = 0;
    for (std::size_t i : orders_[b]) {
      const TimedInstruction& t = blocks_[b].code[i];
      instruction(t, s);
      add_instruction(t.ops, piece);
      if (t.event != AsyncEvent::Kind::none)
        add_events(found_.events[b], {{t.event, t.open_groups, 1, slots, slots}}, 0);
      slots += issued(t.ops);
      if (!is_barrier(t)) continue;
      end_piece(b, piece, before, s);
      piece = {.id = ids_.of(b, ++barriers)};
      before = s;
    }
    end_piece(b, piece, before, s);
    found_.stalls[b] = s;
  }

  /// `before`, `after`: the block's stalls where the piece begins and ends.
  void end_piece(std::size_t b, BarrierPhase piece, const Stalls& before, const Stalls& after) {
    if (!ids_.part_the_code() || piece.instructions <= 0) return;
    for (std::size_t c = 0; c < latency_count; ++c) {
      piece.waits[c] = after.waits[c] - before.waits[c];
      piece.hidden[c] = after.hidden[c] - before.hidden[c];
    }
    add_phases(found_.phases[b], {piece}, 1);
  }

  void instruction(const TimedInstruction& t, Stalls& s) {
    Result latest;
    for (int u : t.uses)
      if (const Result& r = state_[static_cast<std::size_t>(u)]; r.ready > latest.ready) latest = r;
    const double n = issued(t.ops);
    if (n == 0) {
      for (int d : t.defs) state_[static_cast<std::size_t>(d)] = latest;
      return;
    }
    if (latest.ready > now_) {
      // What was under way already when the warp stopped last for its kind comes back as much later as it was issued
      // later, however long the latency: only the first of such loads waits for it.
      const std::size_t c = index(latest.cls);
      const bool together = latest.ready - latest.latency < stopped_[c];
      s.waits[c] += together ? 0 : 1;
      s.hidden[c] += ((together ? 0 : latest.latency) - (latest.ready - now_)) / timing_.issue_cycles;
      if (!together) stopped_[c] = now_;
      now_ = latest.ready;
    }
    s.loads += t.ops[C::global_load] + t.ops[C::texture_load];
    s.fills += t.fills;
    s.products += t.products;
    s.cluster_barriers += t.cluster_barriers;
    asynchronous(t, s);
    const Latency cls = latency_class(t.ops);
    if (t.ops[C::control] > 0) {  // the next instruction is fetched when the branch is decided
      s.waits[index(Latency::alu)] += 1;
      now_ += timing_.latency[index(Latency::alu)];
    }
    if (n >= expansion) expand(t.ops, s);
    now_ += n * timing_.issue_cycles;
    const double latency = timing_.latency[index(cls)];
    for (int d : t.defs) state_[static_cast<std::size_t>(d)] = {now_ - timing_.issue_cycles + latency, cls, latency};
  }

  void asynchronous(const TimedInstruction& t, Stalls& s) {
    switch (t.async) {
      case Async::none:
        return;
      case Async::copy:
        open_.copies += 1;
        open_.last = now_;
        return;
      case Async::commit:
        groups_.push_back(open_);
        open_ = {};
        return;
      case Async::stop:
        s.waits[index(t.stops_for)] += 1;
        now_ += timing_.latency[index(t.stops_for)];
        return;
      case Async::wait:
        break;
    }
    if (t.open_groups < 0) {  // wait_all
      groups_.push_back(open_);
      open_ = {};
    }
    const double latency = timing_.latency[index(Latency::global)];
    CopyGroup done;
    while (groups_.size() > static_cast<std::size_t>(std::max(0, t.open_groups))) {
      done.copies += groups_.front().copies;
      if (groups_.front().copies > 0) done.last = groups_.front().last;
      groups_.pop_front();
    }
    if (done.copies == 0) return;
    s.loads += done.copies;
    const double left = done.last + latency - now_;
    s.waits[index(Latency::global)] += 1;
    s.hidden[index(Latency::global)] += (latency - std::max(0.0, left)) / timing_.issue_cycles;
    now_ += std::max(0.0, left);
  }

  /// Each instruction of the sequence waits for the one before it.
  void expand(const OpCounts& ops, Stalls& s) {
    for (std::size_t k = 0; k < op_class_count; ++k) {
      if (ops.n[k] == 0 || is_memory(static_cast<OpClass>(k)) || static_cast<OpClass>(k) == C::dual_issued) continue;
      OpCounts one;
      one.n[k] = 1;
      const std::size_t c = index(latency_class(one));
      const double chained = ops.n[k] * chained_share;
      s.waits[c] += chained;
      s.hidden[c] += chained;
      now_ += chained * std::max(0.0, timing_.latency[c] - timing_.issue_cycles);
    }
  }
  static constexpr double chained_share = 0.7;  // of the instructions of an expansion; SASS of div.rn.f32: 7 of 10

  const std::vector<TimedBlock>& blocks_;
  const Timing& timing_;
  std::vector<std::vector<std::size_t>> orders_;
  PhaseIds ids_;
  /// A way to a block further on: what is under way on it, in cycles from now on.
  struct Edge {
    std::vector<std::pair<std::size_t, Result>> under_way;
    std::array<double, latency_count> stopped{};
  };
  std::vector<std::vector<Edge>> edges_;
  std::vector<Result> state_;
  Walk found_;
  double now_ = 0;
  std::array<double, latency_count> stopped_{};  // when it stopped last to wait for a whole latency
  struct CopyGroup {
    double copies = 0, last = 0;  // when the last one was issued
  };
  CopyGroup open_;
  std::deque<CopyGroup> groups_;  // under way, the oldest first
};

}  // namespace

Latency latency_class(const OpCounts& n) {
  if (n[C::global_load] + n[C::global_atomic] + n[C::texture_load] > 0) return Latency::global;
  if (n[C::local_load] > 0) return Latency::local;
  if (n[C::shared_load] + n[C::shared_atomic] + n[C::shuffle] > 0) return Latency::shared;
  if (n[C::constant_load] + n[C::scalar_load] > 0) return Latency::constant;
  if (n[C::tensor] > 0) return Latency::tensor;
  if (n[C::fp64_add] + n[C::fp64_mul] + n[C::fp64_fma] + n[C::fp64_div] + n[C::fp64_special] + n[C::fp64_compare] +
          n[C::convert64] >
      0)
    return Latency::fp64;
  if (n[C::fp32_special] + n[C::fp32_div] + n[C::convert] + n[C::bit_special] + n[C::special_register] > 0)
    return Latency::special;
  return Latency::alu;
}

namespace {

int pressure_of(const TimedBlock& block, const std::vector<std::size_t>& order, const std::vector<int>& weight,
                const std::vector<bool>& live_out) {
  FlowGraph one{std::vector<FlowBlock>(1), weight};
  for (const std::size_t i : order) one.blocks[0].code.push_back(block.code[i]);
  LiveSets live{std::vector<std::uint64_t>((weight.size() + 63) / 64)};
  for (std::size_t r = 0; r < live_out.size(); ++r)
    if (live_out[r]) live[0][r / 64] |= std::uint64_t{1} << (r % 64);
  return max_pressure(one, live, 0);
}

}  // namespace

std::vector<std::size_t> narrow_order(const TimedBlock& block, const std::vector<int>& weight,
                                      const std::vector<bool>& live_out, int most) {
  const Timing timing;
  BlockGraph graph(block, static_cast<int>(weight.size()), timing);
  std::vector<std::size_t> order = BlockGraph(graph).narrow(Values(block, weight, live_out, false));
  int needed = pressure_of(block, order, weight, live_out);
  if (needed <= most) return order;
  const Values values(block, weight, live_out, true);
  const auto consider = [&](std::vector<std::size_t> other) {
    const int pressure = pressure_of(block, other, weight, live_out);
    if (pressure >= needed) return;
    needed = pressure;
    order = std::move(other);
  };
  consider(graph.on_demand(values));
  consider(graph.narrow(values));
  return order;
}

Walk walk(const std::vector<TimedBlock>& blocks, int registers, const Timing& timing) {
  return InOrderWalk(blocks, registers, timing).run();
}

std::vector<Stalls> find_stalls(const std::vector<TimedBlock>& blocks, int registers, const Timing& timing) {
  return walk(blocks, registers, timing).stalls;
}

}  // namespace kernelcast::machine
