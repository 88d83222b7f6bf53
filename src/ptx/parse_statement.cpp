#include "ptx/instructions.h"
#include "ptx/limits.h"
#include "ptx/parse.h"
#include "ptx/parser.h"

namespace kernelcast::ptx {

void Parser::statements(bool until_brace) {
  for (;;) {
    switch (token().kind) {
      case TokenKind::end:
        if (until_brace) fail_at(scopes_.back().open, "the brace does not close; end the body by '}'");
        if (scopes_.size() > 1) fail_at(scopes_.back().open, "the brace does not close");
        return;
      case TokenKind::name:
        name_statement();
        break;
      case TokenKind::word:
        directive();
        break;
      default:
        if (at_mark('{')) {
          enter_scope(token().place);
          advance();
        } else if (at_mark('}')) {
          if (!until_brace && scopes_.size() == 1) fail_here("'}' closes nothing");
          leave_scope();
          advance();
          if (scopes_.empty()) return;
        } else if (at_mark('@')) {
          advance();
          if (at_mark('@')) {
            lexer_.skip_line();
          } else {
            const Guard condition = guard();
            if (token().kind != TokenKind::name) fail_expected("an instruction behind its predicate");
            lexer_.extend_opcode();
            instruction(condition);
          }
        } else if (!take_mark(';')) {
          fail_expected("a statement");
        }
    }
  }
}

Guard Parser::guard() {
  Guard result;
  result.negated = take_mark('!');
  const Place place = token().place;
  const std::string_view name = expect_name("the predicate");
  const Meaning meaning = names_.find(name);
  if (meaning.kind != NameKind::reg)
    fail_at(place, "predicate '" + std::string(name) + "' is not declared; declare it by .reg .pred");
  result.reg = meaning.index;
  return result;
}

void Parser::directive() {
  const std::string_view word = token().text;
  if (word == "reg") {
    advance();
    return registers();
  }
  if (const Space space = space_of(word); space != Space::generic) {
    advance();
    return locals(space);
  }
  if (word == "loc") return location();
  if (word == "file") return file();
  if (word == "section") return section();
  if (word == "pragma") {
    advance();
    do {
      function_.pragmas.push_back({expect_string(), static_cast<std::uint32_t>(function_.body.size())});
    } while (take_mark(','));
    return expect_mark(';', ".pragma");
  }
  fail_here(quoted(token()) + " is no directive of a function's body");
}

void Parser::label(std::string_view name, Place place) {
  if (function_.labels.size() == max_labels)
    fail_limit(source_, place, "a function has at most " + std::to_string(max_labels) + " labels");
  const std::string_view unique = names_.unique(name, false);
  declare(name, NameKind::label, function_.labels.size(), place);
  function_.labels.push_back({unique, static_cast<std::uint32_t>(function_.body.size())});
  scopes_.back().has_labels = true;
}

void Parser::prototype(Table& into) {
  into.returns = parameters();
  expect_name("the prototype, _");
  into.params = parameters();
  while (token().kind == TokenKind::word) {
    const Token word = token();
    advance();
    if (word.text == "noreturn")
      into.noreturn = true;
    else if (word.text == "abi_preserve" || word.text == "abi_preserve_control")
      (word.text == "abi_preserve" ? into.abi_preserve : into.abi_preserve_control) =
          static_cast<std::int32_t>(expect_integer(0x7fffffffU, "the directive"));
    else
      fail_at(word.place, quoted(word) + " is no attribute of a prototype");
  }
}

void Parser::table(std::string_view name, Place place) {
  const std::string_view unique = names_.unique(name, false);
  const auto index = static_cast<std::uint32_t>(function_.tables.size());
  declare(name, NameKind::table, index, place);
  scopes_.back().has_labels = true;
  Table entry;
  entry.name = unique;
  entry.at = static_cast<std::uint32_t>(function_.body.size());
  const std::string_view word = token().text;
  advance();
  if (word == "callprototype") {
    entry.kind = TableKind::prototype;
    prototype(entry);
  } else if (word == "calltargets") {
    entry.kind = TableKind::call_targets;
    do {
      const Place at = token().place;
      entry.functions.push_back(symbol(expect_name("a function"), at));
    } while (take_mark(','));
  } else {
    do {
      const Token target = token();
      expect_name("a label");
      scopes_.back().pending.push_back({PendingKind::table_label, index,
                                        static_cast<std::uint32_t>(entry.labels.size()), target.text, target.place});
      entry.labels.push_back(0);
    } while (take_mark(','));
  }
  function_.tables.push_back(std::move(entry));
  expect_mark(';', "the table");
}

/// Modifiers can have spaces before them: ld .global .f32
std::string_view Parser::spaced_opcode(std::string_view opcode) {
  if (token().kind != TokenKind::word) return opcode;
  std::string joined(opcode);
  for (; token().kind == TokenKind::word; advance()) joined += "." + std::string(token().text);
  return storage_.made.emplace_back(std::move(joined));
}

void Parser::name_statement() {
  lexer_.extend_opcode();
  // A label is a name with a colon; the opcode's dots tell the two apart in nearly all cases.
  const Token first = token();
  if (first.text.find('.') == std::string_view::npos) {
    advance();
    if (!take_mark(':')) return instruction_body({}, spaced_opcode(first.text), first.place);
    if (at_word("branchtargets") || at_word("calltargets") || at_word("callprototype"))
      return table(first.text, first.place);
    return label(first.text, first.place);
  }
  instruction({});
}

void Parser::instruction(Guard condition) {
  const Token first = token();
  advance();
  instruction_body(condition, spaced_opcode(first.text), first.place);
}

const Instruction& Parser::decoded(std::string_view opcode) {
  const auto [found, added] = forms_.try_emplace(opcode, decoded_.size());
  if (added) decoded_.push_back(decode(opcode));
  return decoded_[found->second];
}

void Parser::branch_operand() {
  const Token target = token();
  expect_name("the label to branch to");
  Operand entry;
  entry.kind = OperandKind::label;
  const auto position = static_cast<std::uint32_t>(scratch_.size());
  const Meaning meaning = names_.find_here(target.text);
  if (meaning.kind == NameKind::label)
    entry.index = meaning.index;
  else
    scopes_.back().pending.push_back(
        {PendingKind::branch, static_cast<std::uint32_t>(function_.body.size()), position, target.text, target.place});
  scratch_.push_back(std::move(entry));
}

Operand Parser::table_operand() {
  const Token name = token();
  expect_name("the table of targets");
  Operand entry;
  entry.kind = OperandKind::table;
  if (const Meaning meaning = names_.find(name.text); meaning.kind == NameKind::table)
    entry.index = meaning.index;
  else
    scopes_.back().pending.push_back({PendingKind::table, static_cast<std::uint32_t>(function_.body.size()),
                                      static_cast<std::uint32_t>(scratch_.size()), name.text, name.place});
  return entry;
}

/// (returns), callee, (params), table
void Parser::call_operands() {
  if (at_mark('(')) {
    scratch_.push_back(elements(OperandKind::list, ')', 0));
    expect_mark(',', "the returned values");
  }
  if (token().kind != TokenKind::name) fail_expected("the function to call");
  scratch_.push_back(name_operand());
  if (!take_mark(',')) return;
  if (at_mark('(')) {
    scratch_.push_back(elements(OperandKind::list, ')', 0));
    if (!take_mark(',')) return;
  }
  scratch_.push_back(table_operand());
}

void Parser::instruction_body(Guard condition, std::string_view opcode, Place place) {
  Instruction result = decoded(opcode);
  result.guard = condition;
  result.place = place;
  result.location = locations_.current();
  scratch_.clear();
  const auto ends = [&] {
    return at_mark(';') || (source_.is_fragment && (token().kind == TokenKind::end || at_mark('}')));
  };
  if (ends()) {
  } else if (result.op == Op::bra) {
    branch_operand();
  } else if (result.op == Op::call) {
    call_operands();
  } else if (result.op == Op::brx_idx) {
    scratch_.push_back(operand(0));
    expect_mark(',', "the index");
    scratch_.push_back(table_operand());
  } else {
    do {
      scratch_.push_back(operand(0));
    } while (take_mark(','));
  }
  if (!ends()) fail_expected("',' or ';' after an operand of " + std::string(opcode));
  take_mark(';');
  if (const std::size_t least = operand_count(result.op).least; scratch_.size() < least)
    fail_at(place, std::string(opcode) + " has " + std::to_string(scratch_.size()) + " of at least " +
                       std::to_string(least) + " operands");
  result.operands.assign(std::make_move_iterator(scratch_.begin()), std::make_move_iterator(scratch_.end()));
  function_.body.push_back(std::move(result));
}

}  // namespace kernelcast::ptx
