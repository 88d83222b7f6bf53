// Sources. Latencies: latency.fp32_cycles of the generations (devices/arch), Kepler's for Fermi, too. Reconvergence,
// seen in code of ptxas 11.8 and 12.4: BSSY and BSYNC from Volta on, with a BMOV before Ampere; SSY and SYNC on Maxwell
// and Pascal; SSY before, where the join is a flag of an instruction. Registers: CUDA C++ Programming Guide, table
// "Technical Specifications per Compute Capability". Full occupancy: registers of an SM over its threads; 64 on Turing
// (65536 / 1024) is not sought, and on sm_86 to sm_89 42 are 40 in units of 8. Instructions: code of ptxas
// (tools/measure/register_table.py, docs/lab/registers.md).
#include "machine/nvidia_targets.h"

#include <algorithm>
#include <array>

namespace kernelcast::machine {
namespace {

constexpr bool x = true, o = false;
constexpr std::array<NvidiaTarget, 20> targets{{
    // sm, arithmetic, reconvergence, registers of an SM and a thread, full occupancy; first of a generation, SHF, three
    // inputs, IMAD.WIDE, factor in a register, descriptor, loaded constants, readable
    {20, 9, 1, 32768, 63, 32768.0 / 1536, x, o, o, o, x, o, o, o},
    {21, 9, 1, 32768, 63, 32768.0 / 1536, o, o, o, o, x, o, o, o},
    {30, 9, 1, 65536, 63, 32, x, o, o, o, x, o, o, o},
    {32, 9, 1, 65536, 63, 32, o, x, o, o, x, o, o, o},
    {35, 9, 1, 65536, 255, 32, o, x, o, o, x, o, o, o},
    {37, 9, 1, 65536, 255, 64, o, x, o, o, x, o, o, o},
    {50, 6, 2, 65536, 255, 32, x, x, x, o, o, o, o, o},
    {52, 6, 2, 65536, 255, 32, o, x, x, o, o, o, o, o},
    {53, 6, 2, 65536, 255, 32, o, x, x, o, o, o, o, o},
    {60, 6, 2, 65536, 255, 32, x, x, x, o, o, o, o, o},
    {61, 6, 2, 65536, 255, 32, o, x, x, o, o, o, o, o},
    {62, 6, 2, 65536, 255, 32, o, x, x, o, o, o, o, o},
    {70, 4, 3, 65536, 255, 32, x, x, x, x, x, o, o, x},
    {72, 4, 3, 65536, 255, 32, o, x, x, x, x, o, o, x},
    {75, 4, 3, 65536, 255, 48, o, x, x, x, x, o, o, x},
    {80, 4, 2, 65536, 255, 32, x, x, x, x, x, x, o, x},
    {86, 4, 2, 65536, 255, 40, o, x, x, x, x, x, o, x},
    {87, 4, 2, 65536, 255, 40, o, x, x, x, x, x, o, x},
    {89, 4, 2, 65536, 255, 40, o, x, x, x, x, x, o, x},
    {90, 4, 2, 65536, 255, 32, x, x, x, x, o, x, x, x},
}};

}  // namespace

std::span<const NvidiaTarget> nvidia_targets() { return targets; }

const NvidiaTarget& nvidia_target(int sm) {
  const auto after = std::upper_bound(targets.begin(), targets.end(), sm,
                                      [](int value, const NvidiaTarget& t) { return value < t.sm; });
  return after == targets.begin() ? targets.front() : *(after - 1);
}

}  // namespace kernelcast::machine
