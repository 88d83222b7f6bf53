#include "advise/place.h"

#include <cctype>

namespace kernelcast::advice {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The end of subscripts that begin at `at`; `at` where there are none or they do not end on this line.
std::size_t past_subscripts(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && text[end] == '[') {
    int depth = 0;
    std::size_t i = end;
    for (; i < text.size(); ++i) {
      if (text[i] == '[') ++depth;
      if (text[i] == ']' && --depth == 0) break;
    }
    if (i == text.size()) return end;
    end = i + 1;
  }
  return end;
}

}  // namespace

std::size_t find_word(const std::string& text, const std::string& word, std::size_t from) {
  if (word.empty()) return std::string::npos;
  for (std::size_t at = text.find(word, from); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !in_word(text[at - 1]) || !in_word(word.front());
    const std::size_t end = at + word.size();
    const bool ends = end == text.size() || !in_word(text[end]) || !in_word(word.back());
    if (begins && ends) return at;
  }
  return std::string::npos;
}

CodePlace place_of(const Subject& s, SourceLine line, const std::string& token) {
  CodePlace p;
  p.file = s.file(line);
  if (p.file.empty()) return p;
  p.line = line.line;
  const std::string text = s.text(line);
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return p;
  if (const auto at = find_word(text, token); at != std::string::npos) {
    p.column = static_cast<int>(at) + 1;
    p.end_column = static_cast<int>(past_subscripts(text, at + token.size()));
    return p;
  }
  p.column = static_cast<int>(first) + 1;
  p.end_column = static_cast<int>(
      text.find_last_not_of(" \t;{\r") == std::string::npos ? text.size() : text.find_last_not_of(" \t;{\r") + 1);
  if (p.end_column < p.column) p.end_column = p.column;
  return p;
}

}  // namespace kernelcast::advice
