#include "execute/block_runner.h"

#include <algorithm>

namespace kernelcast::interpreter {

void BlockCounts::clear() {
  std::fill(blocks.begin(), blocks.end(), BlockCount{});
  std::fill(accesses.begin(), accesses.end(), AccessCount{});
  std::fill(branches.begin(), branches.end(), BranchCount{});
  barriers = flat_barriers = phase_longest = phase_mean = warp_instructions = lane_instructions = 0;
}

void BlockCounts::add(const BlockCounts& o, double times, double over) {
  // Multiplied first: whole numbers stay whole where they can.
  const auto scaled = [&](double v) { return v * times / over; };
  blocks.resize(o.blocks.size());
  accesses.resize(o.accesses.size());
  branches.resize(o.branches.size());
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    blocks[k].warps += scaled(o.blocks[k].warps);
    blocks[k].lanes += scaled(o.blocks[k].lanes);
  }
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    AccessCount& a = accesses[k];
    const AccessCount& b = o.accesses[k];
    a.requests += scaled(b.requests);
    a.lanes += scaled(b.lanes);
    a.sectors += scaled(b.sectors);
    a.segments += scaled(b.segments);
    a.bank_passes += scaled(b.bank_passes);
    a.bytes += scaled(b.bytes);
    a.words += scaled(b.words);
  }
  for (std::size_t k = 0; k < branches.size(); ++k) {
    branches[k].warps += scaled(o.branches[k].warps);
    branches[k].divergent += scaled(o.branches[k].divergent);
  }
  barriers += scaled(o.barriers);
  flat_barriers += scaled(o.flat_barriers);
  phase_longest += scaled(o.phase_longest);
  phase_mean += scaled(o.phase_mean);
  warp_instructions += scaled(o.warp_instructions);
  lane_instructions += scaled(o.lane_instructions);
}

}  // namespace kernelcast::interpreter
