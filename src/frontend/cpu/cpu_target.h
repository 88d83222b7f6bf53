// Code for x86-64 CPUs: target machine, pipeline, assembly, and its instructions as the scheduling model has them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/ir/machine_code.h"
#include "kernelcast/cpu_code.h"

namespace llvm {
class Function;
class Module;
class TargetMachine;
}  // namespace llvm

namespace kernelcast::frontend {

/// "host" is the machine we run on, with the features that its operating system allows. Throws LimitError when LLVM
/// does not know the CPU or has no scheduling model of it.
std::unique_ptr<llvm::TargetMachine> make_cpu_machine(const std::string& cpu, int optimization);
/// The same for code that any x86-64 CPU runs.
std::unique_ptr<llvm::TargetMachine> make_baseline_machine(int optimization);

/// LLVM's default pipeline at a level, 0 to 3. `unroll`: loops of the source that no pragma asks to unroll.
struct CpuPipeline {
  int optimization = 3;
  bool simd = true;
  bool unroll = true;
};

/// Appends what the vectoriser said of each loop.
void optimize_for_cpu(llvm::Module& module, llvm::TargetMachine& machine, const CpuPipeline& pipeline,
                      std::vector<CpuLoopCode>& loops);

/// What LLVM does with a function before it looks at vectors and at unrolling, at level 3.
void simplify_for_cpu(llvm::Function& f, llvm::TargetMachine& machine);

/// Verbose assembly text. Throws LimitError with LLVM's message.
std::string cpu_assembly(llvm::Module& module, llvm::TargetMachine& machine);

/// The machine code of one function, by blocks of the IR.
struct CpuInstructions {
  std::vector<CoreInstruction> instructions;  // in layout order; `block` indexes `blocks`
  std::vector<std::string> blocks;            // IR names, in layout order
  Core core;
  double mispredict_cycles = 0;
  std::vector<std::string> calls;  // functions that are called
};

/// Reads the assembly of these functions, whose blocks have names of their own. Blocks without an IR name count for the
/// one before.
CpuInstructions cpu_instructions(const std::string& assembly, const std::vector<std::string>& symbols,
                                 llvm::TargetMachine& machine, const CpuCodeOptions& options);

}  // namespace kernelcast::frontend
