#include <bit>
#include <cmath>

#include "ptx/limits.h"
#include "ptx/parser.h"

namespace kernelcast::ptx {
namespace {

/// Elements below one of dimension `level`; saturates at the limit + 1.
std::uint64_t stride_below(const Variable& variable, std::size_t level) {
  std::uint64_t product = 1;
  for (std::size_t i = level + 1; i < variable.dimensions.size(); ++i) {
    product *= variable.dimensions[i];
    if (product > max_initializer_elements) return max_initializer_elements + 1;
  }
  return product;
}

}  // namespace

std::uint64_t Parser::element_value(const Constant& constant, Type type, Place place) const {
  const int bits = bits_of(type);
  if (is_float(type) && (bits == 32 || bits == 64)) {
    double value = 0;
    if (constant.real_bits == 32) {
      if (bits == 32) return constant.bits;
      value = std::bit_cast<float>(static_cast<std::uint32_t>(constant.bits));
    } else if (constant.real_bits == 64) {
      if (bits == 64) return constant.bits;
      value = std::bit_cast<double>(constant.bits);
    } else {
      value = constant.is_unsigned ? static_cast<double>(constant.bits)
                                   : static_cast<double>(static_cast<std::int64_t>(constant.bits));
    }
    if (bits == 64) return std::bit_cast<std::uint64_t>(value);
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  if (constant.real_bits != 0 && constant.real_bits != bits)
    fail_at(place, "a ." + std::string(name_of(type)) +
                       " is not initialized by a real constant; write its bits as an integer");
  return bits >= 64 || bits == 0 ? constant.bits : constant.bits & ((std::uint64_t{1} << bits) - 1);
}

void Parser::initializer_element(Variable& variable) {
  if (variable.values.size() >= max_initializer_elements)
    fail_limit(source_, token().place,
               "an initializer has at most " + std::to_string(max_initializer_elements) + " elements");
  AddressValue value;
  value.element = variable.values.size();
  const Place place = token().place;
  bool masked = false;
  if (token().kind == TokenKind::integer) {
    const Constant constant = expression();
    if (!at_mark('(')) {
      variable.values.push_back(element_value(constant, variable.type, place));
      return;
    }
    // 0xff00(name): one byte of the address
    advance();
    value.mask = constant.bits;
    masked = true;
  } else if (token().kind != TokenKind::name || token().text == "WARP_SZ") {
    variable.values.push_back(element_value(expression(), variable.type, place));
    return;
  }
  const Token name = token();
  if (name.kind != TokenKind::name) fail_expected("a variable's name");
  advance();
  if (name.text == "generic" && take_mark('(')) {
    value.generic = true;
    const Token inner = token();
    value.symbol = symbol(expect_name("the variable"), inner.place);
    value.offset = offset();
    expect_mark(')', "generic(");
  } else {
    value.symbol = symbol(name.text, name.place);
  }
  value.offset =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(value.offset) + static_cast<std::uint64_t>(offset()));
  if (masked) expect_mark(')', "the masked address");
  variable.values.push_back(0);
  variable.addresses.push_back(value);
}

void Parser::initializer_string(Variable& variable) {
  if (bits_of(variable.type) != 8 || variable.vector != 1)
    fail_here("only arrays of bytes are initialized by a string");
  const std::string_view text = expect_string();
  if (text.find('\\') != std::string_view::npos)
    fail_here("a string with a backslash is not read; write the bytes as numbers");
  if (text.size() + 1 > max_initializer_elements - variable.values.size())
    fail_limit(source_, token().place,
               "an initializer has at most " + std::to_string(max_initializer_elements) + " elements");
  for (const char c : text) variable.values.push_back(static_cast<unsigned char>(c));
  variable.values.push_back(0);
}

void Parser::initializer_list(Variable& variable, std::size_t level) {
  if (level > std::max<std::size_t>(variable.dimensions.size(), 1) + 1)
    fail_here("the braces are deeper than the array has dimensions");
  advance();  // {
  if (take_mark('}')) return;
  const std::uint64_t base = variable.values.size(), stride = stride_below(variable, level);
  std::uint64_t rows = 0;
  do {
    if (at_mark('}')) break;  // a comma behind the last
    if (!at_mark('{')) {
      initializer_element(variable);
      continue;
    }
    const Place place = token().place;
    initializer_list(variable, level + 1);
    if (level + 1 >= variable.dimensions.size()) continue;  // the elements of a vector
    const std::uint64_t end = base + ++rows * stride;
    if (stride > max_initializer_elements || end > max_initializer_elements)
      fail_limit(source_, place,
                 "an initializer has at most " + std::to_string(max_initializer_elements) + " elements");
    if (variable.values.size() > end) fail_at(place, "the row has more elements than the array's dimension");
    variable.values.resize(end, 0);
  } while (take_mark(','));
  expect_mark('}', "the initializer");
}

void Parser::initializer(Variable& variable) {
  variable.has_initializer = true;
  if (token().kind == TokenKind::string)
    initializer_string(variable);
  else if (at_mark('{'))
    initializer_list(variable, 0);
  else
    initializer_element(variable);
  const std::uint64_t stride = stride_below(variable, 0);
  if (variable.unsized && stride > 0) {
    const std::uint64_t per = stride * variable.vector;
    variable.dimensions[0] = (variable.values.size() + per - 1) / per;
    variable.unsized = false;
  }
  std::uint64_t most = variable.vector;
  for (const std::uint64_t extent : variable.dimensions) most *= extent;
  if (variable.values.size() > most)
    fail_at(variable.place, "'" + std::string(variable.name) + "' has " + std::to_string(most) +
                                " elements and an initializer of " + std::to_string(variable.values.size()) +
                                "; make the array larger");
  const std::uint64_t kept = variable.addresses.empty() ? 0 : variable.addresses.back().element + 1;
  while (variable.values.size() > kept && variable.values.back() == 0) variable.values.pop_back();
}

}  // namespace kernelcast::ptx
