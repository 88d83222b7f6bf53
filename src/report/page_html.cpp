// The template with its places filled. Text of others enters it in two ways only: escaped as HTML, and within one block
// of JSON, in which no "<" is left that a browser could read as a tag.
#include <fmt/format.h>

#include <map>

#include "io/printable.h"
#include "io/text.h"
#include "report/page_parts.h"
#include "report/page_views.h"
#include "report/settings.h"

namespace kernelcast::report {
namespace {

std::string escaped_html(std::string_view text) {
  std::string out;
  for (const char c : printable(with_flags(text))) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// JSON that is harmless between tags: the same values, other spelling.
std::string escaped_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

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

/// Fills each {{NAME}} once, from left to right: what is put in is not read again.
std::string filled(std::string_view text, const std::map<std::string, std::string, std::less<>>& places) {
  std::string out;
  for (;;) {
    const auto begin = text.find("{{");
    const auto end = begin == std::string_view::npos ? begin : text.find("}}", begin);
    if (end == std::string_view::npos) return out.append(text);
    const auto place = places.find(text.substr(begin + 2, end - begin - 2));
    out.append(text.substr(0, begin));
    if (place != places.end()) out.append(place->second);
    text.remove_prefix(end + 2);
  }
}

}  // namespace

std::string report_html(const Page& page) {
  std::string command;
  for (const std::string& word : page.forecast.head.command) command += (command.empty() ? "" : " ") + word;
  return filled(page_part("page.html"), {{"version", escaped_html(page.forecast.head.tool_version)},
                                         {"title", escaped_html(kernel_of(page) + ", " + page.forecast.source)},
                                         {"command", escaped_html(command)},
                                         {"summary", escaped_html(summary_of(page))},
                                         {"style", std::string(page_part("page.css"))},
                                         {"chart", std::string(page_part("chart.js"))},
                                         {"script", std::string(page_part("page.js"))},
                                         {"data", escaped_json(report_json(page))}});
}

}  // namespace kernelcast::report
