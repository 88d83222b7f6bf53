// From PTX text to counts, registers and memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/code/nvidia/ptxas.h"
#include "frontend/code/target_code.h"

namespace kernelcast::frontend {

/// Counts and register estimate of one entry of `text`, made for sm_`sm`. `max_threads_per_block` (0: not declared)
/// caps the registers as `__launch_bounds__` does. `ir_blocks` as in join_blocks(). The code of
/// `assembler`, if one is named and takes the text, is counted in place of the PTX. Registers, spilled bytes and shared
/// memory are those of `nvrtc`, if it is given, whatever is counted; estimated accesses to spills are then counted only
/// where it spills, too.
TargetCode analyze_ptx(std::string_view text, const std::string& kernel_symbol, int sm,
                       std::int64_t max_threads_per_block, const std::vector<std::string>& ir_blocks,
                       const Assembler& assembler = {}, const std::optional<NvrtcCode>& nvrtc = {});

}  // namespace kernelcast::frontend
