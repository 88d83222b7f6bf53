#include <algorithm>
#include <limits>

#include "ptx/limits.h"
#include "ptx/parser.h"

namespace kernelcast::ptx {
namespace {

std::int32_t special_register_index(std::string_view name) {
  const auto& all = special_registers();
  const auto found = std::ranges::lower_bound(all, name, {}, &SpecialRegister::name);
  return found != all.end() && found->name == name ? static_cast<std::int32_t>(found - all.begin()) : -1;
}

SymbolKind symbol_kind(NameKind kind) {
  switch (kind) {
    case NameKind::global:
      return SymbolKind::global;
    case NameKind::function:
      return SymbolKind::function;
    case NameKind::param:
      return SymbolKind::param;
    case NameKind::return_:
      return SymbolKind::return_;
    case NameKind::local:
      return SymbolKind::local;
    default:
      return SymbolKind::unknown;
  }
}

/// r g b a are x y z w.
std::string_view component_named(std::string_view word) {
  if (word == "r") return "x";
  if (word == "g") return "y";
  if (word == "b") return "z";
  if (word == "a") return "w";
  return word;
}

}  // namespace

Symbol Parser::symbol(std::string_view name, Place place) const {
  const Meaning meaning = names_.find(name);
  Symbol found{name, symbol_kind(meaning.kind), meaning.index};
  switch (found.kind) {
    case SymbolKind::param:
      found.name = function_.params[meaning.index].name;
      break;
    case SymbolKind::return_:
      found.name = function_.returns[meaning.index].name;
      break;
    case SymbolKind::local:
      found.name = function_.variables[meaning.index].name;
      break;
    case SymbolKind::global:
      found.name = module_.globals[meaning.index].name;
      break;
    case SymbolKind::function:
      break;
    case SymbolKind::unknown:
      if (!source_.is_fragment || meaning.kind != NameKind::none)
        fail_at(place, "'" + std::string(name) +
                           "' is declared as no variable or function; declare it above, or correct the name");
      found.index = -1;
      break;
  }
  return found;
}

/// +4, -8+2: nothing is 0.
std::int64_t Parser::offset() {
  std::uint64_t sum = 0;
  while (at_mark('+') || at_mark('-')) {
    const bool minus = at_mark('-');
    advance();
    const Place place = token().place;
    const Constant value = expression(0, 9);
    if (value.real_bits != 0) fail_at(place, "an offset is an integer constant");
    sum = minus ? sum - value.bits : sum + value.bits;
  }
  return static_cast<std::int64_t>(sum);
}

Operand Parser::constant_operand() {
  const Constant value = expression();
  Operand result;
  result.kind = value.real_bits != 0 ? OperandKind::real : OperandKind::integer;
  result.bits = value.bits;
  result.real_bits = value.real_bits;
  result.is_unsigned = value.is_unsigned;
  return result;
}

Operand Parser::name_operand() {
  Operand result;
  const Token name = token();
  if (name.text == "_") {
    advance();
    return result;
  }
  if (name.text == "WARP_SZ") return constant_operand();
  const Meaning meaning = names_.find(name.text);
  if (meaning.kind == NameKind::reg) {
    result.kind = OperandKind::reg;
    result.index = meaning.index;
  } else if (meaning.kind == NameKind::none && name.text[0] == '%' && special_register_index(name.text) >= 0) {
    result.kind = OperandKind::special;
    result.index = special_register_index(name.text);
  } else if (meaning.kind == NameKind::none && name.text[0] == '%') {
    fail_at(name.place, "register '" + std::string(name.text) + "' is not declared; declare it by .reg");
  } else {
    result.kind = OperandKind::symbol;
    result.symbol = symbol(name.text, name.place);
  }
  advance();
  if (result.kind != OperandKind::symbol) {
    if (token().kind == TokenKind::word) {
      result.component = component_named(token().text);
      advance();
    }
    if (result.kind == OperandKind::reg) result.offset = offset();
    return result;
  }
  if (take_mark('[')) {  // an element of an array by its number
    const Place place = token().place;
    const std::int64_t number = integer_expression("an array's index");
    expect_mark(']', "the index");
    if (result.symbol.index < 0 || result.symbol.kind == SymbolKind::function)
      fail_at(place, "only a declared array takes an index");
    const Variable& array = result.symbol.kind == SymbolKind::global  ? module_.globals[result.symbol.index]
                            : result.symbol.kind == SymbolKind::local ? function_.variables[result.symbol.index]
                            : result.symbol.kind == SymbolKind::param ? function_.params[result.symbol.index]
                                                                      : function_.returns[result.symbol.index];
    result.kind = OperandKind::address;
    result.base = OperandKind::symbol;
    result.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(number) * element_bytes(array));
    return result;
  }
  result.offset = offset();
  return result;
}

Operand Parser::address(std::uint32_t depth) {
  advance();  // [
  Operand result;
  result.kind = OperandKind::address;
  if (token().kind == TokenKind::name && token().text != "WARP_SZ") {
    const Place place = token().place;
    const Operand base = name_operand();
    if (base.kind != OperandKind::reg && base.kind != OperandKind::symbol)
      fail_at(place, "an address begins with a register, a variable or an integer");
    result.base = base.kind;
    result.index = base.index;
    result.symbol = base.symbol;
    result.component = base.component;
    result.offset = base.offset;
  } else {
    result.base = OperandKind::integer;
    result.bits = static_cast<std::uint64_t>(integer_expression("an address"));
  }
  while (take_mark(',')) result.elements.push_back(operand(depth + 1));
  expect_mark(']', "the address");
  if (at_word("unified")) {
    result.unified = true;
    advance();
  }
  return result;
}

Operand Parser::elements(OperandKind kind, char close, std::uint32_t depth) {
  advance();  // { or (
  Operand result;
  result.kind = kind;
  if (take_mark(close)) return result;
  do {
    result.elements.push_back(operand(depth + 1));
  } while (take_mark(','));
  expect_mark(close, "the last element");
  return result;
}

Operand Parser::simple_operand(std::uint32_t depth) {
  if (depth > max_operand_depth)
    fail_limit(source_, token().place,
               "more than " + std::to_string(max_operand_depth) + " braces or brackets within one another");
  if (token().kind == TokenKind::name) return name_operand();
  if (at_mark('[')) return address(depth);
  if (at_mark('{')) return elements(OperandKind::vector, '}', depth);
  if (at_mark('!')) {
    const Place place = token().place;
    advance();
    if (token().kind == TokenKind::name && token().text != "WARP_SZ") {
      Operand result = name_operand();
      if (result.kind != OperandKind::reg && result.kind != OperandKind::special)
        fail_at(place, "! takes a predicate register");
      result.negated = true;
      return result;
    }
    Operand result = constant_operand();
    if (result.kind != OperandKind::integer) fail_at(place, "! takes a predicate register or an integer");
    result.bits = result.bits == 0 ? 1 : 0;
    return result;
  }
  if (at_mark('-')) return minus_operand();
  if (token().kind == TokenKind::integer || token().kind == TokenKind::real || token().kind == TokenKind::mark)
    return constant_operand();
  fail_expected("an operand");
}

/// A negative constant; vmad also takes -r.
Operand Parser::minus_operand() {
  const Token after = lexer_.peek();
  if (after.kind != TokenKind::name || after.text == "WARP_SZ") return constant_operand();
  advance();
  const Place place = token().place;
  Operand result = name_operand();
  if (result.kind != OperandKind::reg) fail_at(place, "- takes a register or a constant");
  result.minus = true;
  return result;
}

Operand Parser::operand(std::uint32_t depth) {
  Operand first = simple_operand(depth);
  if (!at_mark('|')) return first;
  advance();
  Operand pair;
  pair.kind = OperandKind::pair;
  pair.elements.push_back(std::move(first));
  pair.elements.push_back(simple_operand(depth + 1));
  return pair;
}

}  // namespace kernelcast::ptx
