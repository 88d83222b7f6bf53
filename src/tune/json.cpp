// The library parses without recursion, but nearly everything that is then done with a value recurses, and a value
// takes many times its text: a scan over brackets and commas comes first.
#include "tune/json.h"

namespace kernelcast::tune {
namespace {

constexpr int deepest_json = 64;
constexpr std::size_t most_json_values = 10'000'000;

/// The offset behind the string that opens at `at`.
std::size_t behind_string(const std::string& text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

}  // namespace

void check_json_size(const std::string& path, const std::string& text) {
  int depth = 0, line = 1;
  std::size_t values = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = behind_string(text, at);
      continue;
    }
    if (c == '\n') ++line;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if ((c == ',' || c == '[' || c == '{') && ++values > most_json_values)
      throw UserError(fmt::format("{}:{}: more than {} values; split the file", path, line, most_json_values));
    if (depth > deepest_json)
      throw UserError(
          fmt::format("{}:{}: lists and objects nest deeper than {}; is it the right file?", path, line, deepest_json));
    ++at;
  }
}

Json parse_json(const std::string& path, const std::string& text) {
  check_json_size(path, text);
  try {
    return Json::parse(text);
  } catch (const Json::exception& e) {
    fail_in(path, fmt::format("not JSON: {}", e.what()));
  }
}

}  // namespace kernelcast::tune
