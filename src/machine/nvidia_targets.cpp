// Sources. Latencies: latency.fp32_cycles of the generations (devices/arch), Kepler's for Fermi, too. Reconvergence,
// seen in code of ptxas 11.8 and 12.4: BSSY and BSYNC from Volta on, with a BMOV before Ampere; SSY and SYNC on Maxwell
// and Pascal; SSY before, where the join is a flag of an instruction. Registers: CUDA C++ Programming Guide, table
// "Technical Specifications per Compute Capability". Full occupancy: registers of an SM over its threads; 64 on Turing
// (65536 / 1024) is not sought, and on sm_86 to sm_89 42 are 40 in units of 8.
#include "machine/nvidia_targets.h"

#include <algorithm>
#include <array>

namespace kernelcast::machine {
namespace {

constexpr std::array<NvidiaTarget, 20> targets{{
    // sm, arithmetic, reconvergence, registers of an SM and a thread, full occupancy, first of a generation
    {20, 9, 1, 32768, 63, 32768.0 / 1536, true},
    {21, 9, 1, 32768, 63, 32768.0 / 1536, false},
    {30, 9, 1, 65536, 63, 32, true},
    {32, 9, 1, 65536, 63, 32, false},
    {35, 9, 1, 65536, 255, 32, false},
    {37, 9, 1, 65536, 255, 64, false},
    {50, 6, 2, 65536, 255, 32, true},
    {52, 6, 2, 65536, 255, 32, false},
    {53, 6, 2, 65536, 255, 32, false},
    {60, 6, 2, 65536, 255, 32, true},
    {61, 6, 2, 65536, 255, 32, false},
    {62, 6, 2, 65536, 255, 32, false},
    {70, 4, 3, 65536, 255, 32, true},
    {72, 4, 3, 65536, 255, 32, false},
    {75, 4, 3, 65536, 255, 48, false},
    {80, 4, 2, 65536, 255, 32, true},
    {86, 4, 2, 65536, 255, 40, false},
    {87, 4, 2, 65536, 255, 40, false},
    {89, 4, 2, 65536, 255, 40, false},
    {90, 4, 2, 65536, 255, 32, true},
}};

}  // namespace

std::span<const NvidiaTarget> nvidia_targets() { return targets; }

const NvidiaTarget& nvidia_target(int sm) {
  const auto after = std::upper_bound(targets.begin(), targets.end(), sm,
                                      [](int value, const NvidiaTarget& t) { return value < t.sm; });
  return after == targets.begin() ? targets.front() : *(after - 1);
}

}  // namespace kernelcast::machine
