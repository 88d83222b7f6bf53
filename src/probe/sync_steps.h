// The micro-benchmarks of barriers and atomic operations on any machine that runs our instructions.
#pragma once

#include <vector>

#include "probe/steps.h"

namespace kernelcast::probe {

struct BarrierCost {
  int threads = 0;
  double cycles = 0;  // from one barrier to the next of a block that does nothing else
};
/// Blocks of 1, 2, 4, ... warps, `most_warps` at most.
std::vector<BarrierCost> barrier_costs(const TestedSm& m, int most_warps);
/// Threads that arrive in a cycle, from what the warps of the larger half of the costs add; 0: they add nothing.
double barrier_threads_per_cycle(const std::vector<BarrierCost>& costs);

enum class Memory { shared, global };

struct AtomicLatency {
  int lanes = 0;
  double cycles = 0;  // until the next operation that needs the returned value
};
/// One warp, of which 1, 2, 4, ... lanes update one word.
std::vector<AtomicLatency> atomic_latencies(const TestedSm& m, Memory memory);
/// Lanes a cycle whose operations the SM completes when many warps run: each lane with a word of its own, lane beside
/// lane; or all with the same word.
double atomics_per_cycle(const TestedSm& m, Memory memory, bool same_word);

}  // namespace kernelcast::probe
