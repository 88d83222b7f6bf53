// Tables of a fit.
#pragma once

#include <string>
#include <vector>

#include "facts_file.h"
#include "model/kernelcast.h"
#include "validate/results.h"

namespace kernelcast::fit {

/// Scores as `kernelcast validate` has them; `seconds` of each row, NaN where there is no forecast.
validate::Report scored(const std::vector<Row>& rows, const std::vector<double>& seconds);
void print_headline(const validate::ModelScore& score);
/// Headline scores of the model with these constants, and errors by (kernel, GPU) with the bounds that bind.
void print_scores(const std::vector<Row>& rows, const forecast::Constants& c);
void print_constants(const forecast::Constants& c);
/// Every row: measured, predicted, all bounds. For looking at what is wrong.
void print_rows(const std::vector<Row>& rows, const forecast::Constants& c);

/// Footprint / traffic in sectors of each depth and window of one row.
void print_reuse(const Row& row);

/// Errors of ln(ratio) over pairs of rows of one (kernel, GPU), by the size of the forecast ratio; each (kernel, GPU) counts once.
void print_ratios(const std::vector<Row>& rows, const forecast::Constants& c);

/// Error of one row, with what may widen its interval.
struct Residual {
  double log_ratio = 0;  // ln(measured / forecast)
  double half_width = 0; // ln of the interval's factor
  bool local_memory = false, data = false, brief = false, amd = false;
  std::size_t stand_ins = 0;
  std::string kernel;
};
void add_residual(const Row& row, const forecast::Constants& c, std::vector<Residual>& out);
void print_residuals(const std::vector<Residual>& residuals);

}  // namespace kernelcast::fit
