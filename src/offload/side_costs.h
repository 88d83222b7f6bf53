// Power, energy and cost of one side of an answer.
#pragma once

#include <vector>

#include "kernelcast/offload_region.h"

namespace kernelcast::offload {

/// Adds assumptions that are not there yet.
void merge(std::vector<Assumption>& into, const std::vector<Assumption>& more);
/// Idle power: as given, else the device file's, else a reason that names `flag`.
void set_idle(Side& side, const Given& given, const Device& d, const char* flag);
/// Energy and cost with busy power as given, else the device file's or by its thermal design power (19, 21 to 23).
void energies(Side& side, const Device& d, const Given& busy, double transfer_s, double execution_s, BusyPower reading,
              const Weights& weights);
/// Instructions and traffic where the device file has their energy: in place of the share of the design power.
void energy_by_instructions(Side& side, const Device& cpu, const std::vector<KernelTimes>& kernels, double reps,
                            const Weights& weights);
/// Busy power of the GPU by what its kernels do, where its device file has the energy of an instruction and no measured
/// power; else nothing.
BusyWatts busy_by_instructions(const Device& d, const std::vector<KernelTimes>& kernels);
/// Throws UserError where the weights need an energy that is not known.
void check_costs(const OffloadDecision& a, const Weights& weights);

}  // namespace kernelcast::offload
