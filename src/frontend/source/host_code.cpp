// A scanner that knows comments, strings, raw strings, character constants and brackets. It does not expand macros: a
// launch hidden in a macro is not seen, and its function is then skipped like any other host code.
#include "frontend/source/host_code.h"

#include <algorithm>
#include <cctype>

namespace kernelcast::frontend {
namespace {

std::size_t skip_quoted(std::string_view text, std::size_t at, char quote) {
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

std::size_t skip_raw_string(std::string_view text, std::size_t quote) {
  const std::size_t open = text.find('(', quote);
  if (open == std::string_view::npos || open - quote > 17) return quote + 1;
  const std::string close = ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"";
  const std::size_t end = text.find(close, open);
  return end == std::string_view::npos ? text.size() : end + close.size();
}

}  // namespace

std::size_t skip_opaque(std::string_view text, std::size_t at) {
  const char c = text[at];
  const char next = at + 1 < text.size() ? text[at + 1] : '\0';
  if (c == '/' && next == '/') return std::min(text.find('\n', at), text.size());
  if (c == '/' && next == '*') {
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (c == '"' && at > 0 && text[at - 1] == 'R' && (at < 2 || !is_word(text[at - 2]))) return skip_raw_string(text, at);
  if (c == '"') return skip_quoted(text, at, '"');
  if (c == '\'' && (at == 0 || !is_word(text[at - 1]))) return skip_quoted(text, at, '\'');  // not 1'000
  return at;
}

namespace {

bool is_launch(std::string_view text, std::size_t at) {
  if (text[at] == '<') return text.substr(at, 3) == "<<<";
  if (at > 0 && is_word(text[at - 1])) return false;
  return text.substr(at, 10) == "cudaLaunch" || text.substr(at, 9) == "hipLaunch";
}

bool opens_namespace(std::string_view text, std::size_t brace) {
  const std::size_t start = text.find_last_of(";}{\n", brace == 0 ? 0 : brace - 1);
  const std::string_view head =
      text.substr(start == std::string_view::npos ? 0 : start, brace - (start == std::string_view::npos ? 0 : start));
  return head.find("namespace") != std::string_view::npos || head.find("extern \"C") != std::string_view::npos;
}

}  // namespace

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string without_comments(std::string text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t behind = skip_opaque(text, at);
    for (std::size_t i = at; i < behind; ++i)
      if (text[i] != '\n') text[i] = ' ';
    at = std::max(behind, at + 1);
  }
  return text;
}

Launches find_launches(std::string_view text) {
  Launches result;
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t behind = skip_opaque(text, at);
    if (behind != at) {
      at = behind;
      continue;
    }
    if (text[at] == '{') {
      open.push_back(at);
    } else if (text[at] == '}' && !open.empty()) {
      open.pop_back();
    } else if ((text[at] == '<' || text[at] == 'c' || text[at] == 'h') && is_launch(text, at)) {
      result.open_braces.insert(result.open_braces.end(), open.begin(), open.end());
      if (open.empty()) result.outside_braces = true;
      at += 2;
    }
    ++at;
  }
  auto& braces = result.open_braces;
  std::sort(braces.begin(), braces.end());
  braces.erase(std::unique(braces.begin(), braces.end()), braces.end());
  return result;
}

std::string_view declaration_around(std::string_view text, std::size_t offset) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t behind = skip_opaque(text, at);
    if (behind != at) {
      at = behind;
      continue;
    }
    const char c = text[at];
    if (c == '{' && !(depth == 0 && opens_namespace(text, at))) ++depth;
    const bool opened_namespace = c == '{' && depth == 0;
    if (c == '}' && depth > 0) --depth;
    ++at;
    if (opened_namespace || ((c == ';' || c == '}') && depth == 0)) {
      if (offset < at) return text.substr(begin, at - begin);
      begin = at;
    }
  }
  return text.substr(begin);
}

namespace {

/// Where the name begins that ends before `end`: "ns::f<T, 4>" with its template arguments.
std::size_t name_start(std::string_view text, std::size_t end) {
  const auto blanks = [&](std::size_t at) {
    while (at > 0 && std::isspace(static_cast<unsigned char>(text[at - 1])) != 0) --at;
    return at;
  };
  std::size_t at = blanks(end);
  if (at > 0 && text[at - 1] == '>') {
    int depth = 0;
    while (at > 0) {
      --at;
      if (text[at] == '>') ++depth;
      if (text[at] == '<' && --depth == 0) break;
    }
    at = blanks(at);
  }
  while (at > 0 && (is_word(text[at - 1]) || text[at - 1] == ':')) --at;
  return at;
}

/// Where `end` stands at the depth of brackets of `from`; npos: nowhere.
std::size_t find_outside_brackets(std::string_view text, std::size_t from, std::string_view end) {
  int depth = 0;
  for (std::size_t at = from; at < text.size();) {
    const std::size_t behind = skip_opaque(text, at);
    if (behind != at) {
      at = behind;
      continue;
    }
    if (depth == 0 && text.substr(at, end.size()) == end) return at;
    if (text[at] == '(' || text[at] == '[' || text[at] == '{') ++depth;
    if (text[at] == ')' || text[at] == ']' || text[at] == '}') --depth;
    if (depth < 0 || (depth == 0 && text[at] == ';')) break;
    ++at;
  }
  return std::string_view::npos;
}

bool in_device_function(std::string_view text, std::size_t at) {
  const std::string_view whole = declaration_around(text, at);
  if (whole.data() > text.data() + at) return false;
  const std::string_view before(whole.data(), static_cast<std::size_t>(text.data() + at - whole.data()));
  const std::string_view head = before.substr(0, before.find('{'));
  return head.size() < before.size() &&
         (head.find("__global__") != std::string_view::npos || head.find("__device__") != std::string_view::npos);
}

}  // namespace

std::string child_launches_as_calls(std::string_view text) {
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t behind = skip_opaque(text, at);
    if (behind != at) {
      at = behind;
      continue;
    }
    if (text[at] != '<' || text.substr(at, 3) != "<<<") {
      ++at;
      continue;
    }
    const std::size_t name = name_start(text, at), close = find_outside_brackets(text, at + 3, ">>>");
    const std::size_t open = close == std::string_view::npos ? close : text.find_first_not_of(" \t\r\n", close + 3);
    if (name < done || open == std::string_view::npos || text[open] != '(' || !in_device_function(text, at)) {
      at += 3;
      continue;
    }
    const std::size_t end = find_outside_brackets(text, open + 1, ")");
    if (end == std::string_view::npos) break;
    const std::string_view arguments = text.substr(open + 1, end - open - 1);
    const bool none = arguments.find_first_not_of(" \t\r\n") == std::string_view::npos;
    result.append(text.substr(done, name - done)).append("__kc_launch_child(__kc_child(");
    result.append(text.substr(at + 3, close - at - 3)).append(none ? ")" : "), ").append(arguments).append(")");
    at = done = end + 1;
  }
  return result.append(text.substr(done));
}

std::size_t body_start(std::string_view text, std::size_t from) {
  int depth = 0;
  for (std::size_t at = from; at < text.size();) {
    const std::size_t behind = skip_opaque(text, at);
    if (behind != at) {
      at = behind;
      continue;
    }
    const char c = text[at];
    if (c == '{') return at;
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ';' && depth <= 0) break;
    ++at;
  }
  return std::string_view::npos;
}

std::string rename_loop_pragmas(std::string_view text) {
  std::string result;
  result.reserve(text.size() + 64);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t behind = skip_opaque(text, at);
    if (behind != at) {
      result.append(text.substr(at, behind - at));
      at = behind;
      continue;
    }
    result.push_back(text[at]);
    if (text[at++] != '#') continue;
    std::size_t word = at;
    const auto skip_blanks = [&] {
      while (word < text.size() && (text[word] == ' ' || text[word] == '\t')) ++word;
    };
    skip_blanks();
    if (text.substr(word, 6) != "pragma") continue;
    word += 6;
    skip_blanks();
    const std::string_view name = text.substr(word, 3);
    if ((name != "omp" && name != "acc") || (word + 3 < text.size() && is_word(text[word + 3]))) continue;
    result.append(text.substr(at, word - at)).append("kernelcast_").append(name);
    at = word + 3;
  }
  return result;
}

bool looks_binary(std::string_view text) {
  const std::string_view head = text.substr(0, std::size_t{64} << 10);
  return std::any_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t' && byte != '\f' && byte != '\v' &&
           byte != 0x1b && byte != 0x1a;
  });
}

}  // namespace kernelcast::frontend
