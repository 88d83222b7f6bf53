// Tables of a fit.
#pragma once

#include <vector>

#include "facts_file.h"
#include "model/kernelcast.h"

namespace kernelcast::fit {

/// Headline scores of the model with these constants, and errors by (kernel, GPU) with the bounds that bind.
void print_scores(const std::vector<Row>& rows, const forecast::Constants& c);
void print_constants(const forecast::Constants& c);
/// Every row: measured, predicted, all bounds. For looking at what is wrong.
void print_rows(const std::vector<Row>& rows, const forecast::Constants& c);

/// Footprint / traffic in sectors of each depth and window of one row.
void print_reuse(const Row& row);

}  // namespace kernelcast::fit
