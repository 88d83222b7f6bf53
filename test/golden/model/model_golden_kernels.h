// The four kernels of the OpenCL paper with its own counts, and GeForce GTX 280 with its constants.
//
// What the paper leaves open is settled here, and in docs/model/opencl-quantitative.md: a barrier by formula (12) waits
// for the computation since the barrier before it; tiles of 8x16 go in steps of 8; a scan's rounds, log2 of the whole
// 65,536 elements, each hold the barriers of their loop body; local accesses are those of the textbook scans.
#pragma once

#include <cmath>
#include <cstdint>

#include "model/opencl_quantitative.h"

namespace kernelcast::opencl_quantitative::golden {

inline Machine gtx_280() {
  Machine m;
  m.compute_units = 30;
  m.processing_elements = 8;
  m.batch = 32;
  m.banks = 16;
  m.shader_clock = Hertz(1.296e9);
  m.memory_clock = Hertz(1.107e9);
  m.add = Cycles<per::Thread>(24);
  m.mul = Cycles<per::Thread>(35);
  m.div = Cycles<per::Thread>(137);
  m.special = Cycles<per::Thread>(45);
  m.global_latency = Cycles<per::None>(440);
  m.local_latency = Cycles<per::None>(38);
  return m;
}

struct KernelLaunch {
  Kernel kernel;
  Launch launch;
};

inline constexpr double n = 1024;          // matrices are n x n
inline constexpr double elements = 65536;  // of the prefix sums
inline constexpr int rounds = 16;          // log2(elements)

/// C = A * B, a work-item per element: a row of A is served by one transaction a batch, a column of B by one for each
/// work-item; the write is counted 1024 times, as the paper does.
inline KernelLaunch mm_global(double group, double batch = 32) {
  Kernel k;
  k.instructions = {n, n, 0, 0};
  k.global = {{n, batch}, {n, 1}, {n, batch}};
  return {k, {n * n, n * n / group}};
}

/// Tiles of width x height: coalesced loads of both tiles and the write, conflict-free local reads, two barriers a
/// tile.
inline KernelLaunch mm_local(double width, double height, double batch = 32) {
  Kernel k;
  k.instructions = {n, n, 0, 0};
  k.global = {{3 * n, batch}};
  k.local = {{2 * n, 1}};
  const double tiles = n / width;
  k.flat_barriers = tiles;
  k.barriers = {{tiles, 1 / tiles}};
  return {k, {n * n, n * n / (width * height)}};
}

/// Naive scan, an element a work-item. Round: copy (a load and a store of local memory), barrier, then an add for
/// `id >= offset` (two loads and a store), barrier. Before and after: global load to local store, local load to global
/// store.
inline KernelLaunch pps_br(double group, double batch = 32) {
  Kernel k;
  k.global = {{2, batch}};
  k.local = {{2 + rounds * (2 + 3), 1}};
  k.branches = {{rounds, default_divergence, {{1, 0, 0, 0}, {}}}};
  k.flat_barriers = rounds;
  k.barriers = {{rounds, 1.0 / rounds}};
  return {k, {elements, elements / group}};
}

/// Tree scan, two elements a work-item. Round r of each sweep has stride 2^r and 65,536 / 2^r active work-items. Up: an
/// add (two loads, a store); down: a copy and an add (two loads, two stores). Three barriers: two flat, one by (12).
/// At the ends two elements a work-item move between global and local memory, neighbours two words apart: a 128-byte
/// transaction serves 16 work-items, and local memory conflicts two ways.
inline KernelLaunch pps_conf(double group, double /*batch*/ = 32) {
  Kernel k;
  k.instructions = {2 * rounds, 0, 0, 0};
  k.global = {{4, 16}};
  k.local = {{4, 2}};
  for (int r = 1; r <= rounds; ++r) {
    k.local.push_back({3 + 4, std::int64_t{1} << r, std::ldexp(elements, -r)});
  }
  k.flat_barriers = 2;
  k.barriers = {{1, 1}};
  return {k, {elements / 2, elements / 2 / group}};
}

}  // namespace kernelcast::opencl_quantitative::golden
