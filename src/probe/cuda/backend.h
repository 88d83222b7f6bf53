// Parts of the back end.
#pragma once

#include "kernelcast/probe.h"
#include "probe/cuda/figures.h"

namespace kernelcast::probe::cuda {

void ptx_figures(Figures& f, const Record& record);
/// Banks, control fields, orders; fractions are of `lanes` FP32 lanes of an SM.
void patched_figures(Figures& f, double lanes);

/// All figures of a record, over what `base` knows.
Report report_of(const Record& record, const Device& base);

}  // namespace kernelcast::probe::cuda
