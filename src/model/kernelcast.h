// The model `kernelcast`: named bounds of one launch and the rule that combines them. Plain numbers: what a device can
// do (KernelcastDevice), what a launch asks for (Demand), global constants (Constants). docs/model/kernelcast.md has
// the equations with their sources.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernelcast/device.h"
#include "kernelcast/workload.h"

namespace kernelcast::forecast {

/// The constants that no vendor publishes. One set for all devices and kernels; validation/fit.md says how each was
/// found and what it is worth.
struct Constants {
  double norm = 4.382;            // exponent of the p-norm that combines an SM and the bounds of BoundGroup::chip
  double unit_norm = 2.5;         // likewise of those of BoundGroup::sm, all of BoundGroup::pipe and all of ::memory
  double pipe_norm = 40;          // likewise of those of BoundGroup::pipe, and of BoundGroup::memory
  double latency_norm = 2;        // likewise of all that and BoundGroup::path
  double clock = 1.15;            // sustained clock over rated boost clock, of cards that run beyond it
  double dram_efficiency = 0.95;  // of the data sheet's bandwidth
  double l2_efficiency = 0.8;     // of the L2's bandwidth, by requests of whole lines
  double l2_request_bytes = 32;   // that a request takes of it beside its sectors; compared: validation/fit.md
  double l2_duplex = 0.6;      // share of the bytes of the smaller of a cache's reads and writes that the other hides
  double l3_efficiency = 0.6;  // of a cache behind the L2
  double issue_lost = 0.7;     // issue slots lost beside each instruction that is no arithmetic of the lanes
  double tensor_efficiency = 0.95;    // of the tensor pipes; not fitted: wgmma on H800, Luo et al., IPDPS 2024
  double memory_efficiency = 0.8958;  // of load/store units, shared memory and L1
  double launch_s = 2.545e-06;        // from the start to the end of an empty grid, on the GPU
  double branch_cycles = 24.31;       // from a branch of a warp to the instruction after it
  // A barrier of a block of one warp; for each further warp, which arrives at 16 threads a cycle; and of a block of
  // many warps, until the last one is there. The first two are not fitted: docs/model/kernelcast.md.
  double barrier_latency = 22, barrier_warp_cycles = 2, barrier_cycles = 80;
  double l1_share = 0.8034;  // of the L1 that is left for data before lines that will be used again are lost
  double l2_share = 0.8381;
  // Of a cache behind the L1 that one launch after another sweeps through, and of that where the L2 lies in parts.
  double swept_share = 0.9, swept_share_of_parts = 0.8;
  double stores_joined =
      0.64;  // of what a warp stores to one sector again at once, before the L2; not fitted: docs/lab/h100.md
  double block_start_cycles =
      1.188;                      // from one block handed out to the next, of all units; not fitted: docs/lab/h100.md
  double warp_start_cycles = 11;  // from one warp of a block to its next, at its start and end; not fitted: same place
  double update_cycles = 1.09;    // from one integer update of a word of global memory to the next, of all units
};
/// The constants of this version.
const Constants& fitted_constants();

/// How bounds overlap: schedulers and arithmetic pipes with each other, and the stages of an SM's memory pipe with each
/// other (pipe_norm); these two with the rest of an SM (unit_norm), the SM with what all SMs share (norm), and all that
/// with a warp's critical path (latency_norm).
enum class BoundGroup : std::uint8_t { pipe, memory, sm, chip, path };

/// The rows of kernelcast_bounds.def.
enum class Limit : std::uint8_t {
#define BOUND(id, name, group, cycles, sentence) id,
#include "model/kernelcast_bounds.def"
  count_
};
inline constexpr std::size_t limit_count = static_cast<std::size_t>(Limit::count_);
BoundGroup group_of(Limit limit);
std::string_view name_of(Limit limit);

/// What the device can do, in cycles of its units. NaN: not known and nothing stands in for it.
struct KernelcastDevice {
  double units = 0, warp = 32, clock_hz = 0;
  double units_per_block = 1;                              // units that hold blocks together
  double issue_per_cycle = 0;                              // warp instructions of a unit
  double issue_interval = 1;                               // cycles from one instruction of a warp to its next
  double fp32_lanes = 0, int_lanes = 0, shared_lanes = 0;  // shared: lanes that do both
  double int_mul_lanes = 0, shift_lanes = 0, fp64_lanes = 0, fp16_lanes = 0, special_lanes = 0, convert_lanes = 0;
  double convert64_lanes = 0, load_store_lanes = 0;
  std::array<double, tensor_type_count> tensor_fma{};  // multiply-adds of matrix instructions, by type; 0: none
  double tensor_warp_share = 1;                        // of these, what instructions of one warp reach
  double tensor_warp_f8_share = 1;                     // likewise for FP8, where that is less
  double shared_bytes_per_cycle = 0, shared_passes_per_cycle = 1;
  double l1_bytes = 0, l1_bytes_per_cycle = 0;
  bool l1_caches_loads = true;
  double l2_bytes = 0, l2_bytes_per_s = 0, dram_bytes_per_s = 0;
  double l3_bytes = 0, l3_bytes_per_s = 0;  // 0 bytes: DRAM stands behind the L2
  double read_only_bytes = 0;               // cache for read-only data, 0: none apart from the L1
  double read_only_bytes_per_cycle = 0;
  double l1_and_shared_bytes = 0;  // storage that both divide among them, 0: they are apart
  double sector_bytes = 32;
  double l2_parts = 1;                          // of the L2, each near some of the units
  std::array<double, latency_count> latency{};  // cycles; global: an L1 hit
  double l2_latency = 0, l3_latency = 0, dram_latency = 0;
  double async_product_latency = 0;  // beyond a product's time on the pipe
  double real_update_cycles = 0;     // from one floating-point update of a word of global memory to the next
  // Other blocks of a cluster: bytes a cycle and unit, cycles of a load, of a barrier and of each further warp at it.
  double cluster_read_bytes = 0, cluster_write_bytes = 0, cluster_latency = 0;
  double cluster_barrier = 0, cluster_barrier_warp = 0;
  double launch_s = 0;  // of an empty grid, on the GPU
  /// Energy of one multiply-add by type, over the square of the clock (J/Hz^2); 0: not known.
  std::array<double, tensor_type_count> tensor_energy{};
  double power_w = 0;  // that work may draw: power limit less idle power; 0: not known
  /// Numbers that the device file does not have, with what stands in: as assumptions, and all that the model reads.
  std::vector<Assumption> stand_ins;
  std::vector<std::pair<Field, double>> fallbacks;
};
KernelcastDevice machine_of(const Device&, const Constants&, bool with_text);
/// Units and L2 at another clock; DRAM takes as many seconds as before.
KernelcastDevice at_clock(const KernelcastDevice&, double clock_hz);

/// What the caches let through: sectors of one launch.
struct Traffic {
  double l1_requested = 0;             // loads that ask the L1
  double l2_read = 0, l2_written = 0;  // sectors between units and L2
  double past_l2 = 0;                  // with an L3: sectors between it and the L2, local memory included
  double l3_read = 0, l3_written = 0;  // with an L3: of them, those that are not of local memory
  double dram_read = 0, dram_written = 0;
  /// Private arrays and spilled registers; not in the others but past_l2. local_past_cache: past the last cache.
  double local = 0, local_past_l1 = 0, local_in_l2 = 0, local_past_l2 = 0, local_past_cache = 0;
  [[nodiscard]] double l1_hits() const { return l1_requested > 0 ? 1 - l2_read / l1_requested : 0; }
  /// Of the reads of the L2, those that the caches from there on serve.
  [[nodiscard]] double l2_hits() const { return l2_read > 0 ? std::max(0.0, 1 - dram_read / l2_read) : 0; }
  /// Sectors that DRAM moves for its writes: sectors that are written in part are fetched first, unless the L2 has
  /// merged them.
  [[nodiscard]] double dram_moved_by_writes(const Workload&, const KernelcastDevice&) const;
  /// Sectors that DRAM moves in all.
  [[nodiscard]] double dram_moved(const Workload& w, const KernelcastDevice& m) const {
    return dram_read + dram_moved_by_writes(w, m) + local_past_cache;
  }
};
Traffic traffic_of(const Workload&, const KernelcastDevice&, const Constants&, double resident_blocks);

/// The first window behind one block's that traffic_of() reads where `blocks` or more are resident: the largest that
/// has no more of them.
int first_window_of(double blocks);

struct BoundTimes {
  std::array<double, limit_count> cycles{};  // of the busiest unit
  Traffic traffic;
  double resident_blocks = 0, rounds = 0, blocks_per_unit = 0;
  double path_cycles = 0;     // critical path of one warp, with what its block cannot overlap over barriers
  double longest_cycles = 0;  // likewise in the block with the longest one
  double global_latency = 0;  // cycles of a wait for global loads, mean over where the slowest finds its data
  double shape_factor = 1;    // times that matrix products take longer than the rates of their types say
  double stages = 0;          // of copies in bulk that are under way at a time, 0: there are none
  double in_both = 0;  // cycles that both the pipes' bounds and the latency bound hold: products that a warp awaits
  double launch_s = 0, clock_hz = 0, norm = 1, unit_norm = 1, pipe_norm = 1, latency_norm = 2;
  std::array<double, latency_count> latency{};  // cycles of a wait, by class, with the data where they are found
  /// Cycles of the bounds of an SM, BoundGroup::pipe and BoundGroup::sm, joined. `of`: as `cycles`.
  [[nodiscard]] double unit_cycles(const std::array<double, limit_count>& of) const;
  /// Seconds; `without`: as if this limit did not exist.
  [[nodiscard]] double seconds(Limit without = Limit::count_) const;
  [[nodiscard]] double seconds_of(Limit l) const { return cycles[static_cast<std::size_t>(l)] / clock_hz; }
};
/// `resident_blocks`: of one unit, grid included. At the machine's clock.
BoundTimes forecast(const Workload&, const KernelcastDevice&, const Constants&, double resident_blocks);
/// The same at the clock that the device holds under this load, launch after launch: BoundTimes::clock_hz, below the
/// machine's where matrix instructions at that clock would draw more than the power limit allows.
BoundTimes sustained_forecast(const Workload&, const KernelcastDevice&, const Constants&, double resident_blocks);

}  // namespace kernelcast::forecast
