#include <bit>
#include <limits>

#include "ptx/limits.h"
#include "ptx/parser.h"

namespace kernelcast::ptx {

Space Parser::space_of(std::string_view word) {
  if (word == "global") return Space::global;
  if (word == "const") return Space::constant;
  if (word == "shared" || word == "shared::cta") return Space::shared;
  if (word == "local") return Space::local;
  if (word == "param") return Space::param;
  if (word == "tex") return Space::tex;
  if (word == "reg") return Space::reg;
  return Space::generic;
}

std::vector<std::string_view> Parser::attributes() {
  expect_mark('(', ".attribute");
  std::vector<std::string_view> all;
  int depth = 1;
  for (const char* begin = token().text.data(); depth > 0; advance()) {
    if (token().kind == TokenKind::end) fail_expected("')' after .attribute");
    if (at_mark('(')) ++depth;
    if (at_mark(')')) --depth;
    const bool ends = depth == 0 || (depth == 1 && at_mark(','));
    if (!ends) continue;
    if (token().text.data() > begin) {
      std::string_view text(begin, static_cast<std::size_t>(token().text.data() - begin));
      while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\n' || text.back() == '\r'))
        text.remove_suffix(1);
      if (text.find_first_of("\n/") != std::string_view::npos)
        fail_here("an attribute stands on one line, without comments");
      if (text.starts_with('.')) text.remove_prefix(1);
      all.push_back(text);
    }
    begin = token().text.data() + 1;
    while (*begin == ' ') ++begin;  // ends at the latest where the next token begins
  }
  return all;
}

void Parser::pointer_attribute(Variable& variable) {
  advance();
  variable.is_pointer = true;
  while (token().kind == TokenKind::word) {
    if (const Space space = space_of(token().text); space != Space::generic && space != Space::reg) {
      variable.pointer_space = space;
      advance();
    } else if (at_word("align")) {
      advance();
      variable.pointer_alignment = static_cast<std::uint32_t>(expect_integer(1U << 30, ".align"));
    } else {
      return;
    }
  }
}

Variable Parser::declaration_head(Space space) {
  Variable variable;
  variable.space = space;
  while (token().kind == TokenKind::word) {
    const std::string_view word = token().text;
    if (word == "align") {
      advance();
      const Place place = token().place;
      variable.alignment = static_cast<std::uint32_t>(expect_integer(1U << 30, ".align"));
      if (!std::has_single_bit(variable.alignment)) fail_at(place, ".align takes a power of two");
    } else if (word == "attribute") {
      advance();
      variable.attributes = attributes();
    } else if (word == "ptr") {
      pointer_attribute(variable);
    } else if (word == "v2" || word == "v4" || word == "v8") {
      variable.vector = static_cast<std::uint8_t>(word[1] - '0');
      advance();
    } else if (const Type type = type_named(word); type != Type::none) {
      if (variable.type != Type::none)
        fail_here("a declaration takes one type, this one has ." + std::string(name_of(variable.type)) + ", too");
      variable.type = type;
      advance();
    } else {
      fail_here(quoted(token()) + " is no type; a declaration names one such as .b32");
    }
  }
  if (variable.type == Type::none) fail_here("the declaration has no type; add one such as .b32");
  return variable;
}

void Parser::check_size(const Variable& variable) const {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  std::uint64_t bytes = std::max<std::uint64_t>(element_bytes(variable), 1);
  for (const std::uint64_t extent : variable.dimensions) {
    if (extent != 0 && bytes > most / extent)
      fail_at(variable.place, "'" + std::string(variable.name) + "' is larger than 2^62 bytes");
    bytes *= std::max<std::uint64_t>(extent, 1);
  }
}

void Parser::dimensions(Variable& variable) {
  while (take_mark('[')) {
    if (variable.dimensions.size() == max_dimensions)
      fail_limit(source_, token().place, "an array of more than " + std::to_string(max_dimensions) + " dimensions");
    variable.is_array = true;
    if (take_mark(']')) {
      if (!variable.dimensions.empty()) fail_here("only the first dimension can be left open");
      variable.unsized = true;
      variable.dimensions.push_back(0);
      continue;
    }
    const Place place = token().place;
    const std::int64_t extent = integer_expression("an array's dimension");
    if (extent < 0) fail_at(place, "an array's dimension cannot be negative");
    variable.dimensions.push_back(static_cast<std::uint64_t>(extent));
    expect_mark(']', "the dimension");
  }
  check_size(variable);
}

void Parser::declare(std::string_view name, NameKind kind, std::size_t index, Place place) {
  if (!names_.declare(name, {kind, 0, static_cast<std::int32_t>(index)}))
    fail_at(place, "'" + std::string(name) + "' is declared twice in one scope; rename one");
}

void Parser::globals(Space space, Linkage linkage) {
  const Variable head = declaration_head(space);
  do {
    Variable variable = head;
    variable.linkage = linkage;
    variable.place = token().place;
    variable.name = expect_name("the variable");
    const Meaning earlier = names_.find(variable.name);
    dimensions(variable);
    // A declaration by .extern may stand before the definition.
    std::size_t index = module_.globals.size();
    if (earlier.kind == NameKind::global &&
        (linkage == Linkage::extern_ || module_.globals[earlier.index].linkage == Linkage::extern_))
      index = static_cast<std::size_t>(earlier.index);
    else
      declare(variable.name, NameKind::global, index, variable.place);
    if (take_mark('=')) initializer(variable);
    if (index == module_.globals.size())
      module_.globals.push_back(std::move(variable));
    else if (linkage != Linkage::extern_)
      module_.globals[index] = std::move(variable);
  } while (take_mark(','));
  expect_mark(';', "the declaration");
}

void Parser::locals(Space space) {
  const Variable head = declaration_head(space);
  do {
    Variable variable = head;
    variable.place = token().place;
    const std::string_view written = expect_name("the variable");
    variable.name = names_.unique(written, false);
    dimensions(variable);
    declare(written, NameKind::local, function_.variables.size(), variable.place);
    if (take_mark('=')) initializer(variable);
    function_.variables.push_back(std::move(variable));
  } while (take_mark(','));
  expect_mark(';', "the declaration");
}

void Parser::add_registers(std::string_view name, Type type, std::uint8_t vector, std::uint64_t count, bool numbered,
                           Place place) {
  const std::size_t first = function_.registers.size();
  if (count > max_registers || first + count > max_registers)
    fail_limit(source_, place, "a function has at most " + std::to_string(max_registers) + " registers");
  const bool fits =
      numbered ? names_.declare_numbered(name, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count))
               : names_.declare(name, {NameKind::reg, 0, static_cast<std::int32_t>(first)});
  if (!fits) fail_at(place, "'" + std::string(name) + "' is declared twice in one scope; rename one");
  const auto group = static_cast<std::uint32_t>(function_.groups.size());
  function_.registers.resize(first + count, Register{type, vector, group});
}

void Parser::registers() {
  const Variable head = declaration_head(Space::reg);
  do {
    const Place place = token().place;
    const std::string_view name = expect_name("the register");
    std::uint64_t count = 1;
    bool numbered = false;
    if (take_mark('<')) {
      numbered = true;
      const Place number = token().place;
      const Constant value = expression(0, 7);
      if (value.real_bits != 0 || static_cast<std::int64_t>(value.bits) < 0)
        fail_at(number, "the number of registers is an integer from 0 on");
      count = value.bits;
      expect_mark('>', "the number of registers");
    }
    const std::string_view unique = names_.unique(name, numbered);
    const auto first = static_cast<std::uint32_t>(function_.registers.size());
    add_registers(name, head.type, head.vector, count, numbered, place);
    function_.groups.push_back({unique, head.type, head.vector, numbered, first, static_cast<std::uint32_t>(count)});
  } while (take_mark(','));
  expect_mark(';', "the registers");
}

Variable Parser::parameter() {
  if (token().kind != TokenKind::word || (token().text != "param" && token().text != "reg"))
    fail_expected(".param or .reg of a parameter");
  const Space space = space_of(token().text);
  advance();
  Variable variable = declaration_head(space);
  variable.place = token().place;
  variable.name = expect_name("the parameter");
  dimensions(variable);
  return variable;
}

std::vector<Variable> Parser::parameters() {
  std::vector<Variable> all;
  if (!take_mark('(')) return all;
  if (take_mark(')')) return all;
  do {
    all.push_back(parameter());
  } while (take_mark(','));
  expect_mark(')', "the parameters");
  return all;
}

}  // namespace kernelcast::ptx
