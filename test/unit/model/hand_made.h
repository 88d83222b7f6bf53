// Devices and workloads made by hand, for the tests of models.
#pragma once

#include "kernelcast/device.h"
#include "kernelcast/workload.h"

namespace kernelcast::hand_made {

inline void set(Device& d, Field f, double value) {
  d.values[static_cast<std::size_t>(f)] = {value, "made by hand", "test"};
}
inline void forget(Device& d, Field f) { d.values[static_cast<std::size_t>(f)] = {}; }

/// Round numbers that are easy to compute with: 10 units of 8 lanes at 1 GHz.
inline Device device() {
  Device d;
  d.id = "hand-made";
  d.name = "Hand Made 1";
  d.kind = "gpu";
  d.file = "devices/hand-made.toml";
  set(d, Field::compute_units, 10);
  set(d, Field::compute_warp_size, 32);
  set(d, Field::compute_fp32_lanes_per_unit, 8);
  set(d, Field::compute_fp64_lanes_per_unit, 1);
  set(d, Field::compute_load_store_lanes_per_unit, 16);
  set(d, Field::clock_base_clock_hz, 1e9);
  set(d, Field::clock_memory_clock_hz, 0.5e9);
  set(d, Field::limits_max_threads_per_block, 512);
  set(d, Field::limits_max_block_x, 512);
  set(d, Field::limits_max_block_y, 512);
  set(d, Field::limits_max_block_z, 64);
  set(d, Field::limits_max_grid_x, 65535);
  set(d, Field::limits_max_grid_y, 65535);
  set(d, Field::limits_max_grid_z, 1);
  set(d, Field::limits_max_threads_per_unit, 1024);
  set(d, Field::limits_max_warps_per_unit, 32);
  set(d, Field::limits_max_blocks_per_unit, 8);
  set(d, Field::limits_registers_per_unit, 16384);
  set(d, Field::limits_max_registers_per_thread, 124);
  set(d, Field::limits_register_allocation_unit, 512);
  set(d, Field::limits_register_allocation_per_block, 1);
  set(d, Field::limits_warp_allocation_granularity, 2);
  set(d, Field::limits_shared_bytes_per_unit, 16384);
  set(d, Field::limits_shared_bytes_per_block, 16384);
  set(d, Field::limits_shared_allocation_unit, 512);
  set(d, Field::memory_dram_bytes, 1e9);
  set(d, Field::memory_dram_bandwidth_bytes_per_s, 1e11);
  set(d, Field::memory_shared_banks, 16);
  set(d, Field::opencl_quantitative_add_cycles, 24);
  set(d, Field::opencl_quantitative_mul_cycles, 35);
  set(d, Field::opencl_quantitative_div_cycles, 137);
  set(d, Field::opencl_quantitative_special_cycles, 45);
  set(d, Field::opencl_quantitative_global_latency_cycles, 440);
  set(d, Field::opencl_quantitative_local_latency_cycles, 38);
  set(d, Field::opencl_quantitative_lanes_per_unit, 8);
  return d;
}

/// `blocks` x `threads`, nothing executed yet.
inline Workload launch(double blocks, std::int64_t threads) {
  Workload w;
  w.grid = {static_cast<std::int64_t>(blocks), 1, 1};
  w.block = {threads, 1, 1};
  w.blocks = blocks;
  w.threads = blocks * static_cast<double>(threads);
  w.warps_per_block = static_cast<double>((threads + 31) / 32);
  w.warps = blocks * w.warps_per_block;
  w.geometry.shared_banks = 16;
  w.registers_per_thread = 16;
  return w;
}

/// The same operation in each thread.
inline void execute(Workload& w, OpClass c, double times) {
  w.warp_ops[c] += w.warps * times;
  w.thread_ops[c] += w.threads * times;
}

/// The same access of 4 bytes in each warp, `segments` transactions a warp.
inline void access(Workload& w, MemorySpace space, AccessKind kind, double times, double segments, double passes = 0) {
  AccessCount& a = w.by_space[static_cast<int>(space)][static_cast<int>(kind)];
  a.requests += w.warps * times;
  a.lanes += w.threads * times;
  a.bytes += 4 * w.threads * times;
  a.words += w.threads * times;
  a.segments += w.warps * times * segments;
  a.sectors += w.warps * times * segments;
  a.bank_passes += w.warps * times * (space == MemorySpace::global ? segments : passes);
}

}  // namespace kernelcast::hand_made
