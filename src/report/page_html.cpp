// The template with its places filled. Text of others enters it in two ways only: escaped as HTML, and within one block
// of JSON, in which no "<" is left that a browser could read as a tag.
#include <fmt/format.h>

#include "io/text.h"
#include "report/page_fill.h"
#include "report/page_views.h"

namespace kernelcast::report {
namespace {

/// The answer for readers without JavaScript.
std::string summary_of(const Page& page) {
  std::string out;
  for (const DeviceResult& d : page.forecast.devices) {
    if (!out.empty()) out += "; ";
    out += d.device.name + ": ";
    const bool known = !d.models.empty() && d.models.front().estimate && d.models.front().estimate->time_s.value;
    if (!known) {
      out += "no forecast";
      continue;
    }
    const Estimate& e = *d.models.front().estimate;
    out += format_seconds(*e.time_s.value);
    if (e.interval_lo_s && e.interval_hi_s)
      out += fmt::format(" ({} to {})", format_seconds(*e.interval_lo_s), format_seconds(*e.interval_hi_s));
    if (!e.limiter.empty()) out += ", " + e.limiter;
  }
  return out;
}

std::string kernel_of(const Page& page) {
  for (const DeviceResult& d : page.forecast.devices)
    if (d.profile) return d.profile->kernel;
  return page.forecast.kernel;
}

}  // namespace

std::string report_html(const Page& page) {
  return html_page({page.forecast.head, "page.html", "page.js", kernel_of(page) + ", " + page.forecast.source,
                    report_json(page), summary_of(page)});
}

}  // namespace kernelcast::report
