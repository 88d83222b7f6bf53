// From a Device and a Workload to SKE's quantities.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/device.h"
#include "kernelcast/launch.h"
#include "kernelcast/workload.h"
#include "model/ske.h"

namespace kernelcast::ske {

/// SKE's machine; numbers that the device file does not give are NaN (S, P, L, clock) or no limit. No allocation.
SkeDevice machine_of(const Device&);
/// sum n_i p_i of a thread: warp instructions a warp (lanes wait for each other). NaN with FP64 on unknown FP64 lanes.
Cycles<per::Thread> instruction_cycles(const Workload&, const Device&);
/// sum m_j q_j of a thread.
Cycles<per::Thread> memory_cycles(const Workload&);
Kernel kernel_of(const Workload&, const Device&);
std::vector<Assumption> assumptions(const Workload&, const Device&);
/// What is missing, as a sentence that says what to set; empty when nothing is.
std::string missing(const Workload&, const Device&);

}  // namespace kernelcast::ske
