// Steps of the pipeline behind the optimized kernel: regions of the source, target code, profile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/code/nvidia/nvrtc.h"
#include "frontend/code/target_code.h"
#include "kernelcast/frontend.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace kernelcast::frontend {

/// Gives every instruction of the optimised kernel that stands in one of the regions, by itself or through the calls by
/// which it was inlined, and every loop that begins there, the line region_line() has for it. Whoever counts by line
/// afterwards counts by region.
void mark_regions(llvm::Function& kernel, const std::vector<CodeRegion>& regions);

/// Makes code for `target` (sm_NN, gfxNNN) from a clone of the module, whose triple must be the target's, and counts
/// it. Blocks of the kernel need unique names. `ptxas`: path of NVIDIA's
/// assembler for analyze_ptx(), empty: none. `nvrtc`: see there. Throws LimitError with LLVM's message when
/// code cannot be generated.
TargetCode generate_target_code(const llvm::Module& module, const std::string& kernel_symbol, const std::string& target,
                                bool fast_math, const std::string& ptxas = "",
                                const std::optional<NvrtcCode>& nvrtc = {});

/// Joins structure (read from the IR) and operation counts (read from the target's code, by block name). Every
/// operation of `code` lands in exactly one block of the profile. With `program` also decodes the kernel for execution,
/// or says in `out.no_program` why that cannot be. `tensor_maps`: Source::tensor_maps.
void build_profile(llvm::Function& kernel, const TargetCode& code, const std::vector<TensorBox>& tensor_maps,
                   bool program, Analysis& out);

/// Instructions and labels of a code's text, with the places that `.loc` directives give.
std::vector<TargetLine> lines_of_code(std::string_view text);

}  // namespace kernelcast::frontend
