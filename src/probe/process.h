// Programs of the probe run as others do.
#pragma once

#include "io/process.h"

namespace kernelcast::probe {

using kernelcast::Ended;
using kernelcast::run_process;
using kernelcast::TemporaryFolder;

}  // namespace kernelcast::probe
