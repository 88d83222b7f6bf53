// An HTML page from its template: one file with style, plots, scripts and data.
#pragma once

#include <string>

#include "report/results.h"

namespace kernelcast::report {

struct PageText {
  Head head;
  const char *form, *script;  // parts of the page (page_parts.h)
  std::string title, json;
  std::string summary = {};  // for readers without JavaScript, where the form has a place for it
};
std::string html_page(const PageText& page);

}  // namespace kernelcast::report
