// The micro-benchmark programs of the four steps, for machines that run our instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernelcast/sm.h"

namespace kernelcast::probe {

/// What is public about the encoding: instructions of a control group, and the code that issues at full speed.
struct Encoding {
  int group = 1;                         // instructions that share a control word
  std::optional<std::uint32_t> neutral;  // code of everything that is not under test; nothing: hardware schedules
};

/// Body between two clock reads, in a loop that runs twice behind a barrier: the first pass fills the instruction
/// cache, the clock reads of the second count. The body starts at the first slot of a control group.
struct Timed {
  sm::Program program;
  int body = 0;  // instructions between the clock reads
};

Timed timed(const Encoding& encoding, const std::string& name, const std::vector<sm::Instruction>& body,
            std::vector<sm::Access> accesses = {});

/// `count` instructions that do not depend on each other. Destinations go through `destinations` in turn.
std::vector<sm::Instruction> independent(sm::Op op, const std::vector<int>& sources,
                                         const std::vector<int>& destinations, int count,
                                         std::optional<std::uint32_t> code);
/// `count` instructions each of which needs the result of the one before.
std::vector<sm::Instruction> chain(sm::Op op, int count, std::optional<std::uint32_t> code);

/// Step 4 on control groups of seven: six FFMA issued alone (1) or in pairs (2) as `order` says, a filler in the last
/// slot that goes with the FFMA before it, `groups` times. `a` and `b` are the multiplied registers, accumulators take
/// turns.
std::vector<sm::Instruction> ffma_order(const std::vector<int>& order, int groups, std::uint32_t single,
                                        std::uint32_t dual, int a, int b, const std::vector<int>& accumulators);

}  // namespace kernelcast::probe
