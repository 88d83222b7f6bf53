#include "ptx/lexer.h"

#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "kernelcast/error.h"

namespace kernelcast::ptx {
namespace {

enum CharClass : std::uint8_t { other_char = 0, letter_char = 1, digit_char = 2, sign_char = 4, space_char = 8 };

constexpr auto char_classes = [] {
  std::array<std::uint8_t, 256> all{};
  for (char c = 'a'; c <= 'z'; ++c) all[static_cast<unsigned char>(c)] = letter_char;
  for (char c = 'A'; c <= 'Z'; ++c) all[static_cast<unsigned char>(c)] = letter_char;
  for (char c = '0'; c <= '9'; ++c) all[static_cast<unsigned char>(c)] = digit_char;
  for (char c : {'_', '$', '%'}) all[static_cast<unsigned char>(c)] = sign_char;
  for (char c : {' ', '\t', '\r', '\v', '\f'}) all[static_cast<unsigned char>(c)] = space_char;
  return all;
}();

constexpr bool is(char c, int mask) { return (char_classes[static_cast<unsigned char>(c)] & mask) != 0; }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string place_text(const Source& source, Place place) {
  if (!source.is_fragment)
    return source.name + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": ";
  std::string where = source.name;
  if (source.line > 0) where += ":" + std::to_string(source.line);
  if (source.column > 0) where += ":" + std::to_string(source.column);
  return where + ": asm statement, line " + std::to_string(place.line) + ", column " + std::to_string(place.column) +
         ": ";
}

}  // namespace

void fail(const Source& source, Place place, const std::string& what) {
  throw UserError(place_text(source, place) + what);
}

void fail_limit(const Source& source, Place place, const std::string& what) {
  throw LimitError(place_text(source, place) + what);
}

std::string quoted(const Token& token) {
  if (token.kind == TokenKind::end) return "the end of the text";
  std::string text(token.text.substr(0, 40));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  return "'" + std::string(token.kind == TokenKind::word ? "." : "") + text + "'";
}

Lexer::Lexer(std::string_view text, const Source& source) : text_(text), source_(&source) { advance(); }

void Lexer::skip_space() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (is(c, space_char)) {
      ++pos_;
    } else if (c == '\n') {
      line_start_ = ++pos_;
      ++line_;
    } else if (c == '/' && at(1) == '/') {
      const std::size_t end = text_.find('\n', pos_);
      pos_ = end == std::string_view::npos ? text_.size() : end;
    } else if (c == '/' && at(1) == '*') {
      const std::size_t end = text_.find("*/", pos_ + 2);
      const Place place{line_, static_cast<std::uint32_t>(pos_ - line_start_ + 1)};
      if (end == std::string_view::npos) fail(*source_, place, "the comment does not end; close it by */");
      for (; pos_ < end + 2; ++pos_)
        if (text_[pos_] == '\n') {
          line_start_ = pos_ + 1;
          ++line_;
        }
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  skip_space();
  token_.place = {line_, static_cast<std::uint32_t>(pos_ - line_start_ + 1)};
  token_.text = {};
  if (pos_ >= text_.size()) {
    token_.kind = TokenKind::end;
    return;
  }
  const char c = text_[pos_];
  if (is(c, letter_char | sign_char) && (c != '%' || is(at(1), letter_char | digit_char | sign_char)))
    read_name();
  else if (c == '.' && is(at(1), letter_char | sign_char))
    read_word();
  else if (is(c, digit_char) || (c == '.' && is(at(1), digit_char)))
    read_number();
  else if (c == '"')
    read_string();
  else
    read_mark();
}

Token Lexer::peek() const {
  Lexer ahead = *this;
  ahead.advance();
  return ahead.token_;
}

void Lexer::read_name() {
  const std::size_t begin = pos_++;
  while (pos_ < text_.size() && is(text_[pos_], letter_char | digit_char | sign_char)) ++pos_;
  token_.kind = TokenKind::name;
  token_.text = text_.substr(begin, pos_ - begin);
}

void Lexer::read_word() {
  const std::size_t begin = ++pos_;
  while (is(at(0), letter_char | digit_char | sign_char) || (at(0) == ':' && at(1) == ':'))
    pos_ += at(0) == ':' ? 2 : 1;
  token_.kind = TokenKind::word;
  token_.text = text_.substr(begin, pos_ - begin);
}

void Lexer::extend_opcode() {
  const std::size_t begin = pos_ - token_.text.size();
  for (;;) {
    const char c = at(0);
    if (is(c, letter_char | digit_char | sign_char))
      ++pos_;
    else if (c == '.' && is(at(1), letter_char | digit_char | sign_char))
      ++pos_;
    else if (c == ':' && at(1) == ':' && is(at(2), letter_char | digit_char | sign_char))
      pos_ += 2;
    else
      break;
  }
  token_.text = text_.substr(begin, pos_ - begin);
}

void Lexer::read_exact_real(int digits) {
  std::uint64_t bits = 0;
  const std::size_t begin = pos_;
  pos_ += 2;
  int count = 0;
  for (; hex_value(at(0)) >= 0; ++pos_, ++count) bits = bits << 4 | static_cast<std::uint64_t>(hex_value(at(0)));
  if (count != digits)
    fail(*source_, token_.place,
         std::string("0") + text_[begin + 1] + " takes " + std::to_string(digits) + " hexadecimal digits, not " +
             std::to_string(count));
  token_.kind = TokenKind::real;
  token_.is_unsigned = false;
  token_.real_bits = static_cast<std::uint8_t>(digits * 4);
  token_.value = bits;
  token_.text = text_.substr(begin, pos_ - begin);
}

void Lexer::read_number() {
  const std::size_t begin = pos_;
  const char second = at(0) == '0' ? at(1) : '\0';
  // 0f and 0d are exact only where hexadecimal digits follow.
  if ((second == 'f' || second == 'F') && hex_value(at(2)) >= 0) return read_exact_real(8);
  if ((second == 'd' || second == 'D') && hex_value(at(2)) >= 0) return read_exact_real(16);
  int base = 10;
  if (second == 'x' || second == 'X') base = 16;
  if (second == 'b' || second == 'B') base = 2;
  if (is(second, digit_char)) base = 8;
  if (base == 16 || base == 2) pos_ += 2;
  const std::size_t digits = pos_;
  std::uint64_t value = 0;
  bool overflow = false, decimal_digit = false;
  for (int d = 0; (d = hex_value(at(0))) >= 0 && d < (base == 8 ? 10 : base); ++pos_) {
    decimal_digit = decimal_digit || (base == 8 && d >= 8);  // 089.5 is a real
    if (value >
        (std::numeric_limits<std::uint64_t>::max() - static_cast<std::uint64_t>(d)) / static_cast<std::uint64_t>(base))
      overflow = true;
    value = value * static_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(d);
  }
  const bool exponent = (at(0) == 'e' || at(0) == 'E') &&
                        (is(at(1), digit_char) || ((at(1) == '+' || at(1) == '-') && is(at(2), digit_char)));
  if ((base == 10 || base == 8) && (at(0) == '.' || exponent)) {
    double number = 0;
    const auto [end, status] = std::from_chars(text_.data() + begin, text_.data() + text_.size(), number);
    if (status != std::errc() && status != std::errc::result_out_of_range)
      fail(*source_, token_.place, "this is no number");
    pos_ = static_cast<std::size_t>(end - text_.data());
    token_.kind = TokenKind::real;
    token_.is_unsigned = false;
    token_.real_bits = 64;
    token_.value = std::bit_cast<std::uint64_t>(number);
    token_.text = text_.substr(begin, pos_ - begin);
    return;
  }
  if (pos_ == digits)
    fail(*source_, token_.place, "digits are missing after '" + std::string(text_.substr(begin, 2)) + "'");
  token_.kind = TokenKind::integer;
  token_.real_bits = 0;
  token_.is_unsigned = at(0) == 'U' || at(0) == 'u';
  if (token_.is_unsigned) ++pos_;
  token_.text = text_.substr(begin, pos_ - begin);
  token_.value = value;
  if (decimal_digit) fail(*source_, token_.place, "8 and 9 are no octal digits; drop the leading 0");
  if (overflow) fail(*source_, token_.place, "the integer does not fit 64 bits");
  token_.is_unsigned =
      token_.is_unsigned || value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}

void Lexer::read_string() {
  const std::size_t begin = ++pos_;
  while (pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\n')
    pos_ += text_[pos_] == '\\' && at(1) != '\n' ? 2 : 1;
  if (pos_ >= text_.size() || text_[pos_] != '"')
    fail(*source_, token_.place, "the string does not end on its line; close it by a quotation mark");
  token_.kind = TokenKind::string;
  token_.text = text_.substr(begin, pos_ - begin);
  ++pos_;
}

void Lexer::read_mark() {
  const char c = text_[pos_], following = at(1);
  token_.kind = TokenKind::mark;
  token_.mark = c;
  token_.twice = ((c == '<' || c == '>' || c == '&' || c == '|') && following == c) ||
                 ((c == '<' || c == '>' || c == '=' || c == '!') && following == '=');
  // <= and >= are told from << and >> by the text.
  const std::size_t length = token_.twice ? 2 : 1;
  token_.text = text_.substr(pos_, length);
  pos_ += length;
}

void Lexer::skip_braces() {
  const Place open = token_.place;
  int depth = 1;
  while (depth > 0) {
    skip_space();
    if (pos_ >= text_.size()) fail(*source_, open, "the brace does not close; end the section by '}'");
    const char c = text_[pos_];
    if (c == '"') {
      read_string();
      continue;
    }
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    ++pos_;
  }
  advance();
}

void Lexer::skip_line() {
  const std::size_t end = text_.find('\n', pos_);
  pos_ = end == std::string_view::npos ? text_.size() : end;
  advance();
}

}  // namespace kernelcast::ptx
