// How counts become SKE's classes.
//
// Instructions: hardware special functions take the reciprocal's 16 cycles (a square root or a sine is several of them
// in the counts); a fused multiply-add is one instruction of 4; 64-bit integers take two adds or four multiplies. A
// branch whose warp diverges takes the 500 cycles of "control flow"; other branches take 4, because the paper's own
// kernels count no control flow for their loops and bounds checks. FP64 arithmetic is not in the paper's table: 4
// cycles times the FP32 lanes for one FP64 lane.
//
// Memory: between a coalesced access (62.5 cycles, the fewest possible transactions) and an uncoalesced one (500, a
// transaction for every lane) the cost grows in proportion to the transactions. A shared access takes as many cycles as
// it has passes through the banks, a constant one as many times 4 as it has distinct addresses. Data wider than 4 bytes
// count as several accesses.
#include "model/ske_device.h"

#include <algorithm>
#include <cmath>

#include "device/describe.h"
#include "model/models.h"
#include "model/ske_paper.h"

namespace kernelcast::ske {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double first_of(const Device& d, Field own, Field derived) {
  if (const auto v = d.get(own)) return *v;
  return d.get_or(derived, unknown);
}

/// L: without a published count, the accesses that shared memory serves in a cycle: one a bank, at most its bandwidth.
/// GF100's 16 and GK104's 32 load/store units agree with it.
double load_store_units(const Device& d) {
  const double units = first_of(d, Field::ske_load_store_units, Field::compute_load_store_lanes_per_unit);
  if (!std::isnan(units)) return units;
  const double banks = d.get_or(Field::memory_shared_banks, unknown);
  const auto bytes = d.get(Field::memory_shared_bandwidth_bytes_per_unit);
  return bytes ? std::min(banks, *bytes / 4) : banks;
}

double fp64_arithmetic(const OpCounts& n) {
  return n[OpClass::fp64_add] + n[OpClass::fp64_mul] + n[OpClass::fp64_fma] + n[OpClass::fp64_compare];
}

/// Cycles of all accesses of one kind to device memory, summed over requests.
double device_memory(const AccessCount& a, const MemoryGeometry& g) {
  if (a.requests <= 0) return 0;
  const double accesses = a.requests * words(a.bytes / a.lanes);
  const double fewest = std::max(a.requests, std::min(a.segments, a.bytes / g.segment_bytes));
  const double scattered = a.lanes > fewest ? std::clamp((a.segments - fewest) / (a.lanes - fewest), 0.0, 1.0) : 0.0;
  return accesses * (cost::coalesced + (cost::uncoalesced - cost::coalesced) * scattered);
}

double total_requests(const Workload& w, MemorySpace space) {
  return w.at(space, AccessKind::load).requests + w.at(space, AccessKind::store).requests +
         w.at(space, AccessKind::atomic).requests;
}

/// The passes of a conflict-free access of a whole warp count as one.
double shared_passes(const Workload& w) {
  double passes = 0;
  for (const AccessKind kind : {AccessKind::load, AccessKind::store, AccessKind::atomic}) {
    const AccessCount& a = w.at(MemorySpace::shared, kind);
    if (a.requests > 0) {
      passes += std::max(a.requests * words(a.bytes / a.lanes), a.bank_passes / parts_of_warp(w.geometry));
    }
  }
  return passes;
}

}  // namespace

SkeDevice machine_of(const Device& d) {
  SkeDevice m;
  m.multiprocessors = d.get_or(Field::compute_units, unknown);
  m.cores = first_of(d, Field::ske_cores_per_unit, Field::compute_fp32_lanes_per_unit);
  m.load_store_units = load_store_units(d);
  m.warp = d.get_or(Field::compute_warp_size, 32);
  m.clock = Hertz(first_of(d, Field::clock_boost_clock_hz, Field::clock_base_clock_hz));
  m.max_threads_per_block = d.get_or(Field::limits_max_threads_per_block, no_limit);
  m.max_threads_per_sm = d.get_or(Field::limits_max_threads_per_unit, no_limit);
  m.max_warps_per_sm = d.get_or(Field::limits_max_warps_per_unit, no_limit);
  m.max_blocks_per_sm = d.get_or(Field::limits_max_blocks_per_unit, no_limit);
  m.registers_per_sm = d.get_or(Field::limits_registers_per_unit, no_limit);
  m.max_registers_per_thread = d.get_or(Field::limits_max_registers_per_thread, no_limit);
  m.shared_bytes_per_sm = d.get_or(Field::limits_shared_bytes_per_unit, no_limit);
  m.constant_bytes = d.get_or(Field::limits_constant_bytes, no_limit);
  m.global_bytes = d.get_or(Field::memory_dram_bytes, no_limit);
  return m;
}

Cycles<per::Thread> instruction_cycles(const Workload& w, const Device& d) {
  using C = OpClass;
  const OpCounts& n = w.warp_ops;
  const double simple = n[C::fp16_add] + n[C::fp16_mul] + n[C::fp16_fma] + n[C::fp32_add] + n[C::fp32_mul] +
                        n[C::fp32_fma] + n[C::int_add] + n[C::shift] + n[C::logic] + n[C::compare] + n[C::select] +
                        n[C::min_max] + n[C::convert] + n[C::convert64] + n[C::convert_alu] + n[C::bit_special] +
                        n[C::move] + n[C::control] + n[C::vote] + n[C::shuffle] + n[C::tensor] + n[C::fence] +
                        n[C::special_register] + n[C::scalar_alu] + n[C::scalar_load] + n[C::other] +
                        2 * (n[C::int64_add] + n[C::int64_mad]);
  const double multiplies = n[C::int_mul] + n[C::int_mad] + 4 * (n[C::int64_mul] + n[C::int64_mad]);
  const double slow = n[C::fp64_div] + n[C::fp64_special] + n[C::int_div] + n[C::int64_div];
  double cycles = simple * cost::simple + multiplies * cost::int_mul + n[C::fp32_special] * cost::reciprocal +
                  n[C::fp32_div] * cost::float_div + slow * cost::slow;
  if (const double doubles = fp64_arithmetic(n); doubles > 0) {
    const double lanes = d.get_or(Field::compute_fp64_lanes_per_unit, 0);
    cycles +=
        doubles *
        (lanes > 0 ? cost::simple * first_of(d, Field::compute_fp32_lanes_per_unit, Field::ske_cores_per_unit) / lanes
                   : unknown);
  }
  for (const BranchCount& b : w.branch_counts) cycles += b.divergent * (cost::slow - cost::simple);
  return Cycles<per::Thread>(cycles / w.warps);
}

Cycles<per::Thread> memory_cycles(const Workload& w) {
  const AccessCount& constants = w.at(MemorySpace::constant, AccessKind::load);
  double cycles =
      shared_passes(w) * cost::shared + std::max(constants.requests, constants.bank_passes) * cost::constant +
      total_requests(w, MemorySpace::texture) * cost::texture + total_requests(w, MemorySpace::local) * cost::local;
  for (const AccessKind kind : {AccessKind::load, AccessKind::store, AccessKind::atomic}) {
    cycles += device_memory(w.at(MemorySpace::global, kind), w.geometry);
  }
  return Cycles<per::Thread>(cycles / w.warps);
}

Kernel kernel_of(const Workload& w, const Device& d) {
  Kernel k;
  k.blocks = w.blocks;
  k.threads = static_cast<double>(w.block.count());
  k.instruction_cycles = instruction_cycles(w, d);
  k.memory_cycles = memory_cycles(w);
  k.barriers = w.barriers / w.blocks;
  k.registers = std::min(w.registers_per_thread, d.get_or(Field::limits_max_registers_per_thread, no_limit));
  k.shared_bytes = w.shared_bytes_per_block;
  k.global_bytes = w.footprint_bytes;
  return k;
}

std::vector<Assumption> assumptions(const Workload& w, const Device& d) {
  std::vector<Assumption> out;
  const SkeDevice m = machine_of(d);
  if (!d.get(Field::ske_cores_per_unit)) {
    out.push_back({"ske: cores per SM (P) on " + d.name,
                   describe::number(m.cores) + " (from compute.fp32_lanes_per_unit)",
                   describe::where_to_set(d, "ske.cores_per_unit")});
  }
  if (!d.get(Field::ske_load_store_units)) {
    out.push_back({"ske: load/store units per SM (L) on " + d.name,
                   describe::number(m.load_store_units) + (d.get(Field::compute_load_store_lanes_per_unit)
                                                               ? " (from compute.load_store_lanes_per_unit)"
                                                               : " (accesses that shared memory serves in a cycle)"),
                   describe::where_to_set(d, "ske.load_store_units")});
  }
  out.push_back(
      {"ske: cycles of instructions and memories are the paper's, those of memories of GTX 680", "tables 1 and 2", ""});
  if (fp64_arithmetic(w.warp_ops) > 0) {
    out.push_back({"ske: an FP64 operation costs 4 cycles times FP32 lanes per FP64 lane", "yes",
                   describe::where_to_set(d, "compute.fp64_lanes_per_unit")});
  }
  if (w.registers_per_thread > m.max_registers_per_thread) {
    out.push_back({"ske: registers per thread beyond the device's limit are spilled",
                   describe::number(m.max_registers_per_thread), ""});
  }
  if (w.warp_ops[OpClass::tensor] > 0) out.push_back({"ske: a matrix instruction costs 4 cycles", "yes", ""});
  if (w.footprint_bytes > m.global_bytes) {
    out.push_back({"ske: constraint (16) global memory is violated: " + describe::si(w.footprint_bytes, "B") + " of " +
                       describe::si(m.global_bytes, "B") + " on " + d.name,
                   "ignored", ""});
  }
  return out;
}

std::string missing(const Workload& w, const Device& d) {
  const SkeDevice m = machine_of(d);
  const auto set = [&d](const char* what, const char* key) {
    return std::string("ske needs ") + what + "; set " + describe::where_to_set(d, key);
  };
  if (std::isnan(m.multiprocessors)) return set("the number of multiprocessors", "compute.units");
  if (std::isnan(m.clock.value())) return set("the clock of the compute units", "clock.base_clock_hz");
  if (std::isnan(m.cores)) return set("the cores of an SM", "ske.cores_per_unit");
  if (std::isnan(m.load_store_units)) return set("the load/store units of an SM", "ske.load_store_units");
  if (std::isnan(instruction_cycles(w, d).value())) {
    return set("the FP64 lanes of a unit for this kernel's FP64 operations", "compute.fp64_lanes_per_unit");
  }
  return set("a limit of the blocks that an SM holds", "limits.max_blocks_per_unit");
}

}  // namespace kernelcast::ske
