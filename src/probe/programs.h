// The micro-benchmark programs of the four steps, for machines that run our instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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

/// A division as NVIDIA's compilers write it, without the branch for exponents out of range (ptxas 13.0 for sm_80, in
/// order): a reciprocal, two steps of Newton (FP64: four), the quotient, its remainder, the corrected quotient.
std::span<const sm::Op> division(bool fp64);
/// `count` divisions, each by the result of the one before; with several `chains`, of as many registers in turn.
std::vector<sm::Instruction> divisions(bool fp64, int count, int chains, std::optional<std::uint32_t> code);

/// c += a * b. `control`: nothing is the code of everything that is not under test.
struct Ffma {
  int a = 0, b = 0, c = 0;
  std::optional<std::uint32_t> control;
};

/// How step 4 fills a control group. Bit s of `pairs`: the instruction of slot s goes together with its successor.
struct GroupPattern {
  std::uint32_t pairs = 0;
  int filler = -1;  // slot of an instruction that is no arithmetic; -1: all slots are FFMA
};
/// Six FFMA of a group of seven slots issued alone (1) or in pairs (2) as `order` says, and a filler in the last slot
/// that goes with the FFMA before it.
GroupPattern pattern_of(const std::vector<int>& order);
/// All ways to pair the instructions of a group with one filler or none. No pair reaches into the next group.
std::vector<GroupPattern> all_patterns(int slots);

/// `groups` control groups of `slots` instructions as `pattern` says; FFMA are taken from `tile` in turn.
std::vector<sm::Instruction> ffma_groups(const std::vector<Ffma>& tile, int slots, int groups,
                                         const GroupPattern& pattern, std::optional<std::uint32_t> dual,
                                         std::optional<std::uint32_t> neutral);

}  // namespace kernelcast::probe
