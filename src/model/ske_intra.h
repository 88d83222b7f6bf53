// SKE's two studies of H.264 intra prediction: where to keep data, and how to deal the work to threads.
//
// The source is cut off before its inputs. Taken here, from the reference prediction of the 4x4 diagonal-down-left
// mode:
//  - a macroblock of 16x16 pixels with the row above and the column left of it, in 4-byte values: 17 * 17 * 4 = 1,156
//    bytes, which is the paper's number. 33 values are input, 256 are output;
//  - 16 blocks of 4x4, each with seven distinct values (a + 2b + c + 2) / 4: three neighbour reads and five operations
//    of 4 cycles (a shift, three adds, a shift), and 16 pixels written;
//  - 20 registers a thread, T = 1 ns, accesses to global memory uncoalesced (500 cycles).
#pragma once

#include <vector>

#include "model/ske_studies.h"

namespace kernelcast::ske::intra {

inline constexpr double streams = 3000;  // macroblocks at a time: one of each stream
inline constexpr double input_bytes = 33 * 4, output_bytes = 256 * 4;
inline constexpr double macroblock_bytes = input_bytes + output_bytes;
inline constexpr double registers = 20;

/// Macroblocks whose data all lie in shared memory: on one SM, on the whole GPU SM by SM, and by all shared memory
/// together, as the paper's table 7 has it.
struct Capacity {
  double sm = 0, gpu = 0, together = 0;
};
Capacity capacity(const SkeDevice& m);

/// Every block size that the GPU can launch.
std::vector<double> all_sizes(const SkeDevice& m);
/// Inputs and outputs in shared or global memory, best first, with a thread a macroblock or a thread a pixel.
std::vector<Placement> thread_per_macroblock(const SkeDevice& m);
std::vector<Placement> thread_per_pixel(const SkeDevice& m);
/// The paper's three plans for one 4x4 block of each stream, inputs in shared and outputs in global memory.
std::vector<Plan> plans();

}  // namespace kernelcast::ske::intra
