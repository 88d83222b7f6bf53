// Time of a loop nest on a CPU.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/cpu_code.h"
#include "kernelcast/device.h"
#include "kernelcast/estimate.h"
#include "kernelcast/launch.h"
#include "kernelcast/workload.h"

namespace kernelcast::offload {

/// Geometry under which a CpuCode's profile is bound: one lane, lines as sectors.
MemoryGeometry cpu_geometry(const Device& cpu);

struct CpuEstimate {
  double time_s = 0;
  double factor = 1;           // 90 % interval: time / factor to time * factor
  int threads = 1;
  double start_s = 0;          // starting threads and meeting at the end
  std::vector<Bound> bounds;   // core, L1, L2, L3, DRAM: seconds each, binding one first
  std::string limiter;
  double uops = 0;             // micro-operations of all threads
  double flops = 0;
  double dram_bytes = 0;
  std::vector<Assumption> assumptions;
};

/// Threads that run the nest: `threads`, 0: one a core; one without a shared loop; no more than the hardware has.
int cpu_threads(const CpuCode& code, const Device& cpu, int threads);

/// Work of the thread that has most, in mean work of a thread, when each gets one run of iterations of the shared loops
/// and all runs are equally long (OpenMP's static schedule). 1 for loops whose iterations are alike and divide evenly.
/// The first and the last run are looked at: work grows or falls along a loop.
double uneven_share(const CpuCode& code, const Launch& launch, const Device& cpu, int threads);

/// Cycles of all passages through the loops that threads share.
double shared_cycles(const CpuCode& code, const Workload& workload);

/// `threads` 0: one a core; `uneven` as uneven_share has it. Core cycles by the scheduling model; data by the Execution-Cache-Memory model (Stengel,
/// Treibig, Hager, Wellein, ICS 2015): on one core, lines add up over the levels that have them and overlap with
/// arithmetic; cores scale until the memory's bandwidth is used up. NUMA is ignored. Throws UserError when the device file lacks a
/// clock or the number of cores.
CpuEstimate estimate_cpu(const CpuCode& code, const Workload& workload, const Device& cpu, int threads,
                         double uneven = 1);

}  // namespace kernelcast::offload
