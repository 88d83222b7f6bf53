// SKE as an optimiser: the block size, the memory of each data set and the thread plan that minimise formula (9) under
// the constraints (10)-(16).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/ske.h"

namespace kernelcast::ske {

struct Point {
  double threads = 0;  // per block
  Kernel kernel;
  SkeTimes forecast;
  bool feasible = false;
};

/// `per_thread` with blocks of each of `block_sizes`, enough of them for `total_threads`: b = ceil(total / t). Shared
/// memory is given per thread: M2 = t * shared_bytes_per_thread.
std::vector<Point> block_size_sweep(const SkeDevice&, const Kernel& per_thread, double total_threads,
                                    double shared_bytes_per_thread, std::span<const double> block_sizes,
                                    Correction = Correction::none);
/// The feasible point of least time; throws UserError when there is none.
const Point& best(std::span<const Point>);

/// Data that each thread reads or writes.
struct DataSet {
  std::string name;
  double bytes = 0;  // per thread, if it lies in shared memory
  double loads = 0;  // accesses that fill it from global memory if it lies in shared memory
  double reads = 0;  // accesses by the computation
  double writes = 0;
  double stores = 0;  // accesses that bring it back to global memory if it lies in shared memory
};

/// One way to place the data sets, at its best block size.
struct Placement {
  std::vector<bool> in_shared;  // parallel to the data sets; else in global memory
  Point point;
};
/// All placements that fit, best first. Every access to global memory costs `global_cycles`.
std::vector<Placement> choose_memory(const SkeDevice&, const Kernel& per_thread, std::span<const DataSet>,
                                     double total_threads, double global_cycles, std::span<const double> block_sizes);

/// How work is dealt to threads.
struct Plan {
  std::string name;
  double threads = 0;  // in all
  Cycles<per::Thread> instruction_cycles, memory_cycles;
  double shared_bytes_per_thread = 0;
};
struct RankedPlan {
  std::string name;
  Point point;
};
/// Each plan at its best block size, fastest first.
std::vector<RankedPlan> rank_plans(const SkeDevice&, std::span<const Plan>, double registers,
                                   std::span<const double> block_sizes);

}  // namespace kernelcast::ske
