// What a core takes in, and what its gathers cost: both are no property of an instruction set. Microcode that was
// updated against Gather Data Sampling (Intel-SA-00828) made gathers several times slower on cores of the same name.
#include "probe/host/bench.h"

namespace kernelcast::probe::host {
namespace {

using View = Measurement::View;

void issue_width(Bench& b) {
  const auto series = b.measure.series(repeated(native::nothing_loop, native::nothing_ops));
  b.measure.figure(row("core.issue_width", "micro-operations per cycle",
                       "instructions that do nothing, which are taken in and never run",
                       "Micro-operations that a core takes in (renames) in a cycle.", fields({{"cpu", "issue_width"}})),
                   [series](const View& v) { return 1 / v.cycles(series); });
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
