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
  // Barrier and clock read end a group, so that the body begins one.
  const int lead = (encoding.group - 2 % encoding.group) % encoding.group;
  for (int i = 0; i < lead; ++i) code.push_back(plain(sm::Op::nop, encoding));
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

std::vector<sm::Instruction> ffma_order(const std::vector<int>& order, int groups, std::uint32_t single,
                                        std::uint32_t dual, int a, int b, const std::vector<int>& accumulators) {
  std::vector<sm::Instruction> out;
  std::size_t next = 0;
  for (int g = 0; g < groups; ++g) {
    for (int together : order)
      for (int k = 0; k < together; ++k) {
        const int accumulator = accumulators[next++ % accumulators.size()];
        sm::Instruction i = independent(sm::Op::ffma, {a, b, accumulator}, {accumulator}, 1, single).front();
        if (together == 2 && k == 0) i.control = dual;
        out.push_back(i);
      }
    out.back().control = dual;  // the filler goes with the FFMA before it
    sm::Instruction filler;
    filler.op = sm::Op::nop;
    filler.control = single;
    out.push_back(filler);
  }
  return out;
}

}  // namespace kernelcast::probe
