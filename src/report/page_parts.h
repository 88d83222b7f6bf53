// Files of src/report/page, Chart.js and documents of validation/, embedded when the program was built.
#pragma once

#include <string_view>

namespace kernelcast::report {

/// By name: "frame.html" of every page, "page.html" (the parts of the report), "page.css", "page.js" (all scripts in
/// order), "tune.js", "offload.js", "validate.js" for the pages of these commands, "chart.js", "programs.md",
/// "rows.md".
std::string_view page_part(std::string_view name);

}  // namespace kernelcast::report
