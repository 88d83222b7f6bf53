// The nonlinear programme is small (one integer, the block size, for a handful of placements or plans), so it is solved
// by enumeration: exact, and the whole curve is there to be shown.
#include "model/ske_studies.h"

#include <algorithm>
#include <cmath>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "model/models.h"
#include "model/ske_paper.h"

namespace kernelcast::ske {

std::vector<Point> block_size_sweep(const SkeDevice& m, const Kernel& per_thread, double total_threads,
                                    double shared_bytes_per_thread, std::span<const double> block_sizes,
                                    Correction correction) {
  std::vector<Point> points;
  for (const double threads : block_sizes) {
    Point p;
    p.threads = threads;
    p.kernel = per_thread;
    p.kernel.threads = threads;
    p.kernel.blocks = std::ceil(total_threads / threads);
    p.kernel.shared_bytes = shared_bytes_per_thread * threads;
    p.feasible = feasible(m, p.kernel);
    if (p.feasible) p.forecast = forecast(m, p.kernel, correction);
    points.push_back(p);
  }
  return points;
}

const Point& best(std::span<const Point> points) {
  const Point* found = nullptr;
  for (const Point& p : points) {
    if (p.feasible && (!found || p.forecast.total() < found->forecast.total())) found = &p;
  }
  if (!found)
    throw UserError(
        "no block size satisfies the constraints (10)-(16) of ske; give smaller or other " KC_SETTING(block) " sizes");
  return *found;
}

std::vector<Placement> choose_memory(const SkeDevice& m, const Kernel& per_thread, std::span<const DataSet> sets,
                                     double total_threads, double global_cycles, std::span<const double> block_sizes) {
  std::vector<Placement> placements;
  for (std::size_t mask = 0; mask < (std::size_t{1} << sets.size()); ++mask) {
    Placement placement;
    double cycles = 0, shared_bytes = 0;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const DataSet& d = sets[i];
      const bool shared = (mask >> i & 1) != 0;
      placement.in_shared.push_back(shared);
      const double uses = d.reads + d.writes;
      if (shared) {
        shared_bytes += d.bytes;
        cycles += (d.loads + d.stores) * (global_cycles + cost::shared) + uses * cost::shared;
      } else {
        cycles += uses * global_cycles;
      }
    }
    Kernel kernel = per_thread;
    kernel.memory_cycles = Cycles<per::Thread>(cycles);
    const auto points = block_size_sweep(m, kernel, total_threads, shared_bytes, block_sizes);
    if (std::none_of(points.begin(), points.end(), [](const Point& p) { return p.feasible; })) continue;
    placement.point = best(points);
    placements.push_back(placement);
  }
  sort_stably(placements, [](const Placement& a, const Placement& b) {
    return a.point.forecast.total() < b.point.forecast.total();
  });
  return placements;
}

std::vector<RankedPlan> rank_plans(const SkeDevice& m, std::span<const Plan> plans, double registers,
                                   std::span<const double> block_sizes) {
  std::vector<RankedPlan> ranked;
  for (const Plan& plan : plans) {
    Kernel kernel;
    kernel.instruction_cycles = plan.instruction_cycles;
    kernel.memory_cycles = plan.memory_cycles;
    kernel.registers = registers;
    ranked.push_back(
        {plan.name, best(block_size_sweep(m, kernel, plan.threads, plan.shared_bytes_per_thread, block_sizes))});
  }
  sort_stably(ranked, [](const RankedPlan& a, const RankedPlan& b) {
    return a.point.forecast.total() < b.point.forecast.total();
  });
  return ranked;
}

}  // namespace kernelcast::ske
