#include <algorithm>
#include <charconv>

#include "kernelcast/error.h"
#include "ptx/limits.h"
#include "ptx/parser.h"

namespace kernelcast::ptx {

Parser::Parser(Storage& storage, Source source)
    : storage_(storage),
      source_(std::move(source)),
      lexer_(storage.text, source_),
      names_(storage.made),
      locations_(module_.locations) {}

bool Parser::take_mark(char mark) {
  if (!at_mark(mark)) return false;
  advance();
  return true;
}

void Parser::fail_expected(std::string_view what) const {
  fail_here("expected " + std::string(what) + ", found " + quoted(token()));
}

void Parser::expect_mark(char mark, std::string_view after) {
  if (!take_mark(mark)) fail_expected("'" + std::string(1, mark) + "' after " + std::string(after));
}

std::string_view Parser::expect_name(std::string_view of_what) {
  if (token().kind != TokenKind::name) fail_expected("the name of " + std::string(of_what));
  const std::string_view name = token().text;
  advance();
  return name;
}

std::string_view Parser::expect_string() {
  if (token().kind != TokenKind::string) fail_expected("a string in quotation marks");
  const std::string_view text = token().text;
  advance();
  return text;
}

std::uint64_t Parser::expect_integer(std::uint64_t most, std::string_view of_what) {
  if (token().kind != TokenKind::integer) fail_expected("the integer of " + std::string(of_what));
  const std::uint64_t value = token().value;
  if (value > most) fail_here(std::string(of_what) + " takes at most " + std::to_string(most));
  advance();
  return value;
}

void Parser::header() {
  if (!at_word("version"))
    fail_here("no PTX text: it begins with .version; make one by nvcc -ptx, or give the source's language");
  advance();
  if (token().kind != TokenKind::real && token().kind != TokenKind::integer)
    fail_expected("the version of PTX, such as 9.0");
  const std::string_view text = token().text;
  const std::size_t dot = text.find('.');
  const auto number = [&](std::string_view digits, int& into) {
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
    if (status != std::errc() || end != digits.data() + digits.size()) fail_expected("the version of PTX, such as 9.0");
  };
  number(text.substr(0, dot), module_.version_major);
  if (dot != std::string_view::npos) number(text.substr(dot + 1), module_.version_minor);
  advance();
}

void Parser::target() {
  advance();
  do {
    module_.targets.push_back(expect_name("the target, such as sm_90a"));
  } while (take_mark(','));
}

void Parser::file() {
  advance();
  File entry;
  entry.number = static_cast<std::uint32_t>(expect_integer(0xffffffffU, ".file"));
  entry.path = expect_string();
  if (take_mark(',')) {  // time and size
    expect_integer(~std::uint64_t{0}, "the file's time");
    expect_mark(',', "the file's time");
    expect_integer(~std::uint64_t{0}, "the file's size");
  }
  module_.files.push_back(entry);
}

/// .loc 1 12 5, function_name $L__info_string0, inlined_at 1 30 2
void Parser::location() {
  advance();
  const auto point = [&] {
    SourcePoint read;
    for (std::uint32_t* number : {&read.file, &read.line, &read.column})
      *number = static_cast<std::uint32_t>(expect_integer(0xffffffffU, ".loc"));
    return read;
  };
  WrittenLocation written;
  written.point = point();
  while (take_mark(',')) {
    const Place place = token().place;
    const std::string_view word = expect_name("an attribute of .loc");
    if (word == "function_name") {
      written.function = expect_name("the label of the function's name");
      written.function_offset = offset();
    } else if (word == "inlined_at") {
      written.is_inlined = true;
      written.caller = point();
    } else {
      fail_at(place, "'" + std::string(word) + "' is no attribute of .loc; function_name and inlined_at are");
    }
  }
  locations_.add(written);
}

/// label: .b8 95,90,0 ... Anything else in the section is passed over.
void Parser::debug_strings() {
  advance();  // {
  std::string text;
  std::string_view label;
  const auto add = [&] {
    if (!label.empty()) module_.strings.push_back({label, storage_.made.emplace_back(std::move(text))});
    text.clear();
    label = {};
  };
  bool ended = false;  // by a zero byte
  for (; !at_mark('}'); advance()) {
    if (token().kind == TokenKind::end) fail_expected("'}' of the section");
    if (token().kind == TokenKind::name) {
      add();
      label = token().text;
      ended = false;
    } else if (token().kind == TokenKind::integer) {
      ended = ended || token().value == 0;
      if (!ended) text += static_cast<char>(token().value);
    }
  }
  add();
  advance();
}

void Parser::section() {
  advance();
  const bool strings = at_word("debug_str");
  while (token().kind == TokenKind::word || token().kind == TokenKind::name || token().kind == TokenKind::string)
    advance();
  if (!at_mark('{')) fail_expected("'{' of the section");
  if (strings) return debug_strings();
  lexer_.skip_braces();
}

void Parser::module_statement() {
  if (at_mark('@')) return lexer_.skip_line();  // @@DWARF of old compilers
  if (take_mark(';')) return;
  if (token().kind != TokenKind::word) fail_expected("a directive such as .entry or .global");
  Linkage linkage = Linkage::internal;
  for (; token().kind == TokenKind::word; advance()) {
    if (at_word("extern"))
      linkage = Linkage::extern_;
    else if (at_word("visible"))
      linkage = Linkage::visible;
    else if (at_word("weak"))
      linkage = Linkage::weak;
    else if (at_word("common"))
      linkage = Linkage::common;
    else
      break;
  }
  if (token().kind != TokenKind::word) fail_expected("a directive such as .entry or .global");
  const std::string_view word = token().text;
  if (word == "entry" || word == "func") {
    advance();
    return function(word == "entry", linkage);
  }
  if (const Space space = space_of(word); space != Space::generic && space != Space::reg && space != Space::param) {
    advance();
    return globals(space, linkage);
  }
  if (linkage != Linkage::internal) fail_expected(".entry, .func or a variable's space");
  if (word == "target") return target();
  if (word == "version") return header();
  if (word == "file") return file();
  if (word == "loc") return location();
  if (word == "section") return section();
  if (word == "address_size") {
    advance();
    const std::uint64_t bits = expect_integer(64, ".address_size");
    if (bits != 64 && bits != 32) fail_here(".address_size takes 32 or 64");
    module_.address_size = static_cast<int>(bits);
    return;
  }
  if (word == "pragma") {
    advance();
    do {
      module_.pragmas.push_back(expect_string());
    } while (take_mark(','));
    return expect_mark(';', ".pragma");
  }
  if (word == "alias") {
    advance();
    const std::string_view name = expect_name("the alias");
    expect_mark(',', "the alias");
    module_.aliases.push_back({name, expect_name("the function")});
    return expect_mark(';', ".alias");
  }
  fail_here(quoted(token()) + " is no directive of a module");
}

/// Locations in the order in which the functions use them: a definition stands where its declaration was.
void Parser::number_locations() {
  std::vector<std::int32_t> numbers(module_.locations.size(), -1), chain;
  std::vector<Location> ordered;
  for (Function& function : module_.functions)
    for (Instruction& instruction : function.body) {
      if (instruction.location < 0) continue;
      for (std::int32_t at = instruction.location; at >= 0 && numbers[at] < 0; at = module_.locations[at].inlined_at)
        chain.push_back(at);
      for (; !chain.empty(); chain.pop_back()) {
        Location& entry = ordered.emplace_back(module_.locations[chain.back()]);
        if (entry.inlined_at >= 0) entry.inlined_at = numbers[entry.inlined_at];
        numbers[chain.back()] = static_cast<std::int32_t>(ordered.size() - 1);
      }
      instruction.location = numbers[instruction.location];
    }
  module_.locations = std::move(ordered);
}

Module Parser::module() {
  header();
  while (token().kind != TokenKind::end) module_statement();
  if (moved_) number_locations();
  return std::move(module_);
}

Module parse(std::string text, std::string name) {
  if (text.size() > max_text_bytes)
    throw LimitError(name + ": a PTX text has at most " + std::to_string(max_text_bytes) + " bytes");
  if (const std::size_t zero = text.find('\0'); zero != std::string::npos) {
    // What follows is no text: a fatbin's strings end in zeros.
    if (text.find_first_not_of('\0', zero) != std::string::npos)
      throw UserError(name + ": the text holds zero bytes; extract the PTX by cuobjdump -ptx");
    text.resize(zero);
  }
  const auto storage = std::make_shared<Storage>();
  storage->text = std::move(text);
  Parser parser(*storage, {name, 0, 0, false});
  Module module = parser.module();
  module.text = std::shared_ptr<const std::string>(storage, &storage->text);
  module.name = std::move(name);
  return module;
}

}  // namespace kernelcast::ptx
