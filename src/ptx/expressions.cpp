// Constant expressions: PTX ISA 9.0, 4.6. Integers are 64 bits wide; one unsigned operand makes the operation unsigned.
#include <bit>

#include "ptx/limits.h"
#include "ptx/parser.h"

namespace kernelcast::ptx {
namespace {

/// 0: no binary operator.
int precedence(const Token& token) {
  if (token.kind != TokenKind::mark) return 0;
  if (!token.twice) switch (token.mark) {
      case '*':
      case '/':
      case '%':
        return 10;
      case '+':
      case '-':
        return 9;
      case '<':
      case '>':
        return 7;
      case '&':
        return 5;
      case '^':
        return 4;
      case '|':
        return 3;
      case '?':
        return -1;
      default:
        return 0;
    }
  const char second = token.text[1];
  if (token.mark == '<' || token.mark == '>') return second == '=' ? 7 : 8;
  if (token.mark == '=' || token.mark == '!') return 6;
  return token.mark == '&' ? 2 : 1;
}

using U = std::uint64_t;
using I = std::int64_t;

U divide(U a, U b, bool is_unsigned, bool remainder) {
  if (is_unsigned) return remainder ? a % b : a / b;
  const I x = static_cast<I>(a), y = static_cast<I>(b);
  if (y == -1) return remainder ? 0 : U{0} - a;  // the least integer has no negative
  return static_cast<U>(remainder ? x % y : x / y);
}

U shift_right(U a, U by, bool is_unsigned) {
  if (is_unsigned) return by < 64 ? a >> by : 0;
  return static_cast<U>(static_cast<I>(a) >> (by < 64 ? by : 63));
}

bool less(U a, U b, bool is_unsigned) { return is_unsigned ? a < b : static_cast<I>(a) < static_cast<I>(b); }

}  // namespace

Constant Parser::primary(std::uint32_t depth) {
  const Token first = token();
  if (first.kind == TokenKind::integer || first.kind == TokenKind::real) {
    advance();
    return {first.value, first.is_unsigned, first.real_bits};
  }
  if (first.kind == TokenKind::name && first.text == "WARP_SZ") {
    advance();
    return {32, false, 0};
  }
  if (!at_mark('(')) fail_expected("a constant");
  advance();
  if (at_word("s64") || at_word("u64")) {  // a cast
    const bool to_unsigned = token().text == "u64";
    advance();
    expect_mark(')', "the type of a cast");
    Constant value = unary(depth + 1);
    if (value.real_bits != 0) fail_at(first.place, "a cast takes an integer constant");
    value.is_unsigned = to_unsigned;
    return value;
  }
  const Constant value = expression(depth + 1);
  expect_mark(')', "the expression");
  return value;
}

Constant Parser::unary(std::uint32_t depth) {
  if (depth > max_expression_depth)
    fail_limit(source_, token().place,
               "more than " + std::to_string(max_expression_depth) +
                   " operators within one another; write the constant's value");
  const Token sign = token();
  if (sign.kind != TokenKind::mark || sign.twice ||
      (sign.mark != '-' && sign.mark != '+' && sign.mark != '!' && sign.mark != '~'))
    return primary(depth);
  advance();
  Constant value = unary(depth + 1);
  if (sign.mark == '+') return value;
  if (value.real_bits != 0) {
    if (sign.mark != '-') fail_at(sign.place, "! and ~ take an integer constant");
    value.bits ^= U{1} << (value.real_bits - 1);
    return value;
  }
  if (sign.mark == '-') return {U{0} - value.bits, false, 0};
  if (sign.mark == '~') return {~value.bits, value.is_unsigned, 0};
  return {value.bits == 0 ? U{1} : U{0}, false, 0};
}

Constant Parser::expression(std::uint32_t depth, int least) {
  Constant left = unary(depth);
  for (;;) {
    const Token sign = token();
    const int level = precedence(sign);
    if (level == 0 || (level > 0 && level <= least) || (level < 0 && least > 0)) return left;
    advance();
    if (left.real_bits != 0) fail_at(sign.place, "a real constant takes no operator but -; write its value");
    if (level < 0) {  // a ? b : c
      const Constant yes = expression(depth + 1);
      expect_mark(':', "the first choice");
      const Constant no = expression(depth + 1);
      return left.bits != 0 ? yes : no;
    }
    const Constant right = expression(depth + 1, level);
    if (right.real_bits != 0) fail_at(sign.place, "a real constant takes no operator but -; write its value");
    const U a = left.bits, b = right.bits;
    const bool is_unsigned = left.is_unsigned || right.is_unsigned;
    const auto truth = [](bool value) { return Constant{value ? U{1} : U{0}, false, 0}; };
    if ((level == 10 && sign.mark != '*') && b == 0) fail_at(sign.place, "division by zero");
    switch (level) {
      case 10:
        left = {sign.mark == '*' ? a * b : divide(a, b, is_unsigned, sign.mark == '%'), is_unsigned, 0};
        break;
      case 9:
        left = {sign.mark == '+' ? a + b : a - b, is_unsigned, 0};
        break;
      case 8:
        left = {sign.mark == '<' ? (b < 64 ? a << b : 0) : shift_right(a, b, left.is_unsigned), left.is_unsigned, 0};
        break;
      case 7: {
        const bool or_equal = sign.twice;
        const bool smaller = sign.mark == '<' ? less(a, b, is_unsigned) : less(b, a, is_unsigned);
        left = truth(smaller || (or_equal && a == b));
        break;
      }
      case 6:
        left = truth((a == b) == (sign.mark == '='));
        break;
      case 5:
        left = {a & b, is_unsigned, 0};
        break;
      case 4:
        left = {a ^ b, is_unsigned, 0};
        break;
      case 3:
        left = {a | b, is_unsigned, 0};
        break;
      case 2:
        left = truth(a != 0 && b != 0);
        break;
      default:
        left = truth(a != 0 || b != 0);
        break;
    }
  }
}

std::int64_t Parser::integer_expression(std::string_view of_what) {
  const Place place = token().place;
  const Constant value = expression();
  if (value.real_bits != 0) fail_at(place, std::string(of_what) + " takes an integer constant");
  return static_cast<I>(value.bits);
}

}  // namespace kernelcast::ptx
