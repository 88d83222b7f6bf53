// The figures of the cycle-level SM beyond the four steps: shared memory and caches, barriers, atomic operations, and
// what one SM cannot show.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernelcast/probe.h"
#include "probe/steps.h"

namespace kernelcast::probe {

/// A figure read off a machine that is deterministic.
Result exact_figure(std::string id, std::optional<double> value, std::string unit, std::string method,
                    std::string what);
/// One that has no value, for `reason`.
Result unknown_figure(std::string id, std::string unit, std::string reason);

/// Latency, bandwidth and banks of shared memory.
std::vector<Result> shared_memory_figures(const TestedSm& m);
/// Latencies, sizes, lines and bandwidths of caches and DRAM, walking by lines of `line` bytes. `cached`: the vendor
/// says that loads of global memory go through the L1.
std::vector<Result> global_memory_figures(const TestedSm& m, int line, bool cached);
/// Barriers of blocks of up to `most_warps` warps.
std::vector<Result> barrier_figures(const TestedSm& m, int most_warps);
std::vector<Result> atomic_figures(const TestedSm& m);
/// Launches and transfers: nothing of a host is simulated.
std::vector<Result> figures_of_a_host();

}  // namespace kernelcast::probe
