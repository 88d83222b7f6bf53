// PTX text to tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/module.h"

namespace kernelcast::ptx {

enum class TokenKind : std::uint8_t {
  end,
  name,     // add, %r1, $L__BB0_1, _
  word,     // .reg, .shared::cluster; the text is without the dot
  integer,  // value, is_unsigned
  real,     // value holds the bits, real_bits is 32 or 64
  string,   // the text is without the quotes
  mark,     // one character of punctuation, or << >> <= >= == != && || by its first one, `twice` set
};

struct Token {
  TokenKind kind = TokenKind::end;
  char mark = 0;
  bool twice = false;
  bool is_unsigned = false;
  std::uint8_t real_bits = 0;
  std::string_view text;
  std::uint64_t value = 0;
  Place place;
};

/// Where messages say that the text is.
struct Source {
  std::string name;
  std::uint32_t line = 0, column = 0;  // of an asm statement in the file; 0: the text is the file
  bool is_fragment = false;
};
/// Throws UserError: "kernel.ptx:3:7: what".
[[noreturn]] void fail(const Source& source, Place place, const std::string& what);
/// Throws LimitError.
[[noreturn]] void fail_limit(const Source& source, Place place, const std::string& what);

class Lexer {
 public:
  Lexer(std::string_view text, const Source& source);

  [[nodiscard]] const Token& token() const { return token_; }
  /// To the next token.
  void advance();
  /// The token behind this one.
  [[nodiscard]] Token peek() const;
  /// The token is a name: extends its text over ".global.nc.f32" that follows without a space.
  void extend_opcode();
  /// The token is "{": skips to behind the "}" that closes it.
  void skip_braces();
  /// To the next line.
  void skip_line();

 private:
  void skip_space();
  void read_name();
  void read_word();
  void read_number();
  void read_exact_real(int digits);
  void read_string();
  void read_mark();
  [[nodiscard]] char at(std::size_t ahead) const { return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0'; }

  std::string_view text_;
  const Source* source_;
  std::size_t pos_ = 0, line_start_ = 0;
  std::uint32_t line_ = 1;
  Token token_;
};

/// For messages: 'the text' or "the end of the text".
std::string quoted(const Token& token);

}  // namespace kernelcast::ptx
