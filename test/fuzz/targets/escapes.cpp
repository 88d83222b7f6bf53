// folder: report
// Text of others on a terminal, in JSON and in a page: no control character passes, and no tag or closing script.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "io/printable.h"
#include "report/page_fill.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool has_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) return true;
    if (c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;  // C1
  }
  return false;
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

std::string page_with(const std::string& text) {
  using namespace kernelcast::report;
  PageText page{Head{}, "report.html", "report.js", text, "{\"text\": \"" + text + "\"}", text};
  page.head.tool_version = text;
  page.head.command = {"kernelcast", text};
  return html_page(page);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string shown = kernelcast::printable(text);
  require(!has_control(shown));
  require(kernelcast::printable(shown) == shown);
  static const std::string plain = page_with("");
  const std::string page = page_with(text);
  require(count(page, "<") == count(plain, "<"));
  require(count(page, "</script") == count(plain, "</script"));
  return 0;
}
