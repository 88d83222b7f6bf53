// The reader's state: one recursive descent over the text. parse_*.cpp hold its parts.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/lexer.h"
#include "ptx/locations.h"
#include "ptx/module.h"
#include "ptx/names.h"
#include "ptx/parse.h"

namespace kernelcast::ptx {

/// What the views of a module point into.
struct Storage {
  std::string text;
  std::deque<std::string> made;  // names and opcodes that do not stand in the text as they are
};

/// A constant: an integer, or a real with its bits.
struct Constant {
  std::uint64_t bits = 0;
  bool is_unsigned = false;
  std::uint8_t real_bits = 0;  // 0: an integer
};

class Parser {
 public:
  Parser(Storage& storage, Source source);

  Module module();
  Function fragment(std::span<const FragmentOperand> operands);
  std::vector<Location> take_locations() { return std::move(module_.locations); }

 private:
  // A branch to a label that has not been seen yet, or the name of a table.
  enum class PendingKind : std::uint8_t { branch, table_label, table };
  struct Pending {
    PendingKind kind = PendingKind::branch;
    std::uint32_t owner = 0, position = 0;  // instruction and operand; table and label
    std::string_view name;
    Place place;
  };
  struct ScopeState {
    std::vector<Pending> pending;
    bool has_labels = false;
    Place open;
  };

  // Tokens
  [[nodiscard]] const Token& token() const { return lexer_.token(); }
  void advance() { lexer_.advance(); }
  [[nodiscard]] bool at_mark(char mark) const {
    return token().kind == TokenKind::mark && token().mark == mark && !token().twice;
  }
  [[nodiscard]] bool at_word(std::string_view word) const {
    return token().kind == TokenKind::word && token().text == word;
  }
  bool take_mark(char mark);
  void expect_mark(char mark, std::string_view after);
  std::string_view expect_name(std::string_view of_what);
  std::string_view expect_string();
  std::uint64_t expect_integer(std::uint64_t most, std::string_view of_what);
  [[noreturn]] void fail_here(const std::string& what) const { fail(source_, token().place, what); }
  [[noreturn]] void fail_at(Place place, const std::string& what) const { fail(source_, place, what); }
  [[noreturn]] void fail_expected(std::string_view what) const;

  // Module level: parse_module.cpp
  void header();
  void module_statement();
  void target();
  void file();
  void section();
  void debug_strings();
  void location();
  void number_locations();

  // Variables: parse_variables.cpp, parse_initializer.cpp
  Variable declaration_head(Space space);
  void dimensions(Variable& variable);
  void check_size(const Variable& variable) const;
  void pointer_attribute(Variable& variable);
  void globals(Space space, Linkage linkage);
  void locals(Space space);
  void registers();
  Variable parameter();
  std::vector<Variable> parameters();
  void add_registers(std::string_view name, Type type, std::uint8_t vector, std::uint64_t count, bool numbered,
                     Place place);
  void initializer(Variable& variable);
  void initializer_list(Variable& variable, std::size_t level);
  void initializer_element(Variable& variable);
  void initializer_string(Variable& variable);
  [[nodiscard]] std::uint64_t element_value(const Constant& constant, Type type, Place place) const;
  Symbol symbol(std::string_view name, Place place) const;
  std::vector<std::string_view> attributes();
  void declare(std::string_view name, NameKind kind, std::size_t index, Place place);
  [[nodiscard]] static Space space_of(std::string_view word);

  // Functions: parse_function.cpp
  void function(bool is_entry, Linkage linkage);
  void directives(Directives& into);
  std::array<std::uint32_t, 3> extents();
  void body();
  void enter_scope(Place open);
  void leave_scope();

  // Statements: parse_statement.cpp
  void statements(bool until_brace);
  void directive();
  void name_statement();
  std::string_view spaced_opcode(std::string_view opcode);
  void label(std::string_view name, Place place);
  void table(std::string_view name, Place place);
  void prototype(Table& into);
  void instruction(Guard condition);
  void instruction_body(Guard condition, std::string_view opcode, Place place);
  void call_operands();
  void branch_operand();
  Guard guard();
  const Instruction& decoded(std::string_view opcode);
  void resolve(const Pending& pending, Meaning meaning);

  // Operands: parse_operand.cpp
  Operand operand(std::uint32_t depth);
  Operand simple_operand(std::uint32_t depth);
  Operand name_operand();
  Operand address(std::uint32_t depth);
  Operand elements(OperandKind kind, char close, std::uint32_t depth);
  Operand table_operand();
  Operand constant_operand();
  Operand minus_operand();
  std::int64_t offset();

  // Constant expressions: expressions.cpp
  Constant expression(std::uint32_t depth = 0, int least = 0);
  Constant unary(std::uint32_t depth);
  Constant primary(std::uint32_t depth);
  std::int64_t integer_expression(std::string_view of_what);

  Storage& storage_;
  Source source_;
  Lexer lexer_;
  Names names_;
  Module module_;
  Function function_;
  std::vector<ScopeState> scopes_;
  std::vector<Operand> scratch_;
  std::unordered_map<std::string_view, std::size_t> forms_;  // opcode with modifiers: index into decoded_
  std::deque<Instruction> decoded_;
  Locations locations_;
  bool moved_ = false;  // a function stands before others that were read before it
};

}  // namespace kernelcast::ptx
