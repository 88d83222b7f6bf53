// Views of a validation: text, JSON and a flat table of the rows.
#pragma once

#include <string>

#include "report/results.h"
#include "report/style.h"
#include "validate/results.h"

namespace kernelcast::report {

std::string validate_text(const validate::Report& report, const Style& style);
std::string validate_json(const Head& head, const validate::Report& report);
/// Forecast against measured as a page with plots.
std::string validate_html(const Head& head, const validate::Report& report);
/// CSV, one line a row: forecasts of every model beside the counts that they stand on. What is unknown is empty.
std::string validate_rows_csv(const validate::Report& report);

}  // namespace kernelcast::report
