#include "probe/steps.h"

#include <algorithm>

namespace kernelcast::probe {
namespace {

/// Cycles of a load and an addition that does not need it.
double pair_cycles(const TestedSm& m, std::uint32_t load_code, std::uint32_t add_code) {
  sm::Instruction load;
  load.op = sm::Op::load_global;
  load.destination = 8;
  load.sources[0] = 4;
  load.access = 0;
  load.control = load_code;
  const std::vector<sm::Instruction> body = {load, independent(sm::Op::fadd, {1, 2}, {9}, 1, add_code).front()};
  sm::Access one_word;
  one_word.lane_step = 0;
  const Timed t = timed(m.encoding, "barrier", body, {one_word});
  const std::vector<std::uint64_t> clocks = m.run(t.program, 1).front();
  return static_cast<double>(clocks.at(3) - clocks.at(2));
}

}  // namespace

std::vector<WaitBit> wait_bits(const TestedSm& m, Barrier kind) {
  std::vector<WaitBit> out;
  const std::uint32_t neutral = m.barrier(-1, -1);
  for (int barrier = 0; barrier < barriers; ++barrier) {
    const std::uint32_t sets = kind == Barrier::write ? m.barrier(barrier, -1) : m.barrier(-1, barrier);
    const double alone = pair_cycles(m, sets, neutral);
    for (int bit = 0; bit < 21; ++bit) {
      const std::uint32_t code = neutral | 1U << bit;
      // What the bit does without the barrier, as those of the stall, is no waiting.
      const double own = pair_cycles(m, neutral, code) - pair_cycles(m, neutral, neutral);
      if (pair_cycles(m, sets, code) > alone + own) out.push_back({barrier, bit});
    }
  }
  return out;
}

std::vector<double> reuse_fractions(const TestedSm& m, const std::vector<int>& one_bank) {
  std::vector<double> out;
  for (unsigned flags = 0; flags < 8; ++flags) {
    const auto body =
        independent(sm::Op::ffma, {one_bank.at(0), one_bank.at(1), one_bank.at(2)},
                    {70, 71, 72, 73, 74, 75, 76, 77, 78, 79}, m.body, m.reuse(1, static_cast<std::uint8_t>(flags)));
    out.push_back(throughput(m, body, m.body) / m.lanes);
  }
  return out;
}

}  // namespace kernelcast::probe
