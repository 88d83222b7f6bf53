#include "mutate.h"

#include <algorithm>
#include <cctype>

namespace kernelcast::fuzz {
namespace {

enum class Kind : std::uint8_t { word, number, blank, sign };

Kind kind_of(const std::string& token) {
  const auto first = static_cast<unsigned char>(token[0]);
  if (std::isdigit(first)) return Kind::number;
  if (std::isalpha(first) || token[0] == '_') return Kind::word;
  return std::isspace(first) ? Kind::blank : Kind::sign;
}

const std::vector<std::string> numbers = {
    "0",          "1",          "2",           "3",          "7",
    "31",         "32",         "33",          "255",        "1024",
    "65536",      "2147483647", "2147483648",  "4294967295", "9223372036854775807",
    "0xFFFFFFFF", "1e30",       "99999999999", "-1",         "18446744073709551616"};
const std::vector<std::string> operators = {"+", "-", "*", "/",  "%",  "<",  ">",  "<=", ">=", "==",  "!=",
                                            "&", "|", "^", "<<", ">>", "&&", "||", "=",  "+=", ">>=", "*="};

using Tokens = std::vector<std::string>;

std::size_t find_kind(const Tokens& tokens, Kind kind, Random& random) {
  const std::size_t from = random.below(tokens.size());
  for (std::size_t n = 0; n < tokens.size(); ++n)
    if (kind_of(tokens[(from + n) % tokens.size()]) == kind) return (from + n) % tokens.size();
  return from;
}

std::size_t line_end(const Tokens& tokens, std::size_t at) {
  while (at < tokens.size() && tokens[at] != "\n") ++at;
  return std::min(at + 1, tokens.size());
}

void damage(Tokens& t, Random& random) {
  const std::size_t at = random.below(t.size()), other = random.below(t.size());
  auto cut = [&](std::size_t from, std::size_t to) {
    t.erase(t.begin() + static_cast<std::ptrdiff_t>(from), t.begin() + static_cast<std::ptrdiff_t>(to));
  };
  switch (random.below(16)) {
    case 0:
      cut(at, at + 1);
      break;
    case 1:
      t.insert(t.begin() + static_cast<std::ptrdiff_t>(at), t[at]);
      break;
    case 2:
      std::swap(t[at], t[other]);
      break;
    case 3:
      cut(at, line_end(t, at));
      break;
    case 4: {
      const Tokens line(t.begin() + static_cast<std::ptrdiff_t>(at),
                        t.begin() + static_cast<std::ptrdiff_t>(line_end(t, at)));
      t.insert(t.begin() + static_cast<std::ptrdiff_t>(other), line.begin(), line.end());
      break;
    }
    case 5:
      t.resize(at + 1);
      break;
    case 6:
      for (std::size_t n = random.below(8) + 1; n > 0; --n) t[at] += static_cast<char>(random.below(256));
      break;
    case 7:
    case 8:
    case 9:
      t[find_kind(t, Kind::number, random)] = random.pick(numbers);
      break;
    case 10:
    case 11:
    case 12:
      t[find_kind(t, Kind::sign, random)] = random.pick(operators);
      break;
    default:
      t[find_kind(t, Kind::word, random)] = t[find_kind(t, Kind::word, random)];
  }
  if (t.empty()) t.emplace_back("\n");
}

}  // namespace

Tokens tokens_of(const std::string& text) {
  Tokens tokens;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    if (word(text[at]))
      while (end < text.size() && word(text[end])) ++end;
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

std::string mutate(const std::string& text, Random& random) {
  Tokens tokens = tokens_of(text);
  if (tokens.empty()) tokens.emplace_back("\n");
  for (std::size_t n = random.below(4) + 1; n > 0; --n) damage(tokens, random);
  std::string result;
  for (const std::string& token : tokens) result += token;
  return result;
}

}  // namespace kernelcast::fuzz
