// folder: report
// Text of others on a terminal, in SARIF and in a page: no control character passes, and no tag or closing script;
// SARIF is JSON that holds the text, and its URI has no character that a URI cannot have.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "io/printable.h"
#include "report/check_views.h"
#include "report/page_fill.h"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
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
  PageText page{Head{}, "page.html", "page.js", text, "{\"text\": \"" + text + "\"}", text};
  page.head.tool_version = text;
  page.head.command = {"kernelcast", text};
  return html_page(page);
}

void try_sarif(const std::string& text, bool valid) {
  using namespace kernelcast::report;
  CheckReport report;
  report.changed = text;
  report.head.tool_version = text;
  report.rows.emplace_back();
  CheckRow& row = report.rows.back();
  row.kernel = row.device = row.launch = row.failure = text.empty() ? "-" : text;
  const auto run = nlohmann::json::parse(kernelcast::printable_json(check_sarif(report))).at("runs").at(0);
  const auto& result = run.at("results").at(0);
  const std::string uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
  constexpr std::string_view allowed = "-._~/%0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  require(uri.find_first_not_of(allowed) == std::string::npos, "URI");
  if (!valid) return;
  require(run["tool"]["driver"]["version"] == text, "version in SARIF");
  require(result["message"]["text"].get<std::string>().find(row.failure) != std::string::npos, "message in SARIF");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string shown = kernelcast::printable(text);
  require(!has_control(shown), "control character");
  require(kernelcast::printable(shown) == shown, "printable twice");
  try_sarif(text, nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::ignore) ==
                      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  static const std::string plain = page_with("x");
  const std::string page = page_with(text.empty() ? "x" : text);
  require(count(page, "<") == count(plain, "<"), "tag");
  require(count(page, "</script") == count(plain, "</script"), "end of script");
  return 0;
}
