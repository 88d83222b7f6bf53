// The four kernels of the OpenCL paper with the counts that it states, and its two GPUs. The text decides; where it is
// silent, the choice stands at the kernel and in docs/reference/papers.md.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "model/opencl_quantitative.h"

namespace kernelcast::opencl_quantitative::paper {

/// GeForce GTX 280. The paper prints ADD 24 and the special functions' 45. Its print of MUL and DIV ("357") is damaged:
/// 35 is our reading, unconfirmed, and DIV is Wong et al.'s (ISPASS 2010); so are GM_L and LM_L, which the paper does
/// not print.
QuantitativeDevice gtx_280();
/// Radeon HD 5870 with given costs: the paper prints none.
QuantitativeDevice hd_5870(double instruction, double global_latency, double local_latency);
/// Costs over which its orderings are tried, independently of each other, nine values each: an instruction 1 to 100
/// cycles, GM_L 10 to 1000, LM_L 1 to 100. 729 machines.
std::vector<QuantitativeDevice> hd_5870_costs();

struct KernelLaunch {
  Kernel kernel;
  QuantitativeLaunch launch;
};

inline constexpr double side = 1024;       // matrices are side x side
inline constexpr double elements = 65536;  // of the prefix sums
inline constexpr int rounds = 16;          // log2(elements)

/// C = A * B, a work-item per element: a row of A is served by one transaction a batch, a column of B by one for each
/// work-item; the write is counted 1024 times, as the paper does.
KernelLaunch mm_global(double group, double batch = 32);
/// Tiles of width x height. The outer loop makes 1024/width steps, the inner one `height`: 1024/8 * 16 multiply-adds
/// for 8x16, twice those of 8x8, as the paper has it. Memory does not change with the tile: 3 * 1024 coalesced global
/// and 2 * 1024 conflict-free local accesses. A flat barrier and one by (12) a step.
KernelLaunch mm_local(double width, double height, double batch = 32);
/// Naive scan, an element a work-item, as the paper counts it: 15 = ceil(log2(65536) - 1) additions, one global access
/// (the write) and two barriers in all, the first flat, the second by (12). A round copies (two local accesses); the
/// paper counts none for the operands of the additions and for the value written: ours are three an addition, and one.
KernelLaunch pps_br(double group, double batch = 32);
/// Tree scan, two elements a work-item. Round r of each sweep has stride 2^r and 65,536 / 2^r active work-items. Up: an
/// add; down: a copy and an add. Three barriers: two flat, one by (12). The accesses are ours: two loads and a store
/// up, two and two down; at the ends two elements a work-item move between global and local memory, neighbours two
/// words apart: a 128-byte transaction serves 16 work-items, and local memory conflicts two ways.
KernelLaunch pps_conf(double group, double batch = 32);

/// One bar of the paper's figures 9 to 12.
struct Configuration {
  const char* kernel;
  const char* configuration;  // "64", "8x16"
  int figure;
  KernelLaunch (*make)(double batch);
};
/// All twelve, in the paper's order.
const std::vector<Configuration>& configurations();

/// An ordering of two configurations on HD 5870, tried on all of these.
struct Ordering {
  std::string faster, slower;  // "MM_Local 8x8"
  std::array<int, 3> holds;    // machines of 729 on which it holds, by reading as in `Variant`
};
std::vector<Ordering> hd_5870_orderings();

}  // namespace kernelcast::opencl_quantitative::paper
