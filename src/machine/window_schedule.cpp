// Dispatch in order at the core's width into a window; an instruction starts when its operands are there and its ports
// are free, oldest first; it leaves the window in order. That is the machine of
// llvm-mca, plus the forwarding of stores, which code without optimisation and accumulators in memory live on. Branches
// are predicted; caches hit.
//
// Values get numbers (hashes of what computes them), and an address is the hash of its parts: two addresses are the
// same when they are computed alike from the same values.
//
// A loop that waits for a chain of its own leaves room: the window holds the next passage of an outer loop while the
// chain of the last one runs.
#include "machine/schedules.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <queue>
#include <unordered_map>

namespace kernelcast::machine {
namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a ^= b + 0x9e3779b97f4a7c15ULL + (a << 6U) + (a >> 2U);
  a *= 0xbf58476d1ce4e5b9ULL;
  return a ^ (a >> 29U);
}

struct Stored {
  std::uint64_t value = 0;
  double ready = 0;
};

class WindowedCore {
 public:
  explicit WindowedCore(const Core& core)
      : core_(core),
        ready_(static_cast<std::size_t>(core.registers), 0),
        value_(static_cast<std::size_t>(core.registers)),
        taken_(static_cast<std::size_t>(core.ports)),
        leaves_(static_cast<std::size_t>(std::max(core.window, 64)), 0),
        waiting_(core.queues.size()) {
    for (std::size_t r = 0; r < value_.size(); ++r) value_[r] = mix(0x51ed, r + 1);
  }

  void run(const CoreInstruction& in) {
    double start = dispatch(in);
    for (const CoreInstruction::Read& r : in.reads)
      start = std::max(start, ready_[static_cast<std::size_t>(r.reg)] - r.ahead);
    std::uint64_t value = in.text;
    for (const CoreInstruction::Read& r : in.reads) value = mix(value, value_[static_cast<std::size_t>(r.reg)]);
    std::uint64_t address = 0;
    double forwarded = 0;
    if (in.loads || in.stores) {
      address = address_of(in);
      const auto known = memory_.find(address);
      if (in.loads) {
        value = mix(value, known != memory_.end() ? known->second.value : mix(0xdead, address));
        if (known != memory_.end()) forwarded = known->second.ready;
      }
    }
    // The load part of the instruction waits for the store; its own latency is part of `latency`.
    start = std::max(start, forwarded);
    start = take_ports(in, start);
    for (const CoreInstruction::Entry& e : in.queued)
      for (int n = 0; n < e.entries; ++n) waiting_[static_cast<std::size_t>(e.queue)].push(start);
    const double done = start + in.latency;
    for (const int w : in.writes) {
      ready_[static_cast<std::size_t>(w)] = done;
      value_[static_cast<std::size_t>(w)] = mix(value, static_cast<std::uint64_t>(w) + 7);
    }
    // What is stored can be forwarded a cycle after the store has it; its latency in the model is that of the cache. An
    // instruction that loads, computes and stores has its result when its own latency is over.
    if (in.stores) memory_[address] = {value, in.loads ? done : start + 1};
    retire(in, done);
  }

  [[nodiscard]] double now() const { return last_retired_; }

  /// Other values from here on, which wait for nothing: the loop is entered again.
  void enter_again() {
    std::fill(ready_.begin(), ready_.end(), 0);
    for (std::uint64_t& v : value_) v = mix(v, 0x7ea);
    memory_.clear();
  }

 private:
  std::uint64_t address_of(const CoreInstruction& in) const {
    std::uint64_t a = in.address_text;
    a = mix(a, in.base >= 0 ? value_[static_cast<std::size_t>(in.base)] : 1);
    return mix(a, in.index >= 0 ? value_[static_cast<std::size_t>(in.index)] : 2);
  }

  /// The cycle in which the last of the micro-operations enters the window: each waits for the one that is a whole
  /// window older to leave, and all for entries in the queues.
  double dispatch(const CoreInstruction& in) {
    for (const CoreInstruction::Entry& e : in.queued) wait_for_entries(e);
    for (int u = 0; u < std::max(1, in.uops); ++u, ++entered_) {
      wait_until(leaves_[entered_ % leaves_.size()]);
      if (dispatched_ == core_.width) {
        cycle_ += 1;
        dispatched_ = 0;
      }
      ++dispatched_;
    }
    return cycle_;
  }

  void wait_for_entries(const CoreInstruction::Entry& e) {
    auto& waiting = waiting_[static_cast<std::size_t>(e.queue)];
    const auto size = static_cast<std::size_t>(core_.queues[static_cast<std::size_t>(e.queue)]);
    while (!waiting.empty() && waiting.top() <= cycle_) waiting.pop();
    while (!waiting.empty() && waiting.size() + static_cast<std::size_t>(e.entries) > size) {
      wait_until(waiting.top());
      waiting.pop();
    }
  }

  void wait_until(double cycle) {
    if (cycle <= cycle_) return;
    cycle_ = cycle;
    dispatched_ = 0;
  }

  void retire(const CoreInstruction& in, double done) {
    last_retired_ = std::max(last_retired_, done);
    for (int u = 0; u < std::max(1, in.uops); ++u) leaves_[left_++ % leaves_.size()] = last_retired_;
  }

  /// First cycle from `from` on in which port p is free for so long.
  std::size_t free_from(std::size_t p, std::size_t from, int cycles) {
    std::vector<bool>& taken = taken_[p];
    std::size_t run = 0, c = from;
    for (; run < static_cast<std::size_t>(cycles); ++c) run = c < taken.size() && taken[c] ? 0 : run + 1;
    return c - run;
  }

  /// An instruction starts when the last of its micro-operations finds a port. Of ports that are free at once a set
  /// uses the one after its last, as llvm-mca does (DefaultResourceStrategy): a core does not know which of them other
  /// instructions will need, so that additions hold up multiplications that have one port.
  double take_ports(const CoreInstruction& in, double start) {
    double begin = start;
    for (const CoreInstruction::Use& use : in.uses) {
      std::size_t& last = last_[use.ports];
      std::size_t best = 0, at = 0;
      bool found = false;
      for (std::size_t k = 1; k <= taken_.size(); ++k) {
        const std::size_t p = (last + k) % taken_.size();
        if ((use.ports >> p & 1U) == 0) continue;
        const std::size_t c = free_from(p, static_cast<std::size_t>(start), use.cycles);
        if (found && c >= at) continue;
        found = true;
        best = p;
        at = c;
      }
      if (!found) continue;
      last = best;
      const std::size_t end = at + static_cast<std::size_t>(use.cycles);
      if (taken_[best].size() < end) taken_[best].resize(end + 64, false);
      for (std::size_t c = at; c < end; ++c) taken_[best][c] = true;
      begin = std::max(begin, static_cast<double>(at));
    }
    return begin;
  }

  const Core& core_;
  std::vector<double> ready_;
  std::vector<std::uint64_t> value_;
  std::vector<std::vector<bool>> taken_;                 // of each port, by cycle
  std::unordered_map<std::uint64_t, std::size_t> last_;  // port that a set of ports used last
  std::unordered_map<std::uint64_t, Stored> memory_;
  std::vector<double> leaves_;  // when the micro-operations of the last window leave it, by number
  std::size_t entered_ = 0, left_ = 0;
  /// When what waits in each queue starts.
  std::vector<std::priority_queue<double, std::vector<double>, std::greater<>>> waiting_;
  double cycle_ = 0, last_retired_ = 0;
  int dispatched_ = 0;
};

/// Ports alone: the fewest cycles in which work for sets of ports can be done is, over all unions of sets, the work
/// that only they can do divided by their number (the transversal bound; Abel and Reineke, uops.info, ASPLOS 2019).
double port_bound(const std::vector<CoreInstruction>& body) {
  std::vector<CoreInstruction::Use> work;
  for (const CoreInstruction& in : body)
    for (const CoreInstruction::Use& u : in.uses) {
      const auto at = std::find_if(work.begin(), work.end(), [&](const auto& w) { return w.ports == u.ports; });
      if (at == work.end())
        work.push_back(u);
      else
        at->cycles += u.cycles;
    }
  std::vector<std::uint64_t> unions;
  for (const auto& w : work) {
    const std::size_t n = unions.size();
    unions.push_back(w.ports);
    for (std::size_t i = 0; i < n && unions.size() < 4096; ++i) unions.push_back(unions[i] | w.ports);
    std::sort(unions.begin(), unions.end());
    unions.erase(std::unique(unions.begin(), unions.end()), unions.end());
  }
  double bound = 0;
  for (const std::uint64_t set : unions) {
    double cycles = 0;
    for (const auto& w : work)
      if ((w.ports & ~set) == 0) cycles += w.cycles;
    bound = std::max(bound, cycles / std::popcount(set));
  }
  return bound;
}

/// Passages of so many iterations, one after the other, against as many iterations of one passage.
double overlap_of(const std::vector<CoreInstruction>& body, const Core& core, const LoopCycles& steady) {
  constexpr int passages = 6;
  const auto iterations = static_cast<int>(std::ceil(3 * core.window / std::max(1.0, steady.uops)));
  WindowedCore machine(core);
  double begin = 0;
  for (int p = 0; p < passages; ++p) {
    if (p == passages / 2) begin = machine.now();
    if (p > 0) machine.enter_again();
    for (int i = 0; i < iterations; ++i)
      for (const CoreInstruction& in : body) machine.run(in);
  }
  const double passage = (machine.now() - begin) / (passages - passages / 2);
  return std::max(0.0, iterations * steady.cycles - passage);
}

}  // namespace

LoopCycles schedule_loop(const std::vector<CoreInstruction>& body, const Core& core) {
  LoopCycles result;
  if (body.empty()) return result;
  for (const CoreInstruction& in : body) result.uops += in.uops;
  result.width_cycles = std::max(result.uops / core.width, port_bound(body));
  constexpr std::size_t most_instructions = 20000, fewest = 16, most = 400;
  const std::size_t rounds = std::clamp(most_instructions / body.size(), fewest, most);
  const std::size_t warm = rounds / 2;
  WindowedCore machine(core);
  double half = 0;
  for (std::size_t n = 0; n < rounds; ++n) {
    if (n == warm) half = machine.now();
    for (const CoreInstruction& in : body) machine.run(in);
  }
  result.cycles = std::max(result.width_cycles, (machine.now() - half) / static_cast<double>(rounds - warm));
  if (result.cycles > 1.05 * result.width_cycles) result.overlap = overlap_of(body, core, result);
  return result;
}

}  // namespace kernelcast::machine
