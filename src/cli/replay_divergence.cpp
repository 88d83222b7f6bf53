// `replay divergence`.
#include <algorithm>
#include <array>

#include "cli/replay.h"
#include "kernelcast/converge.h"

namespace kernelcast::cli {
namespace {

using report::ReplayTable;
using report::ReplayValue;

constexpr int sweep_width = 32;
constexpr std::int64_t sweep_iterations = 8192;
constexpr std::uint64_t sweep_seed = 1;

/// Pattern number `bits` of all of four lanes and three iterations.
BranchPattern numbered_pattern(unsigned bits) {
  BranchPattern pattern;
  for (int lane = 0; lane < 4; ++lane) {
    auto& path = pattern.lanes.emplace_back();
    for (int i = 0; i < 3; ++i, bits >>= 1U) path.push_back(bits & 1U);
  }
  return pattern;
}

double passes_of(const BranchPattern& pattern, Policy policy, const PolicyOptions& options = {}) {
  return static_cast<double>(replay(pattern, policy, options).passes());
}

ReplayTable examples_table() {
  ReplayTable t{
      "worked-examples",
      "path executions of a warp of four lanes (figures 1 and 3)",
      {"example", "pattern", "strategy", "steps", "of plain", "printed: of plain"},
      {},
      {"The patterns are in lost figures: these are ours, found by enumeration and by hand to have the printed "
       "counts. Of a lane that never changes the text says that nothing is gained."}};
  struct Example {
    const char* name;
    const char* text;  // a lane a word
    Policy policy;
    double printed;
  };
  const Example examples[] = {
      {"figure 1b, postpone", "TFT TFT FTT FTF", Policy::majority, 1 - 0.167},
      {"figure 1c, postpone", "TFT TFT FTT FTF", Policy::round_robin, 1 - 0.333},
      {"figure 3, example 1", "TFTF FTFT TFFT FTTF", Policy::advance, 0.5},
      {"figure 3, example 2", "TFTT FTTF TTFT FFTF", Policy::advance, 0.75},
      {"a lane never changes", "TFTF FTTF TTTT FFFF", Policy::advance, 1},
  };
  for (const Example& e : examples) {
    std::string lines = e.text;
    std::replace(lines.begin(), lines.end(), ' ', '\n');
    const BranchPattern p = parse_pattern(lines, e.name);
    const double steps = passes_of(p, e.policy);
    t.rows.push_back({std::string(e.name), std::string(e.text), std::string(name_of(e.policy)), steps,
                      steps / passes_of(p, Policy::plain), e.printed});
  }
  return t;
}

ReplayTable enumeration_table() {
  double six = 0, fitting = 0, worst = 0, worse = 0;
  for (unsigned bits = 0; bits < 4096; ++bits) {
    const BranchPattern p = numbered_pattern(bits);
    if (passes_of(p, Policy::plain) != 6) continue;
    ++six;
    const double majority = passes_of(p, Policy::majority);
    worst = std::max(worst, majority);
    worse += majority > 6 ? 1 : 0;
    fitting += majority == 5 && passes_of(p, Policy::round_robin) == 4 ? 1 : 0;
  }
  return {"enumeration",
          "all 4,096 patterns of four lanes and three iterations",
          {"quantity", "value", "printed"},
          {{std::string("patterns with 6 plain steps"), six, ReplayValue()},
           {std::string("of these with 5 by majority and 4 by round robin"), fitting,
            std::string("the lost figure is one")},
           {std::string("most steps of majority"), worst, ReplayValue()},
           {std::string("patterns on which majority is slower than plain"), worse, ReplayValue()}},
          {"No strategy is safe for every pattern; the text does not say so."}};
}

ReplayTable patterns_table() {
  ReplayTable t{"patterns",
                "gain over plain in path executions, 32 lanes, 8,192 iterations",
                {"pattern", "majority", "majority, flush 8", "round robin", "advance", "advance in order"},
                {},
                {"Independent lanes with probability p of T; flipping lanes change path with probability f."}};
  const auto add = [&](const std::string& name, const BranchPattern& p) {
    const double plain = passes_of(p, Policy::plain);
    PolicyOptions flush;
    flush.flush_period = 8;
    t.rows.push_back({name, plain / passes_of(p, Policy::majority), plain / passes_of(p, Policy::majority, flush),
                      plain / passes_of(p, Policy::round_robin), plain / passes_of(p, Policy::advance),
                      plain / passes_of(p, Policy::advance_in_order)});
  };
  for (const auto& [name, p] : {std::pair{"p = 0.5", 0.5}, std::pair{"p = 0.25", 0.25}, std::pair{"p = 0.05", 0.05}})
    add(name, independent_pattern(sweep_width, sweep_iterations, p, sweep_seed));
  for (const auto& [name, f] : {std::pair{"flip 0.1", 0.1}, std::pair{"flip 0.9", 0.9}})
    add(name, flipping_pattern(sweep_width, sweep_iterations, 0.5, f, sweep_seed));
  return t;
}

constexpr std::array<double, 8> ratios{0.25, 0.5, 1, 2, 3, 4, 5, 6};

LoopCosts costs_at(double ratio) {
  LoopCosts c;
  c.rest = 1;
  c.taken = c.other = ratio / 2;
  return c;
}

ReplayTable postpone_table() {
  ReplayTable t{
      "postpone-sweep",
      "figure 4: speedup over the ratio of instructions in the paths to those outside, p = 0.5, no cost of choosing",
      {"ratio", "majority", "majority, flush 8", "round robin"},
      {},
      {"Printed: best 1.152 for majority with flushes, 1.256 for round robin, below 1 at small ratios (GT 550M). The "
       "ideal limits at no cost are those of the last row; the difference is the strategy's own instructions.",
       "The closed forms are ours; the text has none for postponing."}};
  PatternStatistics s;
  s.iterations = static_cast<double>(sweep_iterations);
  PolicyOptions flush;
  flush.flush_period = 8;
  for (const double ratio : ratios)
    t.rows.push_back({ratio, expected_speedup(Policy::majority, s, costs_at(ratio)),
                      expected_speedup(Policy::majority, s, costs_at(ratio), flush),
                      expected_speedup(Policy::round_robin, s, costs_at(ratio))});
  constexpr double without_rest = 1e6;
  t.rows.push_back({std::string("paths only"), expected_speedup(Policy::majority, s, costs_at(without_rest)),
                    expected_speedup(Policy::majority, s, costs_at(without_rest), flush),
                    expected_speedup(Policy::round_robin, s, costs_at(without_rest))});
  return t;
}

ReplayTable advance_table() {
  ReplayTable t{
      "advance-sweep",
      "figure 5: speedup by the share a of iterations that advance, over the ratio; lane-exact replay, no cost of "
      "choosing",
      {"a", "0.25", "0.5", "1", "2", "3", "4", "5", "6", "paths only", "1/(1 - a)"},
      {},
      {"Code outside of the paths is copied into both, as condition (3) has it, so that small ratios lose.",
       "The formula of the ideal case is a lost image: 1/(1 - a) follows from the share that it is stated for."}};
  for (const double a : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5}) {
    const BranchPattern p = advanceable_pattern(sweep_width, sweep_iterations, a, sweep_seed);
    const StepCounts plain = replay(p, Policy::plain), advance = replay(p, Policy::advance);
    const auto rates = [](const StepCounts& c) {
      const double n = static_cast<double>(sweep_iterations);
      return StepRates{static_cast<double>(c.taken) / n, static_cast<double>(c.other) / n,
                       static_cast<double>(c.trips) / n};
    };
    std::vector<ReplayValue> row{a};
    for (const double ratio : ratios)
      row.emplace_back(time_of(Policy::plain, rates(plain), costs_at(ratio)) /
                       time_of(Policy::advance, rates(advance), costs_at(ratio)));
    row.emplace_back(static_cast<double>(plain.passes()) / static_cast<double>(advance.passes()));
    row.emplace_back(1 / (1 - a));
    t.rows.push_back(std::move(row));
  }
  return t;
}

}  // namespace

std::vector<ReplayTable> replay_divergence(const ReplayInputs&) {
  return {examples_table(), enumeration_table(), patterns_table(), postpone_table(), advance_table()};
}

}  // namespace kernelcast::cli
