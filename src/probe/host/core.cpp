// What a core takes in, and what its gathers cost: both are no property of an instruction set. Microcode that was
// updated against Gather Data Sampling (Intel-SA-00828) made gathers several times slower on cores of the same name.
#include <algorithm>

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

void gather(Bench& b) {
  constexpr const char* unit = "cycles per value";
  constexpr const char* what = "Cycles from one gather of four FP64 values to the next, a value.";
  auto result =
      row("gather.f64.cycles", unit, "gathers of four FP64 values of four lines that the L1 has, side by side", what,
          fields({{"cpu", "gather_element_cycles"}}));
  if (!native::can_gather()) {
    b.measure.figure(
        std::move(result), [](const View&) { return std::nullopt; }, "this processor has no gather that is timed here");
    return;
  }
  auto pages = std::make_shared<Pages>(4096);
  b.memory.push_back(pages);
  const auto series = b.measure.series(repeated([at = pages->data()](std::int64_t n) { native::gather_loop(at, n); },
                                                native::gather_ops * native::gather_values));
  b.measure.figure(std::move(result), [series](const View& v) { return v.cycles(series); });
}

}  // namespace

void add_core(Bench& b) {
  issue_width(b);
  gather(b);
}

}  // namespace kernelcast::probe::host
