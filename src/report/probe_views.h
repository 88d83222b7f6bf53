// What kernelcast probe prints.
#pragma once

#include <string>

#include "kernelcast/probe.h"
#include "report/results.h"
#include "report/style.h"

namespace kernelcast::report {

std::string probe_text(const probe::Report& report, const Style& style);
std::string probe_json(const Head& head, const probe::Report& report);

}  // namespace kernelcast::report
