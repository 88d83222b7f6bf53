// What atomics cost beyond the requests that they make.
#pragma once

#include "kernelcast/workload.h"

namespace kernelcast {

/// The request of an atomic that the compiler joins is one lane's.
void join_lanes(const Access& access, AccessCount& count);

}  // namespace kernelcast
