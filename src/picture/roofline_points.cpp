// Peaks are at the clock that the model takes, so that no forecast lies above a roof for its clock alone. Bytes: of the
// L1 what requests ask for, of the L2 what passes between it and the L1s, and so on down to DRAM.
#include "picture/roofline_points.h"

#include <algorithm>
#include <cmath>

#include "model/kernelcast.h"
#include "model/roofline.h"

namespace kernelcast::picture {
namespace {

/// 32-bit integer work of lanes.
double integer_operations(const OpCounts& n) {
  return n[OpClass::int_add] + n[OpClass::int_mul] + 2 * n[OpClass::int_mad] + n[OpClass::shift] + n[OpClass::logic] +
         n[OpClass::compare] + n[OpClass::min_max] + n[OpClass::int64_add] + n[OpClass::int64_mul] +
         2 * n[OpClass::int64_mad];
}

void add(std::vector<Use>& uses, const std::string& name, double amount, double peak) {
  if (amount > 0) uses.push_back({name, amount, peak});
}

void add_compute(Roofline& r, const Workload& w, const Device& d, const forecast::KernelcastDevice& m) {
  const roofline::Demand need = roofline::demand_of(w);
  const roofline::Peaks peaks = roofline::peaks_of(d);
  const double faster = peaks.clock_hz > 0 ? m.clock_hz / peaks.clock_hz : 1;
  add(r.compute, "FP64", need.fp64_flops, peaks.fp64_flops_per_s * faster);
  add(r.compute, "FP32", need.fp32_flops, peaks.fp32_flops_per_s * faster);
  add(r.compute, "FP16", need.fp16_flops, peaks.fp16_flops_per_s * faster);
  for (std::size_t i = 0; i < tensor_type_count; ++i) {
    const auto type = static_cast<TensorType>(i);
    add(r.compute, "matrix " + std::string(words_of(type)), 2 * need.tensor.of(type),
        peaks.tensor_ops_per_s[i] * faster);
  }
  r.operations = "FLOP";
  if (r.compute.empty()) {
    r.operations = "integer operations";
    add(r.compute, "32-bit integers", integer_operations(w.thread_ops), m.units * m.int_lanes * m.clock_hz);
  }
  for (const Use& u : r.compute) r.total += u.amount;
}

}  // namespace

Roofline roofline_of(const Workload& w, const Device& d, double resident_blocks) {
  const forecast::Constants& c = forecast::fitted_constants();
  const forecast::KernelcastDevice m = forecast::machine_of(d, c, false);
  const forecast::Traffic t = forecast::traffic_of(w, m, c, std::max(resident_blocks, 1 / m.units_per_block));
  Roofline r;
  r.clock_hz = m.clock_hz;
  add_compute(r, w, d, m);
  double asked = 0;
  for (const MemorySpace space : {MemorySpace::global, MemorySpace::texture})
    for (const AccessKind kind : {AccessKind::load, AccessKind::store, AccessKind::atomic})
      asked += w.at(space, kind).sectors;
  add(r.memory, "L1", (asked + t.local) * m.sector_bytes, m.units * m.clock_hz * m.l1_bytes_per_cycle);
  if (m.l2_bytes > 0)
    add(r.memory, "L2", (t.l2_read + t.l2_written + t.local_in_l2) * m.sector_bytes, m.l2_bytes_per_s);
  if (m.l3_bytes > 0) add(r.memory, "L3", t.past_l2 * m.sector_bytes, m.l3_bytes_per_s);
  add(r.memory, "DRAM", (t.dram_read + t.dram_written + t.local_past_cache) * m.sector_bytes, m.dram_bytes_per_s);
  double shared = 0;
  for (const AccessKind kind : {AccessKind::load, AccessKind::store, AccessKind::atomic})
    shared += w.at(MemorySpace::shared, kind).bytes;
  add(r.memory, "shared memory", shared, m.units * m.clock_hz * m.shared_bytes_per_cycle);
  return r;
}

}  // namespace kernelcast::picture
