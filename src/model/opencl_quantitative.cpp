// Idea: a compute unit runs all of its batches (warps); their computation adds up, their memory time hides behind the
// computation of the others except for one batch's, and barriers make batches wait for each other.
//
// Source: Zhu, Chen, Zhang, Wu, "a quantitative GPGPU model for OpenCL", 2013; formula numbers are the paper's. Two
// formulas are printed damaged and one is ambiguous: docs/model/opencl-quantitative.md says which and how they are
// read.
//
// Limits: no caches, no memory bandwidth, full overlap or none.
#include "model/opencl_quantitative.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kernelcast::opencl_quantitative {
namespace {

/// (6), (2), (8): work-items of a batch take turns on the processing elements.
Ratio<per::Thread, per::Warp> turns(const QuantitativeDevice& m) {
  return Ratio<per::Thread, per::Warp>(m.batch / m.processing_elements);
}

}  // namespace

Cycles<per::Thread> work_item_cycles(const QuantitativeDevice& m, const Instructions& n) {
  return m.add * n.add + m.mul * n.mul + m.div * n.div + m.special * n.special;
}

Cycles<per::Warp> compute_cycles(const QuantitativeDevice& m, const Instructions& n) {
  return work_item_cycles(m, n) * turns(m);
}

Transactions<per::Warp> transactions(const QuantitativeDevice& m, double served) {
  return Transactions<per::Warp>(m.batch / served);
}

Cycles<per::Warp> global_cycles(const QuantitativeDevice& m, Transactions<per::Warp> t) {
  return Cycles<per::Warp>(t.value() * m.global_latency.value());
}

double conflict_ways(const QuantitativeDevice& m, std::int64_t stride, double active_lanes) {
  if (stride == 0) return 1;
  const auto ways = static_cast<double>(std::gcd(stride, static_cast<std::int64_t>(m.banks)));
  return std::max(1.0, std::min(ways, active_lanes));
}

Cycles<per::Warp> local_cycles(const QuantitativeDevice& m, double ways) {
  return Cycles<per::Warp>(transfers_per_access * m.local_latency.value() * ways);
}

double serial_share(double divergence, double paths) { return divergence + (1 - divergence) / paths; }

double batches_per_group(double work_items, double groups, double batch) {
  return std::ceil(work_items / (groups * batch));
}

BatchCost batch_cost(const QuantitativeDevice& m, const Kernel& k) {
  BatchCost cost;
  cost.compute = compute_cycles(m, k.instructions);
  for (const GlobalAccess& a : k.global) cost.global += a.count * global_cycles(m, transactions(m, a.served));
  for (const LocalAccess& a : k.local) {
    cost.local += a.count * local_cycles(m, conflict_ways(m, a.stride, a.active_lanes));
  }
  for (const Branch& b : k.branches) {
    Cycles<per::Warp> serial;
    for (const Instructions& path : b.paths) serial += compute_cycles(m, path);
    cost.branch += b.count * serial_share(b.divergence, static_cast<double>(b.paths.size())) * serial;
  }
  cost.flat_barriers = Cycles<per::Block>(k.flat_barriers * flat_barrier_cycles);
  for (const Barrier& b : k.barriers) cost.synchronised += b.count * b.share;
  return cost;
}

QuantitativeTimes forecast(const QuantitativeDevice& m, const BatchCost& cost, const QuantitativeLaunch& launch,
                           Variant variant) {
  QuantitativeTimes f;
  f.batches_per_group = batches_per_group(launch.work_items, launch.groups, m.batch);
  f.batches_per_unit = launch.groups * f.batches_per_group / m.compute_units;  // (16)

  // (9), (14): how many batches' computation and memory time the kernel takes.
  const double n = f.batches_per_unit;
  f.serial = std::min(n, launch.resident_batches) <= 1;
  double computing = n, waiting = 1;
  if (f.serial) {
    computing = waiting = std::max(1.0, n);  // the limit case N * (T_comp + T_mem); a batch is never split
  } else if (variant == Variant::printed) {
    computing = n * n;
    waiting = n;
  } else if (variant == Variant::no_overlap) {
    waiting = n;
  }
  const Ratio<per::Warp, per::Grid> compute_batches(computing), memory_batches(waiting);
  f.compute = cost.compute * compute_batches / m.shader_clock;
  f.branch = cost.branch * compute_batches / m.shader_clock;
  f.global_memory = cost.global * memory_batches / m.memory_clock;
  f.local_memory = cost.local * memory_batches / m.shader_clock;

  // (12)-(14): the last batch of a group reaches a barrier after the computation of all the others.
  const Ratio<per::Warp, per::Block> others(f.batches_per_group - 1);
  const Cycles<per::Block> barriers = cost.flat_barriers + cost.synchronised * (cost.compute + cost.branch) * others;
  f.barriers = barriers * Ratio<per::Block, per::Grid>(launch.groups / m.compute_units) / m.shader_clock;
  return f;
}

}  // namespace kernelcast::opencl_quantitative
