// What a run of the cycle-level SM shows, as text and as JSON (schema/sm-views.schema.json).
#pragma once

#include <string>

#include "kernelcast/sm_views.h"
#include "report/results.h"
#include "report/style.h"

namespace kernelcast::report {

std::string sm_views_text(const Device& device, const sm::Views& views, const Style& style);
std::string sm_views_json(const Head& head, const Device& device, const sm::Views& views);

}  // namespace kernelcast::report
