// How many blocks a compute unit holds.
//
// The rules are those of NVIDIA's CUDA Occupancy Calculator (spreadsheet, versions 2 to 11), in our own words:
//  - warps of a block: threads / warp size, rounded up;
//  - registers, compute capability 1.x: one allocation a block, of warps (rounded up to the warp allocation
//    granularity) * registers * warp size, rounded up to the allocation unit;
//  - registers, 2.x and later: one allocation a warp, of registers * warp size rounded up to the allocation unit; the
//    register file has `granularity` equal partitions and a warp lives in one of them, so the unit's warps are rounded
//    down to a multiple of the granularity;
//  - shared memory: what the block declares plus what the system reserves, rounded up to the allocation unit. A block
//    that fits without the reserve fits alone: the limit of a block says what may be declared.
// Where compute units hold blocks together (RDNA's work-group processors in WGP mode, LLVM's default) their limits are
// added up, and what one unit holds may be a fraction of a block.
// On AMD a "register" is one lane's 32-bit slice of a vector register and the partitions are the SIMDs: the same rules.
//
// Limits: Fermi's special cases of odd register counts, partitioned global caching (Maxwell) and clusters (Hopper) are
// not modelled. The largest shared memory configuration is taken, as the driver does when a block asks for it.
#include "machine/occupancy.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "device/describe.h"
#include "kernelcast/error.h"
#include "kernelcast/model.h"
#include "kernelcast/setting.h"
#include "machine/launch_limits.h"

namespace kernelcast {
namespace {

double round_up(double value, double unit) { return std::ceil(value / unit) * unit; }
double round_down(double value, double unit) { return std::floor(value / unit) * unit; }

double blocks_by_registers(const UnitLimits& unit, const BlockDemand& block, double warps) {
  const double registers = std::min(block.registers_per_thread, unit.registers_per_thread);
  if (registers <= 0 || unit.registers == UnitLimits::none) return UnitLimits::none;
  const double granularity = unit.warp_allocation_granularity;
  if (unit.registers_per_block) {
    const double allocation =
        round_up(round_up(warps, granularity) * registers * unit.warp_size, unit.register_allocation_unit);
    return std::floor(unit.registers / allocation);
  }
  const double per_warp = round_up(registers * unit.warp_size, unit.register_allocation_unit);
  return std::floor(round_down(std::floor(unit.registers / per_warp), granularity) / warps);
}

double blocks_by_shared_memory(const UnitLimits& unit, const BlockDemand& block) {
  const double asked = block.shared_bytes + unit.shared_reserved_per_block;
  if (asked <= 0 || unit.shared_bytes == UnitLimits::none) return UnitLimits::none;
  const auto fit = [&unit](double bytes) {
    return std::floor(unit.shared_bytes / round_up(bytes, unit.shared_allocation_unit));
  };
  return std::max(fit(asked), block.shared_bytes > 0 ? std::min(1.0, fit(block.shared_bytes)) : 1.0);
}

[[noreturn]] void throw_no_block(Limiter limiter, const UnitLimits& unit, const BlockDemand& block,
                                 const Device& device) {
  const std::string head = "not one block fits a compute unit of " + device.name + ": ";
  const std::string threads = describe::number(block.threads);
  switch (limiter) {
    case Limiter::shared_memory:
      throw UserError(
          head + "a block needs " + describe::number(block.shared_bytes) + " bytes of shared memory and " +
          describe::number(unit.shared_reserved_per_block) + " more are reserved, of " +
          describe::number(unit.shared_bytes) +
          " (limits.shared_bytes_per_unit); give less " KC_SETTING(shared) " or a smaller " KC_SETTING(block));
    default:
      throw UserError(head + threads + " threads are more than it can hold (" +
                      (limiter == Limiter::warps
                           ? describe::number(unit.warps) + " warps, limits.max_warps_per_unit"
                           : describe::number(unit.threads) + " threads, limits.max_threads_per_unit") +
                      "); give a smaller " KC_SETTING(block));
  }
}

/// Residency of unit.units with the grid as one more limit; `units`: of the device. A limit that is unknown does not
/// limit; if none is known (CPUs), a compute unit runs one block at a time. Registers are an estimate of what the
/// vendor's compiler takes, so they never refuse a launch: a block that seems not to fit runs alone, and
/// put_occupancy() says so. The launch has been checked.
ResidentBlocks checked_residency(const UnitLimits& unit, double units, const BlockDemand& demand, ResidentBlocks r,
                                 const Workload& work, const Device& device) {
  if (r.limiter == Limiter::registers) {
    // What is certain refuses first.
    BlockDemand certain = demand;
    certain.registers_per_thread = 0;
    const ResidentBlocks without = resident_blocks(unit, certain);
    if (without.blocks < 1) throw_no_block(without.limiter, unit, demand, device);
    r.blocks = std::max(1.0, r.blocks);
  }
  if (r.blocks < 1) throw_no_block(r.limiter, unit, demand, device);
  if (r.blocks == UnitLimits::none) r.blocks = 1;
  const double share_of_grid = std::ceil(work.blocks / std::max(1.0, units / unit.units));
  if (share_of_grid < r.blocks) {
    r.blocks = std::max(1.0, share_of_grid);
    r.limiter = Limiter::grid;
  }
  return r;
}

double units_of(const Device& device) { return device.get_or(Field::compute_units, 1); }

ResidentBlocks residency(const UnitLimits& unit, const BlockDemand& demand, const Workload& work,
                         const Device& device) {
  check_launch(work, device);
  return checked_residency(unit, units_of(device), demand, resident_blocks(unit, demand), work, device);
}

}  // namespace

void put_occupancy(const Workload& work, const Device& device, Estimate& out) {
  out.occupancy = occupancy(work, device);
  const UnitLimits unit = unit_limits(device);
  const BlockDemand demand = block_demand(work);
  if (blocks_by_registers(unit, demand, std::ceil(demand.threads / unit.warp_size)) >= 1) return;
  out.assumptions.push_back({"the launch may fail: " + describe::number(demand.threads) + " threads with " +
                                 describe::number(demand.registers_per_thread) +
                                 " registers each (an estimate) are more than the " + describe::number(unit.registers) +
                                 (unit.units > 1 ? " of " + describe::number(unit.units) + " compute units that hold it"
                                                 : " of a compute unit"),
                             "one block at a time", KC_SETTING(block)});
}

std::string_view name_of(Limiter limiter) {
  switch (limiter) {
    case Limiter::threads:
      return "threads";
    case Limiter::warps:
      return "warps";
    case Limiter::blocks:
      return "blocks";
    case Limiter::registers:
      return "registers";
    case Limiter::shared_memory:
      return "shared memory";
    case Limiter::grid:
      return "grid";
    case Limiter::none:
      return "none known";
  }
  return "none known";
}

UnitLimits unit_limits(const Device& d) {
  UnitLimits u;
  u.warp_size = d.get_or(Field::compute_warp_size, u.warp_size);
  u.threads = d.get_or(Field::limits_max_threads_per_unit, u.threads);
  u.warps = d.get_or(Field::limits_max_warps_per_unit, u.warps);
  u.blocks = d.get_or(Field::limits_max_blocks_per_unit, u.blocks);
  u.registers = d.get_or(Field::limits_registers_per_unit, u.registers);
  u.registers_per_thread = d.get_or(Field::limits_max_registers_per_thread, u.registers_per_thread);
  u.register_allocation_unit = d.get_or(Field::limits_register_allocation_unit, u.register_allocation_unit);
  u.registers_per_block = d.get_or(Field::limits_register_allocation_per_block, 0) != 0;
  u.warp_allocation_granularity = d.get_or(Field::limits_warp_allocation_granularity, u.warp_allocation_granularity);
  u.shared_bytes = d.get_or(Field::limits_shared_bytes_per_unit, u.shared_bytes);
  u.shared_allocation_unit = d.get_or(Field::limits_shared_allocation_unit, u.shared_allocation_unit);
  u.shared_reserved_per_block = d.get_or(Field::limits_shared_reserved_per_block, u.shared_reserved_per_block);
  u.units = d.get_or(Field::limits_units_per_block, u.units);
  for (double* pooled : {&u.threads, &u.warps, &u.blocks, &u.registers, &u.shared_bytes}) *pooled *= u.units;
  return u;
}

BlockDemand block_demand(const Workload& w) {
  return {static_cast<double>(w.block.count()), w.registers_per_thread, w.shared_bytes_per_block};
}

ResidentBlocks resident_blocks(const UnitLimits& unit, const BlockDemand& block) {
  const double warps = std::ceil(block.threads / unit.warp_size);
  ResidentBlocks r;
  r.by_blocks = unit.blocks;
  r.by_warps = std::floor(unit.warps / warps);
  r.by_threads = std::floor(unit.threads / block.threads);
  r.by_registers = blocks_by_registers(unit, block, warps);
  r.by_shared_memory = blocks_by_shared_memory(unit, block);
  r.blocks = UnitLimits::none;
  const auto limit = [&r](double blocks, Limiter limiter) {
    if (blocks < r.blocks) {
      r.blocks = blocks;
      r.limiter = limiter;
    }
  };
  limit(r.by_blocks, Limiter::blocks);
  limit(r.by_warps, Limiter::warps);
  limit(r.by_threads, Limiter::threads);
  limit(r.by_registers, Limiter::registers);
  limit(r.by_shared_memory, Limiter::shared_memory);
  return r;
}

WarpResidency::WarpResidency(const Device& device)
    : device_(device), bounds_(device), unit_(unit_limits(device)), units_(units_of(device)) {}

double WarpResidency::warps(const Workload& work) const {
  if (!bounds_.admit(work)) check_launch(work, device_);
  const BlockDemand demand = block_demand(work);
  if (!(demand == last_)) {
    last_ = demand;
    room_ = resident_blocks(unit_, demand);
    warps_ = std::ceil(demand.threads / unit_.warp_size);
  }
  return checked_residency(unit_, units_, demand, room_, work, device_).blocks * warps_ / unit_.units;
}

double resident_warps(const Workload& work, const Device& device) { return WarpResidency(device).warps(work); }

Occupancy occupancy(const Workload& work, const Device& device) {
  const UnitLimits unit = unit_limits(device);
  const BlockDemand demand = block_demand(work);
  const ResidentBlocks r = residency(unit, demand, work, device);
  Occupancy o;
  o.blocks_per_unit = r.blocks / unit.units;
  o.warps_per_unit = o.blocks_per_unit * std::ceil(demand.threads / unit.warp_size);
  const double most = std::min(unit.warps, std::floor(unit.threads / unit.warp_size)) / unit.units;
  o.fraction = most == UnitLimits::none ? 0 : o.warps_per_unit / most;
  o.limiter = std::string(name_of(r.limiter));
  return o;
}

}  // namespace kernelcast
