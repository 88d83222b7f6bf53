// Ways out of a loop that are known before its test is reached.
#pragma once

namespace llvm {
class Function;
}

namespace kernelcast::frontend {

/// Where a path leads to the test of a loop's exit with a value that ends the loop (`return -1;` of an inlined
/// scheduler of tiles before `tile >= 0`, `return false;`), it leaves the loop at once. What such a path carries around
/// the loop is then no more in the way of the loop's count. The function is to be in LCSSA form, and may not be
/// afterwards. Returns whether anything changed.
bool leave_loops_early(llvm::Function& function);
/// Whether it would change anything; the function may have any form.
bool may_leave_loops_early(llvm::Function& function);

}  // namespace kernelcast::frontend
