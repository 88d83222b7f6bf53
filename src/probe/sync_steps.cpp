#include "probe/sync_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "probe/memory_programs.h"

namespace kernelcast::probe {
namespace {

/// Cycles from the first to the last clock reading of a block that runs `count` barriers.
double barrier_pass(const TestedSm& m, int warps, int count) {
  const std::string text = fmt::format("loop 2\nBAR\nCLK\nrepeat {}\nBAR\nend\nCLK\nend\n", count);
  std::uint64_t from = ~std::uint64_t{0}, to = 0;
  for (const std::vector<std::uint64_t>& clocks : m.run(sm::assemble(text, "barriers"), warps)) {
    from = std::min(from, clocks.at(2));
    to = std::max(to, clocks.at(3));
  }
  return static_cast<double>(to - from);
}

const char* atomic_mnemonic(Memory memory) { return memory == Memory::shared ? "ATOMS" : "ATOM"; }

}  // namespace

std::vector<BarrierCost> barrier_costs(const TestedSm& m, int most_warps) {
  std::vector<BarrierCost> out;
  for (int warps = 1; warps <= most_warps; warps *= 2)
    out.push_back(
        {warps * m.warp_size, (barrier_pass(m, warps, 2 * unrolled) - barrier_pass(m, warps, unrolled)) / unrolled});
  return out;
}

double barrier_threads_per_cycle(const std::vector<BarrierCost>& costs) {
  if (costs.size() < 2) return 0;
  const BarrierCost &half = costs[costs.size() - 2], &all = costs.back();
  return all.cycles > half.cycles ? (all.threads - half.threads) / (all.cycles - half.cycles) : 0;
}

std::vector<AtomicLatency> atomic_latencies(const TestedSm& m, Memory memory) {
  std::vector<AtomicLatency> out;
  for (int lanes = 1; lanes <= m.warp_size; lanes *= 2)
    out.push_back(
        {lanes,
         chain_of(m, fmt::format(".access a lane=0 lanes={}", lanes), atomic_mnemonic(memory), unrolled).per_load});
  return out;
}

double atomics_per_cycle(const TestedSm& m, Memory memory, bool same_word) {
  const std::string access = same_word ? ".access a lane=0" : fmt::format(".access a lane=4 warp={}", 4 * m.warp_size);
  return m.warp_size / warm_cycles_per_load(m, access, atomic_mnemonic(memory), m.warps, 128);
}

}  // namespace kernelcast::probe
