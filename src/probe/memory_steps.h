// The micro-benchmarks of memory on any machine that runs our instructions: chains of loads whose addresses follow from
// how often they ran. Times of two lengths are subtracted, so that what stands around the loads cancels.
#pragma once

#include <cstdint>

#include "probe/plateaus.h"
#include "probe/steps.h"

namespace kernelcast::probe {

/// Cycles of a load from shared memory that needs the one before it; all lanes read one word.
double shared_latency_cycles(const TestedSm& m);

struct SharedBanks {
  int bank_bytes = 0, banks = 0;  // 0: the time does not depend on the step
};
/// From latency and time of many loads by the step between lanes, 4 to 1024 bytes: beyond the width of a bank it grows,
/// and no more once all lanes are in one bank. `bank_bytes` is at least the 4 bytes that a lane loads.
SharedBanks shared_banks(const TestedSm& m);

/// Cycles of a load from global memory that needs the one before it, walking a size line by line for the second time:
/// sizes from 1 KB to `largest` bytes, powers of two and those halfway. Lines of at most 1 KB.
std::vector<CurvePoint> latency_by_size(const TestedSm& m, int line_bytes, std::int64_t largest);
/// The same through lines that were never read before: behind all caches.
double cold_latency_cycles(const TestedSm& m, int line_bytes);

/// Bytes that a miss brings: beyond that step a walk through what was never read before takes the same time for every
/// load. 0: every step does.
int fill_bytes(const TestedSm& m);
/// Bytes of a line of the first cache, from the time of many loads by the step between lanes, 4 to 256 bytes, all found
/// in that cache: it grows until each lane has a line of its own. 0: the time does not depend on the step.
int line_bytes(const TestedSm& m);

/// Bytes a cycle that the SM reads from shared memory, `lane_bytes` (4, 8, 16) a lane side by side.
double shared_bytes_per_cycle(const TestedSm& m, int lane_bytes = 4);
/// Bytes a cycle that the SM reads again and again from `region` bytes of global memory, 4 bytes a lane side by side.
double cached_bytes_per_cycle(const TestedSm& m, std::int64_t region);
/// Bytes a cycle that the SM reads from lines that were never read before, with `warps` warps, as many bytes a lane.
double stream_bytes_per_cycle(const TestedSm& m, int warps, int lane_bytes = 4);

}  // namespace kernelcast::probe
