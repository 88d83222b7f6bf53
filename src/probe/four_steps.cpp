// Registers, control codes and the order of issue can be chosen only where programs are machine code that the processor
// takes as it is (zhang-2017). Compilers choose them for source, and cores that rename and reorder for x86-64.
#include "probe/four_steps.h"

#include "probe/sim_figures.h"

namespace kernelcast::probe {

std::vector<Result> unseen_figures(const UnseenSteps& why) {
  const auto figure = [](const char* id, const std::string& reason, const char* step, const char* what) {
    Result r = unknown_figure(id, "", reason);
    r.method = step;
    r.what = what;
    return r;
  };
  return {figure("register.banks", why.banks, "step 2: throughput of instructions on pairs of registers",
                 "Classes of registers that conflict with each other."),
          figure("control.intervals", why.codes, "step 3: issue under each control code",
                 "Cycles to the next issue under each code."),
          figure("ffma.best_order", why.orders, "step 4: multiply-adds in six orders of issue",
                 "The fastest order of issues.")};
}

}  // namespace kernelcast::probe
