// The frame of a clocked kernel: parameters, registers, loop, readings of the clock (ptx.h).
#pragma once

#include <string>

namespace kernelcast::probe::cuda {

/// A kernel around `body`. `setup` declares and loads, `finish` leaves the result in %result (u64). Free for all three:
/// %d0 to %d7 (u64), %i0 to %i7 (u32), %one and %other (predicates).
struct Kernel {
  std::string name, declarations, setup, body, finish;
  std::string target = "50", version = "6.0";  // of the architecture, of PTX
  std::string directives;                      // of the entry: lines
  int passes = 2;
  bool barrier = true;  // the block's warps begin together
  std::string shared;   // declaration
};
std::string module_of(const Kernel& k);

}  // namespace kernelcast::probe::cuda
