// ptxas allocates registers after rescheduling, so PTX's virtual registers say little. What it does, seen from outside:
//   - it moves loads up to hide their latency, as long as registers are plenty: the pressure with every load as early
//     as possible ("loads first") is what it then needs;
//   - "plenty" is the number that lets a multiprocessor keep all its threads, T = registers / threads (32 on most, 40
//     on sm_86, 64 on sm_75, where 48 describes it better);
//   - above T it needs the pressure in program order, or in the order that keeps fewest values alive where that is less
//     (narrow_order), and moves loads up within what the next step leaves, where an SM holds 48, 40, 32, 24, 16, 12 or
//     8 warps;
//   - a kernel that needs little more than a step is squeezed into it;
//   - above T it does not keep over a loop that does not read it what integer arithmetic makes of parameters, constants
//     and the thread's own numbers, but computes it again behind the loop, where that leaves at most 168 registers (12
//     warps, three of each scheduler) or where it would spill otherwise;
//   - it unrolls counted loops of one block by four, whose loads then come first as well;
//   - where the order of the text needs more than there are and another one does not, it finds that one, or spills:
//     which of both follows nothing that we know of (docs/lab/registers.md, "Another order").
// On top come registers that PTX does not show: the stack pointer, a constant such as an element size, halves of 64-bit
// pairs. So  want = loads_first + 7;  estimate = want if want <= T, T if in_order <= T;  else need = in_order + 6, the
// step below where that is at most 6 less, else need + 0.75 (min(want, step above) - need). The four numbers were
// chosen on public kernels (tools/measure/compare_registers.py); docs/lab/registers.md has the errors, also on kernels
// that had no part in the choice. Sources of T: CUDA C++ Programming Guide, table "Technical Specifications per Compute
// Capability".
#include "frontend/code/nvidia/ptx_registers.h"

#include "frontend/code/nvidia/ptx_spills.h"
#include "frontend/code/nvidia/ptx_text.h"
#include "frontend/code/stalls.h"
#include "machine/nvidia_targets.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace kernelcast::frontend {
namespace {

// Beside values where these are many; beside loads that move up, on targets whose code was compared (older: six, too).
constexpr double hidden_registers = 6, hidden_beside_loads = 7;
// 65,536 registers / (32 lanes x 48, 40, 32, 24, 16, 12, 8 warps).
constexpr double steps[] = {40, 48, 64, 80, 128, 168, 255};
constexpr double squeeze = 6;            // registers above a step that are squeezed into it
constexpr double loads_moved_up = 0.75;  // of the way to a step
// 5th and 95th percentile of the error up to T; of the ratio beyond.
constexpr double below = 8, above = 11;
constexpr double share_below = 0.67, share_above = 1.4;

double full_occupancy_registers(int sm) { return machine::nvidia_target(sm).full_occupancy_registers; }

// What the instruction set can name, and what __launch_bounds__ leaves: warps of a block share the registers, in
// units of 8 a thread.
double register_cap(int sm, std::int64_t threads) {
  const machine::NvidiaTarget& target = machine::nvidia_target(sm);
  const double architecture = target.registers_per_thread;
  if (threads <= 0) return architecture;
  const double warps = std::ceil(static_cast<double>(threads) / 32);
  return std::min(architecture, std::max(16.0, std::floor(target.registers_per_unit / (warps * 32) / 8) * 8));
}

// Nothing moves across these: ptxas must assume that stores and loads meet.
bool is_fence(const AsmInstruction& i) {
  for (std::string_view f :
       {"st.", "red", "atom", "bar", "membar", "fence", "bra", "brx", "ret", "exit", "call", "cp."})
    if (i.opcode.starts_with(f)) return true;
  return false;
}

bool is_load(const AsmInstruction& i) {
  return (i.opcode.starts_with("ld.") && !i.opcode.starts_with("ld.param")) || i.opcode.starts_with("tex");
}

// Order of block `code` (instructions[first, first + n)): between fences, loads and what their addresses need come
// first.
std::vector<std::size_t> loads_first_order(const AsmInstruction* code, const std::vector<FlowInstruction>& flow) {
  std::vector<std::size_t> order;
  const std::size_t n = flow.size();
  std::vector<char> early(n, 0);
  for (std::size_t begin = 0; begin < n;) {
    std::size_t end = begin;
    while (end < n && !is_fence(code[end])) ++end;
    for (std::size_t i = end; i-- > begin;) {
      bool needed = is_load(code[i]);
      for (std::size_t j = i + 1; j < end && !needed; ++j)
        if (early[j])
          for (int u : flow[j].uses)
            needed |= std::find(flow[i].defs.begin(), flow[i].defs.end(), u) != flow[i].defs.end();
      early[i] = needed;
    }
    for (std::size_t i = begin; i < end; ++i)
      if (early[i]) order.push_back(i);
    for (std::size_t i = begin; i < end; ++i)
      if (!early[i]) order.push_back(i);
    if (end < n) order.push_back(end);
    begin = end + 1;
  }
  return order;
}

// ptxas unrolls loops of one block that a counter ends; it then moves the loads of four passages up.
constexpr int passages_unrolled = 4;

bool defines(const AsmInstruction& i, std::string_view value) {
  const auto writes = ptx_accesses(i).writes;
  return std::find(writes.begin(), writes.end(), value) != writes.end();
}

// Whether block `code` (of n instructions) is a loop that ends with "count += constant; if (count != value) repeat".
bool is_counted_loop(const AsmInstruction* code, std::size_t n, const AsmBlock& block) {
  if (n < 3 || block.label.empty() || block.unrolled) return false;
  const AsmInstruction& back = code[n - 1];
  if (!back.opcode.starts_with("bra") || back.guard.empty() || back.operands.empty() || back.operands[0] != block.label)
    return false;
  const std::string_view predicate = back.guard.substr(back.guard.starts_with("!") ? 1 : 0);
  for (std::size_t i = n - 1; i-- > 0;) {
    if (!defines(code[i], predicate)) continue;
    if (!code[i].opcode.starts_with("setp.") || code[i].operands.size() < 3) return false;
    for (std::size_t k = 0; k < i; ++k)
      if (code[k].opcode.starts_with("add.") && code[k].operands.size() == 3 &&
          (code[k].operands[0] == code[i].operands[1] || code[k].operands[0] == code[i].operands[2]) &&
          code[k].operands[1] == code[k].operands[0] && code[k].operands[2].find('%') == std::string_view::npos)
        return true;
    return false;
  }
  return false;
}

// Registers of what a block loads in one passage, if nothing keeps the loads of later passages behind it.
int loaded_registers(const AsmInstruction* code, const FlowBlock& block, const FlowGraph& graph) {
  int sum = 0;
  for (std::size_t i = 0; i < block.code.size(); ++i) {
    if (i + 1 < block.code.size() && is_fence(code[i])) return 0;
    if (!is_load(code[i])) continue;
    for (int d : block.code[i].defs) sum += graph.weight[static_cast<std::size_t>(d)];
  }
  return sum;
}

// An instruction that ptxas expands holds values of its own: one register for each four instructions, at most 16.
void add_temporaries(const AsmFunction& kernel, PtxFlow& flow, int sm) {
  std::size_t k = 0;
  for (FlowBlock& block : flow.graph.blocks)
    for (FlowInstruction& i : block.code) {
      const double cost = ptx_cost(kernel.instructions[k++], sm).ops.total();
      if (cost < 8) continue;
      i.defs.push_back(static_cast<int>(flow.graph.weight.size()));
      flow.graph.weight.push_back(static_cast<int>(std::min(16.0, cost / 4)));
    }
}

/// Registers that hold what can be computed again at any time: integer arithmetic, each defined once, of parameters,
/// constants, the thread's and the block's numbers and of one another.
class Recomputed {
 public:
  /// Keeps a reference to the graph.
  Recomputed(const AsmFunction& kernel, const FlowGraph& graph) : graph_(graph), again_(graph.weight.size(), true) {
    std::vector<int> definitions(again_.size(), 0);
    for_each(kernel, [&](const AsmInstruction&, const FlowInstruction& f) {
      for (const int d : f.defs) ++at(definitions, d);
    });
    for (bool changed = true; changed;) {
      changed = false;
      for_each(kernel, [&](const AsmInstruction& i, const FlowInstruction& f) {
        for (const int d : f.defs) {
          if (!again_[static_cast<std::size_t>(d)] || (at(definitions, d) == 1 && is_made_of(i, f))) continue;
          again_[static_cast<std::size_t>(d)] = false;
          changed = true;
        }
      });
    }
  }

  /// `live` without such registers at the ends of the blocks of a loop that does not read them.
  [[nodiscard]] LiveSets not_kept(LiveSets live) const {
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b)
      for (const int s : graph_.blocks[b].successors)
        if (const auto head = static_cast<std::size_t>(s); head <= b) leave_out(head, b, live);
    return live;
  }

 private:
  static int& at(std::vector<int>& of, int r) { return of[static_cast<std::size_t>(r)]; }

  template <class Visit>
  void for_each(const AsmFunction& kernel, const Visit& visit) const {
    std::size_t k = 0;
    for (const FlowBlock& block : graph_.blocks)
      for (const FlowInstruction& f : block.code) visit(kernel.instructions[k++], f);
  }

  [[nodiscard]] bool is_made_of(const AsmInstruction& i, const FlowInstruction& f) const {
    if (i.opcode.starts_with("ld.param")) return true;
    static constexpr std::string_view integer[] = {"mov.", "cvta.", "add.", "sub.", "mul.", "mad.", "shl.", "shr.",
                                                   "and.", "or.",   "xor.", "not.", "bfe.", "min.", "max.", "cvt."};
    if (f.may_skip || std::ranges::none_of(integer, [&](auto op) { return i.opcode.starts_with(op); })) return false;
    if (f.uses.empty() && i.operands.size() > 1 && i.operands[1].starts_with('%')) {  // others change, as %clock does
      static constexpr std::string_view own[] = {"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid"};
      return std::ranges::any_of(own, [&](auto name) { return i.operands[1].starts_with(name); });
    }
    for (const std::string_view real : {".f16", ".f32", ".f64", ".bf16"})
      if (i.opcode.find(real) != std::string_view::npos) return false;
    return std::ranges::all_of(f.uses, [&](int r) { return again_[static_cast<std::size_t>(r)]; });
  }

  void leave_out(std::size_t head, std::size_t end, LiveSets& live) const {
    std::vector<bool> touched(again_.size(), false);
    for (std::size_t b = head; b <= end; ++b)
      for (const FlowInstruction& f : graph_.blocks[b].code) {
        for (const int r : f.uses) touched[static_cast<std::size_t>(r)] = true;
        for (const int r : f.defs) touched[static_cast<std::size_t>(r)] = true;
      }
    for (std::size_t r = 0; r < again_.size(); ++r)
      if (again_[r] && !touched[r])
        for (std::size_t b = head; b <= end; ++b) live[b][r / 64] &= ~(std::uint64_t{1} << (r % 64));
  }

  const FlowGraph& graph_;
  std::vector<bool> again_;
};

/// Instructions of a block that ptxas still puts into another order than the text's. Of 30 unrolled convolutions (ptxas
/// 12.4, sm_75 and sm_80) 21 of up to 5,445 instructions are in an order that fits, four of 4,900 to 5,300 are not, and
/// five of 6,165 and more spill what the order of the text does.
constexpr std::size_t most_reordered = 5800;

/// The order of block b that ptxas would seek when registers run out.
std::vector<std::size_t> narrow_block(const AsmFunction& kernel, int sm, std::size_t first, const FlowGraph& graph,
                                      const LiveSets& live, std::size_t b, int most) {
  TimedBlock block;
  const FlowBlock& text = graph.blocks[b];
  if (text.code.size() > most_reordered) {
    std::vector<std::size_t> as_text(text.code.size());
    std::iota(as_text.begin(), as_text.end(), std::size_t{0});
    return as_text;
  }
  for (std::size_t i = 0; i < text.code.size(); ++i)
    block.code.push_back({text.code[i], ptx_cost(kernel.instructions[first + i], sm).ops});
  std::vector<bool> out(graph.weight.size());
  for (std::size_t r = 0; r < out.size(); ++r) out[r] = (live[b][r / 64] >> (r % 64) & 1) != 0;
  return narrow_order(block, graph.weight, out, most);
}

/// The pressure of block b in that order.
int narrow_pressure(const AsmFunction& kernel, int sm, std::size_t first, const FlowGraph& graph, const LiveSets& live,
                    std::size_t b, int most) {
  const FlowBlock& text = graph.blocks[b];
  FlowGraph one{{text}, graph.weight};
  one.blocks[0].code.clear();
  for (std::size_t i : narrow_block(kernel, sm, first, graph, live, b, most))
    one.blocks[0].code.push_back(text.code[i]);
  return max_pressure(one, {live[b]}, 0);
}

/// The bytes of local memory that are in use at once.
double spilled_bytes(const FlowGraph& graph, const LiveSets& live, const std::vector<bool>& spilled) {
  FlowGraph only = graph;
  for (std::size_t r = 0; r < spilled.size(); ++r)
    if (!spilled[r]) only.weight[r] = 0;
  int most = 0;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b)
    most = std::max(most, max_pressure(only, live, static_cast<int>(b)));
  return 4.0 * most;
}

/// `graph`: with temporaries; its blocks are put into another order.
PtxPressure pressure_of(const AsmFunction& kernel, int sm, int most, FlowGraph graph, const LiveSets& live) {
  PtxPressure p;
  std::size_t first = 0;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    FlowBlock& block = graph.blocks[b];
    int now = max_pressure(graph, live, static_cast<int>(b));
    p.text = std::max(p.text, now);
    if (now > full_occupancy_registers(sm))
      now = std::min(now, narrow_pressure(kernel, sm, first, graph, live, b, most));
    if (now > p.in_order) {
      p.in_order = now;
      p.in_order_block = static_cast<int>(b);
    }
    const AsmInstruction* code = kernel.instructions.data() + first;
    const auto order = loads_first_order(code, block.code);
    const int ahead = is_counted_loop(code, block.code.size(), kernel.blocks[b])
                          ? (passages_unrolled - 1) * loaded_registers(code, block, graph)
                          : 0;
    first += block.code.size();
    std::vector<FlowInstruction> moved;
    for (std::size_t i : order) moved.push_back(block.code[i]);
    block.code = std::move(moved);
    p.loads_first = std::max(p.loads_first, max_pressure(graph, live, static_cast<int>(b)) + ahead);
  }
  return p;
}

}  // namespace

PtxPressure ptx_pressure(const AsmFunction& kernel, int sm, int most) {
  constexpr double of_three_warps = 168;  // of each scheduler: 65,536 registers / 12 warps, in units of 8
  PtxFlow flow = ptx_flow(kernel);
  add_temporaries(kernel, flow, sm);
  const LiveSets live = live_out(flow.graph);
  const PtxPressure kept = pressure_of(kernel, sm, most, flow.graph, live);
  if (kept.in_order <= full_occupancy_registers(sm)) return kept;
  const LiveSets fewer = Recomputed(kernel, flow.graph).not_kept(live);
  if (fewer == live) return kept;
  const PtxPressure again = pressure_of(kernel, sm, most, flow.graph, fewer);
  return kept.in_order > most || again.in_order + hidden_registers <= of_three_warps ? again : kept;
}

namespace {

/// What setmaxnreg raises a warp's registers to, at most; 0: nothing.
double most_set_registers(const AsmFunction& kernel) {
  double most = 0;
  for (const AsmInstruction& i : kernel.instructions) {
    if (!i.opcode.starts_with("setmaxnreg.inc") || i.operands.empty()) continue;
    int n = 0;
    std::from_chars(i.operands[0].data(), i.operands[0].data() + i.operands[0].size(), n);
    most = std::max(most, static_cast<double>(n));
  }
  return most;
}

}  // namespace

namespace {

/// Where nothing caps them; `plenty` is T of the file's head.
double registers_with_all(const PtxPressure& p, double plenty, int sm) {
  const double beside_loads = machine::nvidia_target(sm).readable_code ? hidden_beside_loads : hidden_registers;
  const double ahead = std::max(p.in_order, p.loads_first), need = p.in_order + hidden_registers;
  if (ahead + beside_loads <= plenty) return ahead + beside_loads;
  if (p.in_order <= plenty) return plenty;
  for (const double step : steps) {
    if (step <= plenty) continue;
    if (need > step && need <= step + squeeze) return step;
    if (need > step) continue;
    return std::round(need + loads_moved_up * (std::min(ahead + hidden_registers, step) - need));
  }
  return need;
}

}  // namespace

PtxRegisters estimate_ptx_registers(const AsmFunction& kernel, int sm, std::int64_t max_threads_per_block) {
  const double plenty = full_occupancy_registers(sm), launched = register_cap(sm, max_threads_per_block);
  const double later = most_set_registers(kernel), cap = std::max(launched, later);
  const int values = static_cast<int>(cap - hidden_registers);
  const PtxPressure p = ptx_pressure(kernel, sm, values);
  const double ordered = p.in_order + hidden_registers, free = registers_with_all(p, plenty, sm);
  PtxRegisters out;
  Registers& r = out.registers;
  r.per_thread = std::min(free, cap);
  const bool many = free > plenty;
  r.low = std::clamp(many ? std::min(free - below, std::round(share_below * free)) : free - below, 8.0, r.per_thread);
  r.high = std::clamp(many ? std::max(free + above, std::round(share_above * free)) : free + above, r.per_thread, cap);
  if (later > 0 && max_threads_per_block > 0)  // ptxas gives the launch all that the block's size leaves
    r.per_thread = r.low = r.high = launched;
  r.method = "max-live estimate";
  if (ordered > cap) {
    out.spills = ptx_spills(kernel, sm, values, false, r.spill_bytes);
  } else if (p.text + hidden_registers > cap) {
    r.in_text_order = p.text + hidden_registers;
    r.high = cap;
    out.text_order_spills = ptx_spills(kernel, sm, values, true, r.text_order_spill_bytes);
  }
  return out;
}

std::vector<SpillAccess> ptx_spills(const AsmFunction& kernel, int sm, int registers, bool as_text, double& bytes) {
  PtxFlow flow = ptx_flow(kernel);
  add_temporaries(kernel, flow, sm);
  const LiveSets live = Recomputed(kernel, flow.graph).not_kept(live_out(flow.graph));
  const int reserve = static_cast<int>(nvidia_timing(sm).registers_in_flight);
  const int limit = std::max(registers - reserve, registers / 2);
  std::vector<std::vector<std::size_t>> order;
  std::vector<std::vector<bool>> copies;
  std::size_t first = 0;
  for (std::size_t b = 0; b < flow.graph.blocks.size(); ++b) {
    const std::size_t n = flow.graph.blocks[b].code.size();
    order.emplace_back(n);
    std::iota(order.back().begin(), order.back().end(), std::size_t{0});
    if (!as_text && max_pressure(flow.graph, live, static_cast<int>(b)) > limit)
      order.back() = narrow_block(kernel, sm, first, flow.graph, live, b, limit);
    copies.emplace_back();
    for (std::size_t k = 0; k < n; ++k)
      copies.back().push_back(kernel.instructions[first + k].opcode.starts_with("mov."));
    first += n;
  }
  const Spills spills = find_spills(flow.graph, live, order, copies, limit);
  bytes = spilled_bytes(flow.graph, live, spills.spilled);
  std::vector<SpillAccess> out;
  for (const auto& block : spills.at) out.insert(out.end(), block.begin(), block.end());
  return out;
}

}  // namespace kernelcast::frontend
