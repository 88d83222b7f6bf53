// UTF-8 as the Unicode standard has it (3.9, table 3-7): no overlong forms, no surrogates, nothing above U+10FFFF.
#include "io/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace kernelcast {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1, true};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + bytes > text.size()) return {};
  std::uint32_t value = first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80) return {};
    value = value << 6U | (byte(at + i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  if (value < least.at(bytes) || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
  return {value, bytes, true};
}

/// Controls, and what makes a line read otherwise than it is written (Unicode standard annex 9, explicit formatting).
bool is_unsafe(std::uint32_t c) {
  if (c < 0x20) return c != '\n' && c != '\t';
  return (c >= 0x7f && c <= 0x9f) || c == 0x200e || c == 0x200f || c == 0x061c || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029 || c == 0xfeff;
}

/// Length of one of our own escapes for colour at `at`; 0: there is none.
std::size_t own_escape(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 4> known{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m"};
  for (const std::string_view k : known)
    if (text.substr(at, k.size()) == k) return k.size();
  return 0;
}

}  // namespace

std::string printable(std::string_view text, bool colour) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t own = colour ? own_escape(text, at) : 0; own > 0) {
      out += text.substr(at, own);
      at += own;
      continue;
    }
    const CodePoint c = code_point_at(text, at);
    if (c.valid && !is_unsafe(c.value))
      out += text.substr(at, c.bytes);
    else
      for (std::size_t i = 0; i < c.bytes; ++i)
        out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(text[at + i])));
    at += c.bytes;
  }
  return out;
}

std::string printable_json(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    out += c.valid && is_unsafe(c.value) ? fmt::format("\\u{:04x}", c.value) : std::string(text.substr(at, c.bytes));
    at += c.bytes;
  }
  return out;
}

}  // namespace kernelcast
