// A plain C or C++ loop nest as a kernel: the marked loops become work-items.
#pragma once

#include <string>
#include <vector>

#include "frontend/ir/builtins.h"
#include "frontend/source/compile.h"
#include "kernelcast/expr.h"

namespace kernelcast::frontend {

struct MappedNest {
  int axes = 0;
  std::vector<Expr> extent;  // iterations along x, y, z; empty when one of them depends on an outer loop or on data
};

/// Rewrites `symbol` into a kernel for `family`: each loop of `map` (counter names, outermost first) or, if that is
/// empty, each loop marked by an OpenMP or OpenACC pragma runs one iteration per work-item, the innermost along x. The
/// bound stays as a guard. Returns the number of axes. Throws UserError when no loop is marked, a name is no loop
/// counter, or a loop carries a value from one iteration to the next.
MappedNest map_loop_nest(llvm::Module& module, const std::string& symbol, const std::vector<std::string>& map,
                         const std::vector<LoopPragma>& pragmas, TargetFamily family);

/// Where the word that begins a loop stands, from 1 on; 0: not known.
struct LoopPlace {
  int line = 0, column = 0;
};

/// The outermost loops that `map` names or pragmas mark; empty when there are none. Reads a copy.
std::vector<LoopPlace> outermost_marked_loops(const llvm::Module& module, const std::string& symbol,
                                              const std::vector<std::string>& map,
                                              const std::vector<LoopPragma>& pragmas);

}  // namespace kernelcast::frontend
