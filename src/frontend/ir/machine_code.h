// The types in which the front end hands machine code to the schedulers.
#pragma once

#include "machine/schedules.h"

namespace kernelcast::frontend {

using machine::Async;
using machine::Core;
using machine::CoreInstruction;
using machine::FlowBlock;
using machine::FlowGraph;
using machine::FlowInstruction;
using machine::LiveSets;
using machine::LoopCycles;
using machine::TimedBlock;
using machine::TimedInstruction;
using machine::Timing;
using machine::Walk;

using machine::latency_class;
using machine::live_out;
using machine::max_pressure;
using machine::narrow_order;
using machine::schedule_loop;
using machine::walk;

}  // namespace kernelcast::frontend
