// Furthest next use is the fewest loads within a block, and simple enough to follow by hand; a compiler that spills
// whole live ranges by priorities does worse. Against ptxas 11.8: docs/lab/registers.md.
#include "frontend/code/nvidia/ptx_spills.h"

#include <algorithm>
#include <limits>
#include <set>

namespace kernelcast::frontend {
namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

class Block {
 public:
  Block(const FlowGraph& graph, const FlowBlock& block, const std::vector<std::uint64_t>& live_out,
        const std::vector<std::size_t>& order, int registers)
      : weight_(graph.weight),
        block_(block),
        order_(order),
        limit_(registers),
        uses_(graph.weight.size()),
        seen_(graph.weight.size(), 0) {
    for (std::size_t k = 0; k < order.size(); ++k)
      for (int u : block.code[order[k]].uses) uses_[at(u)].push_back(k);
    const std::size_t end = order.size();
    for (std::size_t r = 0; r < uses_.size(); ++r)
      if ((live_out[r / 64] >> (r % 64) & 1) != 0) uses_[r].push_back(end);
  }

  /// Marks what goes to local memory in `spilled`; adds a load wherever a value comes back.
  void run(const std::vector<bool>& copies, std::vector<bool>& spilled, std::vector<SpillAccess>& out) {
    // What the block begins with: read before it is made here, or never made here.
    std::vector<bool> defined(uses_.size(), false);
    for (const std::size_t k : order_) {
      for (int u : block_.code[k].uses) begin_with(at(u), defined);
      if (block_.code[k].may_skip) continue;
      for (int d : block_.code[k].defs) defined[at(d)] = true;
    }
    for (std::size_t r = 0; r < uses_.size(); ++r) begin_with(r, defined);
    shrink();
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const FlowInstruction& i = block_.code[order_[k]];
      for (int u : i.uses) {
        if (weight_[at(u)] == 0) continue;
        if (held_.erase({k, at(u)}) > 0) {
          now_ -= weight_[at(u)];
        } else if (!copies[order_[k]] && seen_[at(u)] != k + 1) {
          out[order_[k]].loads += weight_[at(u)];
          spilled[at(u)] = true;
        }
        seen_[at(u)] = k + 1;  // a register twice in one instruction comes back once
      }
      for (int u : i.uses) enter(at(u), k + 1);
      for (int d : i.defs) enter(at(d), k + 1);
      shrink();
    }
  }

 private:
  static std::size_t at(int r) { return static_cast<std::size_t>(r); }
  [[nodiscard]] std::size_t next_use(std::size_t r, std::size_t from) const {
    const auto found = std::lower_bound(uses_[r].begin(), uses_[r].end(), from);
    return found == uses_[r].end() ? never : *found;
  }
  void begin_with(std::size_t r, const std::vector<bool>& defined) {
    if (!defined[r]) enter(r, 0);
  }
  void enter(std::size_t r, std::size_t from) {
    const std::size_t next = next_use(r, from);
    if (weight_[r] > 0 && next != never && held_.emplace(next, r).second) now_ += weight_[r];
  }
  void shrink() {
    while (now_ > limit_ && !held_.empty()) {
      const auto farthest = std::prev(held_.end());
      now_ -= weight_[farthest->second];
      held_.erase(farthest);
    }
  }

  const std::vector<int>& weight_;
  const FlowBlock& block_;
  const std::vector<std::size_t>& order_;
  int limit_ = 0, now_ = 0;
  std::vector<std::vector<std::size_t>> uses_;  // positions in the order, ascending
  std::vector<std::size_t> seen_;
  std::set<std::pair<std::size_t, std::size_t>> held_;  // next use and register
};

}  // namespace

Spills find_spills(const FlowGraph& graph, const LiveSets& live_out, const std::vector<std::vector<std::size_t>>& order,
                   const std::vector<std::vector<bool>>& copies, int registers) {
  Spills out;
  out.spilled.assign(graph.weight.size(), false);
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    out.at.emplace_back(graph.blocks[b].code.size());
    Block(graph, graph.blocks[b], live_out[b], order[b], std::max(registers, 1)).run(copies[b], out.spilled, out.at[b]);
  }
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    for (std::size_t k = 0; k < graph.blocks[b].code.size(); ++k) {
      if (copies[b][k]) continue;
      const FlowInstruction& i = graph.blocks[b].code[k];
      for (int d : std::set<int>(i.defs.begin(), i.defs.end()))
        if (out.spilled[static_cast<std::size_t>(d)]) out.at[b][k].stores += graph.weight[static_cast<std::size_t>(d)];
    }
  }
  return out;
}

}  // namespace kernelcast::frontend
