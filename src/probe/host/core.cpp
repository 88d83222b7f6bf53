// What a core takes in, and what its gathers cost: both are no property of an instruction set. Microcode that was
// updated against Gather Data Sampling (Intel-SA-00828) made gathers several times slower on cores of the same name.
#include <algorithm>
#include <array>
#include <vector>

#include "probe/host/bench.h"

namespace kernelcast::probe::host {
namespace {

using View = Measurement::View;

// Instructions that do nothing are no measure where the processor has others: a Zen 4 core took 12 of them a cycle and
// six of anything else (AMD's Software Optimization Guide for Zen 4 has six macro-ops a cycle as its width). Each of
// the two loops is a lower bound: the mixture needs ports, and some cores do not clear as many registers as they take
// in.
void issue_width(Bench& b) {
  auto result = row("core.issue_width", "micro-operations per cycle", "",
                    "Micro-operations that a core takes in (renames) in a cycle.", fields({{"cpu", "issue_width"}}));
  if (!native::can_take_in()) {
    const auto series = b.measure.series(repeated(native::nothing_loop, native::nothing_ops));
    result.method = "instructions that do nothing, which are taken in and never run";
    b.measure.figure(std::move(result), [series](const View& v) { return 1 / v.cycles(series); });
    return;
  }
  auto pages = std::make_shared<Pages>(4096);
  b.memory.push_back(pages);
  const auto zeroes = b.measure.series(repeated(native::zeroing_loop, native::zeroing_ops));
  const auto mixed = b.measure.series(
      repeated([at = pages->data()](std::int64_t n) { native::mixed_loop(at, n); }, native::mixed_ops));
  result.method = "registers that become zero, or two loads with four additions, whichever goes faster";
  b.measure.figure(std::move(result),
                   [zeroes, mixed](const View& v) { return 1 / std::min(v.cycles(zeroes), v.cycles(mixed)); });
}

/// Gathers or scatters of four FP64 values side by side, cycles a value.
void parts(Bench& b, Result result, bool can, void (*loop)(void*, std::int64_t)) {
  if (!can) {
    b.measure.figure(
        std::move(result), [](const View&) { return std::nullopt; }, "this processor has none that is timed here");
    return;
  }
  auto pages = std::make_shared<Pages>(4096);
  b.memory.push_back(pages);
  const auto series = b.measure.series(repeated([at = pages->data(), loop](std::int64_t n) { loop(at, n); },
                                                native::gather_ops * native::gather_values));
  b.measure.figure(std::move(result), [series](const View& v) { return v.cycles(series); });
}

/// A pass through a loop takes its trips, and from some length on a misprediction more. Passes of the two longest loops
/// both have it, so their difference is the trips alone.
void predicted_trips(Bench& b) {
  static constexpr std::array<std::int64_t, 9> trips{8, 16, 32, 64, 128, 256, 512, 1024, 2048};
  constexpr double clear_cycles = 5;  // no core has a misprediction of less
  auto result = row("core.predicted_trips", "iterations",
                    "passes through loops of 8 to 2048 empty iterations, each length again and again",
                    "Trips of the longest loop whose exit a core foresees when they are the same each time.",
                    fields({{"cpu", "predicted_trips"}}));
  std::vector<Measurement::Handle> series;
  for (const std::int64_t t : trips)
    series.push_back(b.measure.series(repeated([t](std::int64_t n) { native::nested_loops(n, t); }, 1)));
  b.measure.step(
      std::move(result),
      [series](const View& v) -> std::optional<double> {
        std::array<double, trips.size()> beyond{};  // cycles that are not the trips'
        const std::size_t last = trips.size() - 1;
        const double each =
            (v.cycles(series[last]) - v.cycles(series[last - 1])) / static_cast<double>(trips[last] - trips[last - 1]);
        for (std::size_t i = 0; i <= last; ++i) beyond[i] = v.cycles(series[i]) - static_cast<double>(trips[i]) * each;
        const double misprediction = beyond[last] - beyond[0];
        if (misprediction < clear_cycles) return std::nullopt;
        std::size_t foreseen = 0;
        while (foreseen < last && beyond[foreseen + 1] - beyond[0] < misprediction / 2) ++foreseen;
        return static_cast<double>(trips[foreseen]);
      },
      "no misprediction stood out");
}

}  // namespace

void add_core(Bench& b) {
  issue_width(b);
  predicted_trips(b);
  constexpr const char* unit = "cycles per value";
  parts(b,
        row("gather.f64.cycles", unit, "gathers of four FP64 values of four lines that the L1 has, side by side",
            "Cycles from one gather of four FP64 values to the next, a value.",
            fields({{"cpu", "gather_element_cycles"}})),
        native::can_gather(), [](void* at, std::int64_t n) { native::gather_loop(at, n); });
  parts(b,
        row("scatter.f64.cycles", unit, "scatters of four FP64 values to four lines that the L1 has, side by side",
            "Cycles from one scatter of four FP64 values to the next, a value.",
            fields({{"cpu", "scatter_element_cycles"}})),
        native::can_scatter(), native::scatter_loop);
}

}  // namespace kernelcast::probe::host
