// An HTML page from its template: one file with style, plots, scripts and data.
#pragma once

#include <string>

#include "report/results.h"

namespace kernelcast::report {

struct PageText {
  Head head;
  const char *body, *script;  // parts of the page (page_parts.h); no body: the script makes it
  std::string title, json;
  std::string summary = {};  // for readers without JavaScript
};
std::string html_page(const PageText& page);

}  // namespace kernelcast::report
