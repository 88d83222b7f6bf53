#include "probe/steps.h"

#include <algorithm>

#include "kernelcast/error.h"
#include "probe/union_find.h"

namespace kernelcast::probe {
namespace {

constexpr int slots = 7;  // of a control group of step 4
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
double single_warp(const TestedSm& m, const std::vector<sm::Instruction>& body) {
  const Timed t = timed(m.encoding, "single warp", body);
  const auto [from, to] = second_pass(m.run(t.program, 1).front());
  return static_cast<double>(to - from);
}

}  // namespace

double latency_cycles(const TestedSm& m, sm::Op op, std::optional<std::uint32_t> code) {
  // Two lengths: what stands around the chain cancels.
  const double one = single_warp(m, chain(op, chain_length, code));
  const double two = single_warp(m, chain(op, 2 * chain_length, code));
  return (two - one) / chain_length;
}

double division_latency_cycles(const TestedSm& m, bool fp64, std::optional<std::uint32_t> code) {
  // Whole control groups in both lengths.
  const int length = 4 * std::max(m.encoding.group, 1);
  const double one = single_warp(m, divisions(fp64, length, 1, code));
  const double two = single_warp(m, divisions(fp64, 2 * length, 1, code));
  return (two - one) / length;
}

double issue_interval_cycles(const TestedSm& m, std::optional<std::uint32_t> first,
                             std::optional<std::uint32_t> second) {
  // Whole control groups, so that both lengths have the same alignment; pairs start at the second slot.
  const auto body = [&](int count) {
    std::vector<sm::Instruction> out;
    for (int i = 0; i < count; ++i) {
      const int slot = i % std::max(m.encoding.group, 1);
      const std::optional<std::uint32_t> code = second && slot % 2 == 0 ? second : first;
      out.push_back(independent(sm::Op::ffma, {0, 1, 0}, {32 + i % 24}, 1, code).front());
    }
    return out;
  };
  const int length = 14 * std::max(m.encoding.group, 1);
  return (single_warp(m, body(2 * length)) - single_warp(m, body(length))) / length;
}

double throughput(const TestedSm& m, const std::vector<sm::Instruction>& body, int counted) {
  const Timed t = timed(m.encoding, "throughput", body);
  std::uint64_t from = ~std::uint64_t{0}, to = 0;
  for (const std::vector<std::uint64_t>& clocks : m.run(t.program, m.warps)) {
    const auto [begin, end] = second_pass(clocks);
    from = std::min(from, begin);
    to = std::max(to, end);
  }
  return static_cast<double>(counted) * m.warps * m.warp_size / static_cast<double>(to - from);
}

Banks register_banks(const TestedSm& m, int registers, double theoretical) {
  Banks out;
  const int count = m.body;
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

Banks register_banks_by_triples(const TestedSm& m, int registers, double theoretical) {
  Banks out;
  out.conflict_rate = theoretical;
  const auto conflict = [&](int a, int b, int c) {
    const auto body = independent(sm::Op::ffma, {a, b, c}, destinations(registers), m.body, m.encoding.neutral);
    const double rate = throughput(m, body, m.body);
    out.free_rate = std::max(out.free_rate, rate);
    out.conflict_rate = std::min(out.conflict_rate, rate);
    ++out.pairs;
    return rate < free_of_conflict * theoretical;
  };
  std::vector<int> left;
  for (int r = 0; r < registers; ++r) left.push_back(r);
  UnionFind sets(registers);
  // Of seventeen registers in at most eight banks three lie in one.
  constexpr std::size_t enough = 17;
  const auto conflicting_triple = [&]() -> std::optional<std::pair<int, int>> {
    const std::size_t count = std::min(left.size(), enough);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t k = i + 1; k < count; ++k)
        for (std::size_t l = k + 1; l < count; ++l)
          if (conflict(left[i], left[k], left[l])) return std::pair{left[i], left[k]};
    return std::nullopt;
  };
  // Two registers of a bank find all others of it.
  while (const std::optional<std::pair<int, int>> two = conflicting_triple()) {
    const auto [a, b] = *two;
    sets.join(a, b);
    for (int r : left)
      if (r != a && r != b && conflict(a, b, r)) sets.join(a, r);
    std::erase_if(left, [&](int r) { return sets.root(r) == sets.root(a); });
  }
  out.classes = sets.classes();
  const int checked = std::min(registers, 12);
  for (int a = 0; a < checked; ++a)
    for (int b = a + 1; b < checked; ++b)
      for (int c = b + 1; c < checked; ++c)
        if (conflict(a, b, c) != (sets.root(a) == sets.root(b) && sets.root(b) == sets.root(c))) out.transitive = false;
  return out;
}

std::vector<CodeMeaning> control_codes(const TestedSm& m) {
  std::vector<CodeMeaning> out;
  const auto value = [&](int code) { return m.code ? m.code(code) : static_cast<std::uint32_t>(code); };
  const std::uint32_t full_speed = m.encoding.neutral.value_or(value(1));
  const double neutral = issue_interval_cycles(m, full_speed, std::nullopt);
  for (int code = 0; code < m.codes; ++code) {
    const std::uint32_t c = value(code);
    CodeMeaning meaning;
    meaning.interval = issue_interval_cycles(m, c, std::nullopt);
    // Between neutral ones: a code that issues with its successor makes the whole faster than neutral codes alone.
    meaning.dual = issue_interval_cycles(m, c, full_speed) < 0.9 * neutral;
    if (meaning.dual) meaning.interval = 0;
    out.push_back(meaning);
  }
  return out;
}

bool pairs_with_other_unit(const TestedSm& m, std::uint32_t code) {
  // A special function in sixteen, so that its few lanes are no limit: a pair saves a cycle each time.
  constexpr int period = 16;
  const std::uint32_t alone = m.encoding.neutral.value_or(m.code ? m.code(1) : 1);
  const auto cycles = [&](std::uint32_t first) {
    std::vector<sm::Instruction> body;
    for (int i = 0; i < 4 * period * std::max(m.encoding.group, 1); ++i) {
      const bool special = i % period == 2;
      body.push_back(independent(special ? sm::Op::special : sm::Op::ffma,
                                 special ? std::vector{0} : std::vector{0, 1, 0}, {32 + i % 24}, 1,
                                 i % period == 1 ? first : alone)
                         .front());
    }
    return single_warp(m, body) * period / static_cast<double>(body.size());
  };
  return cycles(code) < cycles(alone) - 0.5;
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

std::vector<Ffma> order_tile(const Banks& banks) {
  if (banks.classes.size() < 4) throw InternalError("the orders of step 4 are written for four banks");
  // The multiplied registers of two banks stay in the operand cache; accumulators alternate between the other two.
  std::vector<Ffma> tile;
  const std::size_t each = std::min(banks.classes[2].size(), banks.classes[3].size());
  for (std::size_t i = 0; i < each; ++i)
    for (std::size_t k : {2U, 3U})
      tile.push_back({banks.classes[0].front(), banks.classes[1].front(), banks.classes[k][i], {}});
  return tile;
}

double order_fraction(const TestedSm& m, const std::vector<int>& order, std::uint32_t dual, const Banks& banks) {
  const auto body = ffma_groups(order_tile(banks), slots, order_groups, pattern_of(order), dual, m.encoding.neutral);
  return throughput(m, body, order_groups * 6) / m.lanes;
}

std::vector<std::vector<int>> all_orders() {
  return {{1, 2, 2, 1}, {2, 1, 2, 1}, {2, 2, 1, 1}, {1, 1, 2, 2}, {2, 1, 1, 2}, {1, 2, 1, 2}};
}

}  // namespace kernelcast::probe
