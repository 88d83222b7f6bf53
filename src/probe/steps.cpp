#include "probe/steps.h"

#include <algorithm>

#include "kernelcast/error.h"
#include "probe/union_find.h"

namespace kernelcast::probe {
namespace {

constexpr int groups = 105;  // 735 instructions of seven a group: 6.7 KB, inside the instruction caches we know
constexpr int chain_length = 64;
constexpr double free_of_conflict = 0.995;  // the rule of step 2

/// Clock readings of the second pass: the first filled the instruction cache.
std::pair<std::uint64_t, std::uint64_t> second_pass(const std::vector<std::uint64_t>& clocks) {
  if (clocks.size() != 4) throw InternalError("a timed program must read the clock four times");
  return {clocks[2], clocks[3]};
}

std::vector<int> destinations(int above) {
  std::vector<int> out;
  for (int i = 0; i < 24; ++i) out.push_back(above + i);
  return out;
}

/// One warp: cycles between the two clock reads.
double single_warp(const Machine& m, const std::vector<sm::Instruction>& body) {
  const Timed t = timed(m.encoding, "single warp", body);
  const auto [from, to] = second_pass(m.run(t.program, 1).front());
  return static_cast<double>(to - from);
}

}  // namespace

double latency_cycles(const Machine& m, sm::Op op, std::optional<std::uint32_t> code) {
  // Two lengths: what stands around the chain cancels.
  const double one = single_warp(m, chain(op, chain_length, code));
  const double two = single_warp(m, chain(op, 2 * chain_length, code));
  return (two - one) / chain_length;
}

double issue_interval_cycles(const Machine& m, std::optional<std::uint32_t> first,
                             std::optional<std::uint32_t> second) {
  // Whole control groups, so that both lengths have the same alignment; pairs start at the second slot.
  const auto body = [&](int count) {
    std::vector<sm::Instruction> out;
    for (int i = 0; i < count; ++i) {
      const int slot = i % std::max(m.encoding.group, 1);
      const std::optional<std::uint32_t> code = second && slot % 2 == 0 ? second : first;
      out.push_back(independent(sm::Op::ffma, {0, 1, 4}, {32 + i % 24}, 1, code).front());
    }
    return out;
  };
  const int length = 14 * std::max(m.encoding.group, 1);
  return (single_warp(m, body(2 * length)) - single_warp(m, body(length))) / length;
}

double throughput(const Machine& m, const std::vector<sm::Instruction>& body, int counted) {
  const Timed t = timed(m.encoding, "throughput", body);
  std::uint64_t from = ~std::uint64_t{0}, to = 0;
  for (const std::vector<std::uint64_t>& clocks : m.run(t.program, m.warps)) {
    const auto [begin, end] = second_pass(clocks);
    from = std::min(from, begin);
    to = std::max(to, end);
  }
  return static_cast<double>(counted) * m.warps * m.warp_size / static_cast<double>(to - from);
}

Banks register_banks(const Machine& m, int registers, double theoretical) {
  Banks out;
  const int count = groups * 7;
  UnionFind sets(registers);
  std::vector<std::vector<bool>> conflicts(static_cast<std::size_t>(registers),
                                           std::vector<bool>(static_cast<std::size_t>(registers)));
  out.conflict_rate = theoretical;
  for (int a = 0; a < registers; ++a)
    for (int b = a + 1; b < registers; ++b) {
      const auto body = independent(sm::Op::fmul, {b, a}, destinations(registers), count, m.encoding.neutral);
      const double rate = throughput(m, body, count);
      out.free_rate = std::max(out.free_rate, rate);
      out.conflict_rate = std::min(out.conflict_rate, rate);
      ++out.pairs;
      if (rate >= free_of_conflict * theoretical) continue;
      conflicts[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = true;
      sets.join(a, b);
    }
  out.classes = sets.classes();
  for (int a = 0; a < registers; ++a)
    for (int b = a + 1; b < registers; ++b)
      if (conflicts[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] != (sets.root(a) == sets.root(b)))
        out.transitive = false;
  return out;
}

std::vector<CodeMeaning> control_codes(const Machine& m) {
  std::vector<CodeMeaning> out;
  const double neutral = issue_interval_cycles(m, m.encoding.neutral, std::nullopt);
  for (int code = 0; code < m.codes; ++code) {
    const auto c = static_cast<std::uint32_t>(code);
    CodeMeaning meaning;
    meaning.interval = issue_interval_cycles(m, c, std::nullopt);
    // Between neutral ones: a code that issues with its successor makes the whole faster than neutral codes alone.
    meaning.dual = issue_interval_cycles(m, c, m.encoding.neutral) < 0.9 * neutral;
    if (meaning.dual) meaning.interval = 0;
    out.push_back(meaning);
  }
  return out;
}

LinearField linear_field(const std::vector<CodeMeaning>& codes) {
  LinearField best;
  const int count = static_cast<int>(codes.size());
  const auto interval = [&](int i) { return codes[static_cast<std::size_t>(i)].interval; };
  for (int first = 0; first + 1 < count; ++first) {
    const double slope = interval(first + 1) - interval(first);
    if (slope <= 0) continue;
    int last = first + 1;
    while (last + 1 < count && interval(last + 1) - interval(last) == slope) ++last;
    if (last - first > best.last - best.first) best = {first, last, slope, interval(first)};
  }
  return best;
}

double order_fraction(const Machine& m, const std::vector<int>& order, std::uint32_t dual, const Banks& banks) {
  if (banks.classes.size() < 4) throw InternalError("the orders of step 4 are written for four banks");
  // The multiplied registers of two banks stay in the operand cache; accumulators alternate between the other two.
  std::vector<int> accumulators;
  const std::size_t each = std::min(banks.classes[2].size(), banks.classes[3].size());
  for (std::size_t i = 0; i < each; ++i) {
    accumulators.push_back(banks.classes[2][i]);
    accumulators.push_back(banks.classes[3][i]);
  }
  const auto body = ffma_order(order, groups, *m.encoding.neutral, dual, banks.classes[0].front(),
                               banks.classes[1].front(), accumulators);
  return throughput(m, body, groups * 6) / m.lanes;
}

std::vector<std::vector<int>> all_orders() {
  return {{1, 2, 2, 1}, {2, 1, 2, 1}, {2, 2, 1, 1}, {1, 1, 2, 2}, {2, 1, 1, 2}, {1, 2, 1, 2}};
}

}  // namespace kernelcast::probe
