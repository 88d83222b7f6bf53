// Loops that threads share, as Clang compiles them: the body becomes a function of its own that every thread runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/lower/loop_nest.h"
#include "frontend/source/compile.h"

namespace llvm {
class Function;
}

namespace kernelcast::frontend {

/// The text with an OpenMP directive before the `for` of each of these loops, on the same line. Clauses of `pragmas`
/// that say whose a variable is are kept. Nothing when a loop does not begin with the word `for` where it is said to,
/// or a clause is met that this does not know how to count (reductions, schedules).
std::optional<std::string> share_loops(const std::string& text, const std::vector<LoopPlace>& loops,
                                       const std::vector<LoopPragma>& pragmas);

/// The functions whose code `f` gives to threads, in order of their calls.
std::vector<llvm::Function*> forked_functions(const llvm::Function& f);

/// For counting, in a copy: the blocks of forked functions become blocks of `f` under their own names, and one thread
/// has all iterations. False, with `f` no longer of use, when the runtime library is called for anything else.
bool join_forked_functions(llvm::Function& f);

}  // namespace kernelcast::frontend
