// Simulated multiprocessors for tests of the steps.
#pragma once

#include "kernelcast/sm.h"
#include "probe/steps.h"

namespace kernelcast::probe {

/// Runs programs on one block on `spec`, which must outlive the machine.
inline TestedSm machine_on(const sm::Spec& spec) {
  TestedSm m;
  m.run = [&spec](const sm::Program& program, int warps) {
    sm::SmLaunch launch;
    launch.warps_per_block = warps;
    return sm::simulate(spec, program, launch).clocks;
  };
  return m;
}

}  // namespace kernelcast::probe
