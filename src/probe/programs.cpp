// Rules for a clean reading (Step 1 of the method): the loop fits the instruction cache and runs twice; the clock is
// read inside; all warps leave a barrier together; nothing but the timed instructions stands between the clock reads.
#include "probe/programs.h"

#include <algorithm>

namespace kernelcast::probe {
namespace {

sm::Instruction plain(sm::Op op, const Encoding& encoding) {
  sm::Instruction i;
  i.op = op;
  i.control = encoding.neutral;
  return i;
}

}  // namespace

Timed timed(const Encoding& encoding, const std::string& name, const std::vector<sm::Instruction>& body,
            std::vector<sm::Access> accesses) {
  Timed out;
  out.program.name = name;
  out.program.accesses = std::move(accesses);
  out.body = static_cast<int>(body.size());
  std::vector<sm::Instruction>& code = out.program.instructions;
  // A read of R0, barrier and clock read end a group, so that the body begins one. The read waits for the last result
  // of a chain of the first pass, which would otherwise reach into the second one's time.
  const int lead = (encoding.group - 3 % encoding.group) % encoding.group;
  for (int i = 0; i < lead; ++i) code.push_back(plain(sm::Op::nop, encoding));
  sm::Instruction wait = plain(sm::Op::move, encoding);
  wait.sources[0] = 0;
  code.push_back(wait);
  code.push_back(plain(sm::Op::barrier, encoding));
  code.push_back(plain(sm::Op::clock, encoding));
  code.insert(code.end(), body.begin(), body.end());
  code.push_back(plain(sm::Op::clock, encoding));
  sm::Instruction branch = plain(sm::Op::branch, encoding);
  branch.target = 0;
  branch.trips = 2;
  code.push_back(branch);
  for (const sm::Instruction& i : code) {
    out.program.registers = std::max(out.program.registers, i.destination + 1);
    for (int source : i.sources) out.program.registers = std::max(out.program.registers, source + 1);
  }
  return out;
}

std::vector<sm::Instruction> independent(sm::Op op, const std::vector<int>& sources,
                                         const std::vector<int>& destinations, int count,
                                         std::optional<std::uint32_t> code) {
  std::vector<sm::Instruction> out;
  for (int i = 0; i < count; ++i) {
    sm::Instruction next;
    next.op = op;
    next.control = code;
    next.destination = static_cast<std::int16_t>(destinations[static_cast<std::size_t>(i) % destinations.size()]);
    for (std::size_t k = 0; k < sources.size() && k < 3; ++k) next.sources[k] = static_cast<std::int16_t>(sources[k]);
    out.push_back(next);
  }
  return out;
}

std::vector<sm::Instruction> chain(sm::Op op, int count, std::optional<std::uint32_t> code) {
  return independent(op, {0}, {0}, count, code);
}

std::span<const sm::Op> division(bool fp64) {
  using enum sm::Op;
  static constexpr sm::Op single[] = {special, ffma, ffma, ffma, ffma, ffma};
  static constexpr sm::Op twice[] = {special, dfma, dfma, dfma, dfma, dfma, dmul, dfma, dfma};
  return fp64 ? std::span<const sm::Op>(twice) : std::span<const sm::Op>(single);
}

std::vector<sm::Instruction> divisions(bool fp64, int count, int chains, std::optional<std::uint32_t> code) {
  std::vector<sm::Instruction> out;
  for (int first = 0; first < count; first += chains)
    for (const sm::Op op : division(fp64))
      for (int k = 0; k < std::min(chains, count - first); ++k)
        out.push_back(independent(op, {k}, {k}, 1, code).front());
  return out;
}

GroupPattern pattern_of(const std::vector<int>& order) {
  GroupPattern out;
  int slot = 0;
  for (int together : order) {
    if (together == 2) out.pairs |= 1U << slot;
    slot += together;
  }
  out.filler = slot;
  out.pairs |= 1U << (slot - 1);
  return out;
}

std::vector<GroupPattern> all_patterns(int slots) {
  std::vector<GroupPattern> out;
  const std::uint32_t ways = 1U << (slots - 1);  // the last slot leads no pair
  for (std::uint32_t pairs = 0; pairs < ways; ++pairs) {
    if ((pairs & (pairs << 1U)) != 0) continue;  // an instruction would be in two pairs
    for (int filler = -1; filler < slots; ++filler) out.push_back({pairs, filler});
  }
  return out;
}

std::vector<sm::Instruction> ffma_groups(const std::vector<Ffma>& tile, int slots, int groups,
                                         const GroupPattern& pattern, std::optional<std::uint32_t> dual,
                                         std::optional<std::uint32_t> neutral) {
  std::vector<sm::Instruction> out;
  std::size_t next = 0;
  for (int i = 0; i < slots * groups; ++i) {
    const int slot = i % slots;
    sm::Instruction instruction;
    instruction.control = neutral;
    if (slot == pattern.filler) {
      instruction.op = sm::Op::nop;
    } else {
      const Ffma& f = tile[next++ % tile.size()];
      instruction = independent(sm::Op::ffma, {f.a, f.b, f.c}, {f.c}, 1, f.control ? f.control : neutral).front();
    }
    if (((pattern.pairs >> slot) & 1U) != 0) instruction.control = dual;
    out.push_back(instruction);
  }
  return out;
}

}  // namespace kernelcast::probe
