// Which way 64-bit divisions go: the short one, of operands that fit in 32 bits, or the long one.
#pragma once

namespace llvm {
class Function;
}

namespace kernelcast::frontend {

/// Replaces each 64-bit division and remainder by the way that it is likely to go at run time, with the compiler's
/// test, so that the code generator does not write both. Short where no operand is likely to exceed 32 bits. Returns
/// whether any is short by that guess. Divisions by constants and those that are known to be short stay as they are.
bool choose_ways_of_divisions(llvm::Function& kernel, bool nvidia);

}  // namespace kernelcast::frontend
