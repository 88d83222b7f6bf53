// Constants and experiments as the SKE paper prints them: instruction classes, memory costs, three GPUs, image kernels.
#pragma once

#include <array>
#include <string_view>

#include "model/ske.h"

namespace kernelcast::ske {

/// p_i: cycles of the instruction classes.
namespace cost {
inline constexpr double simple = 4;       // add, mul, compare, bit operations, conversions, barrier
inline constexpr double int_mul = 16;     // 32-bit integer multiply
inline constexpr double reciprocal = 16;  // reciprocal, reciprocal square root, log
inline constexpr double root = 32;        // square root, trigonometric, exponential
inline constexpr double float_div = 36;
inline constexpr double slow = 500;  // double trigonometric, integer division, modulo, control flow
/// q_j: cycles of the memories, table 2: of GTX 680.
inline constexpr double shared = 1, constant = 4, coalesced = 62.5, texture = 300, local = 500, uncoalesced = 500;
}  // namespace cost

/// The paper's table of limits. T = 1 ns and L = 32 are the paper's for the sweep on GTX 670, L = 16 is its
/// section 3.4's for Fermi. It prints no L of GT200: 8 is that GPU's core count (one access a core and cycle). Shared
/// memory of an SM is in table 7, constant memory in (15), for Kepler; registers and blocks in table 3.
inline constexpr SkeDevice gtx_280{30, 8, 8,     32,  Hertz(1e9), 512,       768,
                                   24, 8, 16384, 124, 16 * 1024,  48 * 1024, no_limit};
inline constexpr SkeDevice gtx_480{15, 32, 16,    32, Hertz(1e9), 1024,      1536,
                                   48, 8,  32768, 63, 48 * 1024,  48 * 1024, no_limit};
inline constexpr SkeDevice gtx_670{7,  192, 32,    32, Hertz(1e9), 1024,      2048,
                                   64, 16,  65536, 63, 48 * 1024,  48 * 1024, no_limit};

/// The sweep's kernels: one thread per pixel of a 480 x 270 frame, 20 registers, no shared memory, no barrier.
struct ImageKernel {
  std::string_view name;
  double instruction_cycles, memory_cycles;
};
inline constexpr double resize_instructions = 16 * cost::int_mul + 12 * cost::simple + 3 * cost::simple;  // 316
inline constexpr double resize_memory = 6 * cost::uncoalesced;                                            // 3000
inline constexpr std::array<ImageKernel, 3> image_kernels{
    {{"resize", resize_instructions, resize_memory}, {"RGB to gray", 244, 2000}, {"Gaussian smoothing", 960, 6000}}};
inline constexpr double frame_pixels = 480 * 270;
inline constexpr double image_registers = 20;

}  // namespace kernelcast::ske
