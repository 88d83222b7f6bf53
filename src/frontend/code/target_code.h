// The code that the target's compiler makes of a kernel, counted per basic block of the IR.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernelcast/launch.h"
#include "kernelcast/ops.h"
#include "kernelcast/profile.h"

namespace kernelcast::frontend {

/// The operations of one source line inside one block.
struct LineCount {
  int line = 0;      // 0: unknown
  std::string file;  // as debug information names it
  OpCounts ops;
};

/// What one IR basic block became. Sums of `lines` are `ops`.
struct CodeBlock {
  std::string name;           // of the IR block
  OpCounts ops;               // of one execution by one lane; scalar_* of one execution by a warp
  OpCounts issued_elsewhere;  // what its lanes do besides, issued predicated by another block; negative in that one
  std::vector<LineCount> lines;
  Stalls stalls;                     // of one execution by one warp
  std::vector<BarrierPhase> phases;  // likewise
  std::vector<AsyncEvent> events;    // likewise
  int instructions = 0;              // instructions of the assembly text, also those that cost nothing
  bool predicated = false;           // its conditional branch is not made: the paths behind it are predicated
};

struct TargetCode {
  std::vector<CodeBlock>
      blocks;  // one for each block of the kernel, in the order of the IR; empty blocks have no operations
  Registers registers;
  std::int64_t stack_bytes = 0;  // private memory of a thread: arrays and spills
  std::int64_t static_shared_bytes = 0;
  std::vector<Assumption> assumptions;  // unknown instructions and functions, a stand-in for the target
  std::string target;                   // what code was made for: `target`, or the next one that could do it
  std::string assembly;                 // the text that was counted
};

}  // namespace kernelcast::frontend
