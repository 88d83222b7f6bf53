// Counts by execution in place of closed forms, for the few configurations that are worth it.
#pragma once

#include <functional>

#include "kernelcast/launch.h"
#include "kernelcast/workload.h"

namespace kernelcast::tune {

/// Counts of a launch whose closed forms are known: count() in count/count.h, with the kernel and its budget bound.
using Recount = std::function<Workload(const Launch& launch, Workload closed)>;

}  // namespace kernelcast::tune
