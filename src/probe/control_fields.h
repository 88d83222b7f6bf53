// Step 3 for codes whose fields do not depend on each other (the 21 bits of Maxwell and later): what each bit does
// beyond the stall, from clock readings.
#pragma once

#include "probe/steps.h"

namespace kernelcast::probe {

/// A bit of an instruction's code that makes it wait for a barrier.
struct WaitBit {
  int barrier = 0, bit = 0;
  bool operator==(const WaitBit&) const = default;
};
inline constexpr int barriers = 6;  // that the encoding has room for
enum class Barrier : std::uint8_t { write, read };
/// A load sets each barrier of that kind, for its result or for its operands; the instruction behind it, which needs
/// neither, carries each bit of the code in turn. Those that make it slower. `m.barrier` must be set.
std::vector<WaitBit> wait_bits(const TestedSm& m, Barrier kind);

/// Throughput of FFMA on three registers of one bank as a fraction of peak under each set of reuse flags, 0 to 7.
/// `m.reuse` must be set.
std::vector<double> reuse_fractions(const TestedSm& m, const std::vector<int>& one_bank);

}  // namespace kernelcast::probe
