// The figures of patched cubins. The order of the ids is that of the method's steps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "probe/cuda/figures.h"
#include "probe/cuda/make_plan.h"
#include "probe/steps.h"
#include "probe/union_find.h"

namespace kernelcast::probe::cuda {
namespace {

using Source = Figures::Source;
using View = Figures::View;
using Handles = Figures::Handles;

// The method's rule is 99.5 % of what the lanes could do; the loop around the body takes more than the half per cent,
// so the fastest triple stands for it, and noise of a real clock is left some room. A conflict costs a cycle of one or
// two.
constexpr double free_of_conflict = 0.97;

void banks(Figures& f, double lanes) {
  const std::string method = fmt::format(
      "FFMA on all triples of {} registers, 16 warps; free of conflict from {:g} % of the fastest; union-find",
      bank_registers, 100 * free_of_conflict);
  struct Triple {
    std::array<int, 3> registers{};
    double rate = 0;
  };
  std::vector<Triple> triples;
  std::vector<int> numbers;
  for (const std::string& name : f.beginning("bank.")) {
    Triple t;
    const char* at = name.c_str() + 5;
    for (int& r : t.registers) {
      char* end = nullptr;
      r = static_cast<int>(std::strtol(at, &end, 10));
      at = end + 1;
      numbers.push_back(r);
    }
    t.rate = f.launch(name)->items / f.fastest_cycles(name);
    triples.push_back(t);
  }
  Result list = row("register.banks", "", method, "Classes of registers that conflict with each other.");
  if (triples.empty()) {
    std::string failure;
    (void)f.readings({"bank.0.1.2"}, failure);
    f.unknown(std::move(list), failure);
    return;
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  const auto index = [&](int r) { return static_cast<int>(std::ranges::lower_bound(numbers, r) - numbers.begin()); };
  const double best = std::ranges::max_element(triples, {}, &Triple::rate)->rate;
  const double worst = std::ranges::min_element(triples, {}, &Triple::rate)->rate;
  UnionFind sets(static_cast<int>(numbers.size()));
  const auto conflicts = [&](const Triple& t) { return t.rate < free_of_conflict * best; };
  bool any = false;
  for (const Triple& t : triples)
    if (conflicts(t)) {
      any = true;
      sets.join(index(t.registers[0]), index(t.registers[1]));
      sets.join(index(t.registers[0]), index(t.registers[2]));
    }
  int exceptions = 0;
  for (const Triple& t : triples) {
    const auto [a, b, c] = std::array{sets.root(index(t.registers[0])), sets.root(index(t.registers[1])),
                                      sets.root(index(t.registers[2]))};
    if (conflicts(t) != (a == b && b == c)) ++exceptions;
  }
  list.samples = static_cast<int>(triples.size());
  list.confidence = !any ? "none" : exceptions == 0 ? "high" : "unstable";
  if (!any) list.reason = "no triple of registers conflicts";
  if (any && exceptions > 0) list.reason = fmt::format("{} triples do not go with their classes", exceptions);
  if (any)
    for (const std::vector<int>& members : sets.classes()) {
      std::vector<double> out;
      for (int m : members) out.push_back(numbers[static_cast<std::size_t>(m)]);
      list.lists.push_back(std::move(out));
    }
  f.add(std::move(list));
  const auto fraction = [&](const std::string& id, double rate, const std::string& what) {
    const auto found = std::ranges::find_if(triples, [&](const Triple& t) { return t.rate == rate; });
    const std::string name =
        fmt::format("bank.{}.{}.{}", found->registers[0], found->registers[1], found->registers[2]);
    const double items = f.launch(name)->items;
    f.figure(row(id, "fraction of peak",
                 fmt::format("FFMA on R{}, R{}, R{}, 16 warps", found->registers[0], found->registers[1],
                             found->registers[2]),
                 what),
             {{name}},
             [=](const View& v, const Handles& h) -> std::optional<double> { return items / v(h[0]) / lanes; });
  };
  fraction("ffma.conflict_free.fraction_of_peak", best, "Throughput of FFMA on the fastest triple of registers.");
  if (any)
    fraction("ffma.conflict_3way.fraction_of_peak", worst, "Throughput of FFMA with all three operands in one bank.");
  const std::vector<std::string> reuse_names = f.beginning("reuse.");
  std::vector<Source> sources;
  std::vector<double> flags;
  for (const std::string& n : reuse_names) {
    sources.push_back({n});
    flags.push_back(std::strtod(n.c_str() + 6, nullptr));
  }
  if (sources.empty()) sources.push_back({"reuse.0"});
  const double items = reuse_names.empty() ? 1 : f.launch(reuse_names.front())->items;
  f.table(row("reuse.fraction_of_peak", "flags, fraction of peak",
              "FFMA on three registers whose numbers agree in the two lowest bits, the same in every instruction, "
              "under each "
              "set of reuse flags (1: first, 2: second, 4: third operand)",
              "Throughput of FFMA by reuse flags: flags, then fractions."),
          sources, [=](const View& v, const Handles& h) {
            std::vector<std::vector<double>> out(2);
            for (std::size_t i = 0; i < h.size(); ++i) {
              out[0].push_back(flags.at(i));
              out[1].push_back(items / v(h[i]) / lanes);
            }
            return out;
          });
}

void control_field_figures(Figures& f) {
  const std::string method = "FFMA of one warp under each value of the stall field, bodies of two lengths";
  std::vector<Source> sources;
  for (unsigned s = 0; s < stalls; ++s)
    for (const Source& one : f.pair(fmt::format("stall.independent.{}", s))) sources.push_back(one);
  const double items = f.items_between("stall.independent.1");
  const auto intervals = [items](const View& v, const Handles& h) {
    std::vector<double> out;
    for (std::size_t i = 0; i + 1 < h.size(); i += 2) out.push_back((v(h[i + 1]) - v(h[i])) / items);
    return out;
  };
  f.table(row("control.intervals", "cycles", method, "Cycles to the next issue under each value of the stall field."),
          sources, [=](const View& v, const Handles& h) { return std::vector<std::vector<double>>{intervals(v, h)}; });
  // Readings are whole cycles in the mean of many; a quarter of one is noise.
  const auto field = [=](const View& v, const Handles& h) {
    std::vector<CodeMeaning> codes;
    for (double i : intervals(v, h)) codes.push_back({std::round(4 * i) / 4, false});
    return linear_field(codes);
  };
  f.figure(
      row("control.stall_slope", "cycles per step", method, "The interval rises so much with each value."), sources,
      [=](const View& v, const Handles& h) -> std::optional<double> { return field(v, h).slope; }, true);
  f.figure(
      row("control.stall_intercept", "cycles", method, "Interval under the first value of the linear part."), sources,
      [=](const View& v, const Handles& h) -> std::optional<double> { return field(v, h).intercept; }, true);
  Result least = row("control.least_right_stall", "cycles",
                     "chain of FFMA under each value of the stall field; its result against that of the largest",
                     "The smallest stall that waits for the result: there is no interlock for fixed latencies.");
  const Series<Run>* reference = f.launch(fmt::format("stall.chain.{}.long", stalls - 1));
  if (reference == nullptr || reference->runs.empty()) {
    f.unknown(std::move(least), "the chains did not run");
    return;
  }
  const auto right = [&](unsigned s) {
    const Series<Run>* series = f.launch(fmt::format("stall.chain.{}.long", s));
    return series != nullptr && !series->runs.empty() &&
           std::ranges::all_of(series->runs, [&](const Run& r) { return r.result == reference->runs.front().result; });
  };
  unsigned smallest = stalls - 1;
  while (smallest > 0 && right(smallest - 1)) --smallest;
  least.value = smallest;
  least.samples = static_cast<int>(reference->runs.size());
  least.confidence = smallest > 0 ? "high" : "unstable";
  if (smallest == 0) least.reason = "every stall gives the same result: the chain is protected otherwise";
  f.add(std::move(least));
}

void order(Figures& f, double lanes) {
  const std::string method =
      fmt::format("{} FFMA in a loop, 16 warps, the loop included, second of two passes", order_texts);
  const auto fraction = [&](Result r, const std::string& name) {
    const double items = f.launch(name) != nullptr ? f.launch(name)->items : 1;
    f.figure(std::move(r), {{name}},
             [=](const View& v, const Handles& h) -> std::optional<double> { return items / v(h[0]) / lanes; });
  };
  fraction(row("ffma.assembler_order.fraction_of_peak", "fraction of peak", method,
               "Throughput of FFMA as the assembler orders and encodes them."),
           "order.assembler");
  std::string best;
  std::vector<double> all;
  for (const std::string& name : f.beginning("order.")) {
    if (name == "order.assembler") continue;
    all.push_back(f.launch(name)->items / f.fastest_cycles(name) / lanes);
    if (best.empty() || all.back() >= *std::ranges::max_element(all)) best = name;
  }
  Result r = row("ffma.best_order.fraction_of_peak", "fraction of peak",
                 fmt::format("{}; the best of {} orders and encodings", method, all.size()), "");
  if (best.empty()) {
    r.what = "Throughput of FFMA in the best order that was found.";
    std::string failure;
    (void)f.readings({"order.0"}, failure);
    f.unknown(std::move(r), failure);
    return;
  }
  r.what = fmt::format("Throughput of FFMA in the best order: {}.",
                       words_of(orders().at(static_cast<std::size_t>(std::strtol(best.c_str() + 6, nullptr, 10)))));
  fraction(std::move(r), best);
}

}  // namespace

void patched_figures(Figures& f, double lanes) {
  banks(f, lanes);
  control_field_figures(f);
  order(f, lanes);
}

}  // namespace kernelcast::probe::cuda
