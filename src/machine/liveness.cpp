// Liveness by iteration to the fixed point: in = uses + (out - defs), out = union of the successors' in. Blocks are
// visited backwards, so loops take a few rounds. (Aho, Lam, Sethi, Ullman: Compilers, section 9.2.5.)
#include "machine/schedules.h"

#include <algorithm>
#include <cstddef>

namespace kernelcast::machine {
namespace {

using Set = std::vector<std::uint64_t>;

std::size_t word(int r) { return static_cast<std::size_t>(r) / 64; }
std::uint64_t bit(int r) { return std::uint64_t{1} << (static_cast<unsigned>(r) % 64); }
bool contains(const Set& s, int r) { return (s[word(r)] & bit(r)) != 0; }

void step_back(const FlowInstruction& i, Set& live) {
  if (!i.may_skip)
    for (int d : i.defs) live[word(d)] &= ~bit(d);
  for (int u : i.uses) live[word(u)] |= bit(u);
}

}  // namespace

LiveSets live_out(const FlowGraph& graph) {
  const std::size_t n = graph.blocks.size(), words = graph.weight.size() / 64 + 1;
  LiveSets in(n, Set(words, 0)), out(n, Set(words, 0));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = n; b-- > 0;) {
      Set live(words, 0);
      for (int s : graph.blocks[b].successors)
        for (std::size_t w = 0; w < words; ++w) live[w] |= in[static_cast<std::size_t>(s)][w];
      out[b] = live;
      const auto& code = graph.blocks[b].code;
      for (auto i = code.rbegin(); i != code.rend(); ++i) step_back(*i, live);
      if (live != in[b]) {
        in[b] = std::move(live);
        changed = true;
      }
    }
  }
  return out;
}

int max_pressure(const FlowGraph& graph, const LiveSets& live_out, int b) {
  const auto index = static_cast<std::size_t>(b);
  Set live = live_out[index];
  auto weight = [&](int r) { return graph.weight[static_cast<std::size_t>(r)]; };
  int now = 0;
  for (std::size_t r = 0; r < graph.weight.size(); ++r)
    if (contains(live, static_cast<int>(r))) now += graph.weight[r];
  int top = now;
  const auto& code = graph.blocks[index].code;
  for (auto i = code.rbegin(); i != code.rend(); ++i) {
    int unread = 0;
    for (int d : i->defs)
      if (!contains(live, d)) unread += weight(d);
    top = std::max(top, now + unread);
    if (!i->may_skip)
      for (int d : i->defs)
        if (contains(live, d)) {
          live[word(d)] &= ~bit(d);
          now -= weight(d);
        }
    for (int u : i->uses)
      if (!contains(live, u)) {
        live[word(u)] |= bit(u);
        now += weight(u);
      }
    top = std::max(top, now);
  }
  return top;
}

}  // namespace kernelcast::machine
