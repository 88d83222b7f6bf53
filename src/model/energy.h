// Energy of an estimate: its time at the device's busy power.
#pragma once

#include "kernelcast/device.h"
#include "kernelcast/estimate.h"

namespace kernelcast {

/// Fills energy_j and its interval, or says what is missing. Needs the time and its interval.
void put_energy(const Device& device, Estimate& e);

}  // namespace kernelcast
