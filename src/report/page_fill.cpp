// Text of others enters a page in two ways only: escaped as HTML, and within one block of JSON, in which no "<" is left
// that a browser could read as a tag.
#include "report/page_fill.h"

#include <fmt/format.h>

#include "io/printable.h"
#include "report/page_parts.h"
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

std::string html_page(const PageText& page) {
  std::string command;
  for (const std::string& word : page.head.command) command += (command.empty() ? "" : " ") + word;
  return filled(
      page_part("frame.html"),
      {{"version", escaped_html(page.head.tool_version)},
       {"title", escaped_html(page.title)},
       {"command", escaped_html(command)},
       {"summary", page.summary.empty() ? "" : "<p>" + escaped_html(page.summary) + "</p>\n"},
       {"body", page.body ? std::string(page_part(page.body)) : "<main id=\"main\" tabindex=\"-1\"></main>\n"},
       {"style", std::string(page_part("page.css"))},
       {"chart", std::string(page_part("chart.js"))},
       {"script", std::string(page_part(page.script))},
       {"data", escaped_json(page.json)}});
}

}  // namespace kernelcast::report
