// The quantitative GPGPU model for OpenCL (Zhu, Chen, Zhang, Wu 2013) in the paper's own quantities: formulas (1)-(16).
// A batch (warp, wavefront) is per::Warp here, a work-group per::Block. Cycles are of the shader clock unless said.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "kernelcast/units.h"

namespace kernelcast::opencl_quantitative {

/// What one work-item executes, by instruction class.
struct Instructions {
  double add = 0, mul = 0, div = 0, special = 0;
};

struct QuantitativeDevice {
  double compute_units = 0;        // N_CU
  double processing_elements = 0;  // N_PE, per unit
  double batch = 32;               // BATCH
  double banks = 16;               // L
  Hertz shader_clock, memory_clock;
  Cycles<per::Thread> add, mul, div, special;  // cost_i of one instruction
  Cycles<per::None> global_latency;            // GM_L, memory cycles of one transaction
  Cycles<per::None> local_latency;             // LM_L, cycles of one transfer
};

inline constexpr double default_divergence = 0.2;  // D: about the mean of 13 to 28 % (4.5, Fung et al.)
inline constexpr double flat_barrier_cycles = 50;  // a barrier right after a load into local memory
inline constexpr double transfers_per_access = 2;  // a conflict-free access to local memory, formula (5)

/// sum_i cost_i * num_i
Cycles<per::Thread> work_item_cycles(const QuantitativeDevice&, const Instructions&);
/// (1) C_ins = BATCH/N_PE * sum_i cost_i * num_i
Cycles<per::Warp> compute_cycles(const QuantitativeDevice&, const Instructions&);
/// (3) transactions of one access: BATCH/c, where one transaction serves c work-items.
Transactions<per::Warp> transactions(const QuantitativeDevice&, double served);
/// (3) C_gm, in memory cycles.
Cycles<per::Warp> global_cycles(const QuantitativeDevice&, Transactions<per::Warp>);
/// Ways of the bank conflict: gcd(stride, L), a stride of 0 is a broadcast without conflict; at most the active lanes.
double conflict_ways(const QuantitativeDevice&, std::int64_t stride, double active_lanes);
/// (5) C_lm of one access that conflicts `ways` ways.
Cycles<per::Warp> local_cycles(const QuantitativeDevice&, double ways);
/// (7) share of the serial cost (all paths one after another) that a batch pays: D + (1 - D)/paths.
double serial_share(double divergence, double paths);
/// (15) N_batch/WG
double batches_per_group(double work_items, double groups, double batch);

struct GlobalAccess {
  double count = 0;   // accesses of a batch
  double served = 1;  // c: work-items served by one transaction
};
struct LocalAccess {
  double count = 0;
  std::int64_t stride = 1;  // words between neighbouring work-items
  double active_lanes = std::numeric_limits<double>::infinity();
};
struct Branch {
  double count = 0;                        // executions by a batch
  double divergence = default_divergence;  // D; 0: uniform
  std::vector<Instructions> paths;         // b paths; an empty one has no instructions
};
/// Barriers of a work-group that take formula (12).
struct Barrier {
  double count = 0;
  double share = 1;  // of the batch's computation, between the barrier before and each of these
};

/// A kernel as the paper counts it: per batch, and barriers per work-group.
struct Kernel {
  Instructions instructions;
  std::vector<GlobalAccess> global;
  std::vector<LocalAccess> local;
  std::vector<Branch> branches;
  double flat_barriers = 0;
  std::vector<Barrier> barriers;
};

/// A kernel's costs by formulas (1), (3), (5), (7), summed over its accesses and branches.
struct BatchCost {
  Cycles<per::Warp> compute, branch, global, local;  // global in memory cycles
  Cycles<per::Block> flat_barriers;
  double synchronised = 0;  // sum of barrier count * share: how much of a batch's computation waits at barriers (12)
};
BatchCost batch_cost(const QuantitativeDevice&, const Kernel&);

struct QuantitativeLaunch {
  double work_items = 0, groups = 0;
  double resident_batches = std::numeric_limits<double>::infinity();  // that one unit can hold at a time
};

/// How (9) and (14) are read. settled: (9) holds all batches of a unit. printed: (14) multiplies (9) by the batches of
/// a unit once more. no_overlap: the memory time of every batch is counted.
enum class Variant { settled, printed, no_overlap };

struct QuantitativeTimes {
  double batches_per_unit = 0, batches_per_group = 0;
  bool serial = false;  // one batch at a time on a unit: nothing overlaps
  Seconds compute, branch, global_memory, local_memory, barriers;
  [[nodiscard]] Seconds total() const { return compute + branch + global_memory + local_memory + barriers; }
};
/// (9)-(16).
QuantitativeTimes forecast(const QuantitativeDevice&, const BatchCost&, const QuantitativeLaunch&, Variant);

}  // namespace kernelcast::opencl_quantitative
