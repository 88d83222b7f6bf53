// std::string and std::string_view: an object whose memory holds the text. Characters are read; an assignment to one
// character makes the text unknown.
#include <algorithm>
#include <cstdlib>

#include "frontend/host/interpreter.h"

namespace kernelcast::frontend::host {
namespace {

Value text_value(std::string text) {
  auto memory = std::make_shared<Memory>();
  memory->text = std::move(text);
  return Value::object_of(std::move(memory));
}

Value position_value(std::size_t at) { return Value::of(at == std::string::npos ? -1 : static_cast<std::int64_t>(at)); }

}  // namespace

bool Interpreter::is_string(clang::QualType type) const {
  return is_std(class_of(type), {"basic_string", "basic_string_view"});
}

/// Of a string, or of what a pointer to characters points to.
std::optional<std::string> Interpreter::text_of(const Value& value) {
  if (value.kind == Value::Kind::object && value.place.memory && value.place.memory->text)
    return value.place.memory->text;
  if (value.kind == Value::Kind::integer && value.integer > 0 && value.integer < 128)
    return std::string(1, static_cast<char>(value.integer));
  return text_at(value);
}

Value Interpreter::construct_string(const clang::CXXConstructExpr* e) {
  std::vector<Value> given;
  for (const clang::Expr* a : e->arguments())
    if (!llvm::isa<clang::CXXDefaultArgExpr>(a) && !is_std(class_of(a->getType()), {"allocator"}))
      given.push_back(evaluate(a));
  if (given.empty()) return text_value("");
  const bool numbers = given.size() > 1 && given[1].is_integer() && given[1].integer >= 0;
  if (given[0].is_integer() && numbers && given[0].integer >= 0 && given[0].integer < (1 << 20))
    return text_value(std::string(static_cast<std::size_t>(given[0].integer), static_cast<char>(given[1].integer)));
  auto text = given[0].is_integer() ? std::nullopt : text_of(given[0]);
  if (!text) {
    const Value& cause = given[0];
    return empty_of(e->getType(), cause.known() ? "a text" : cause.unknown.why,
                    cause.known() ? line_of(e) : cause.unknown.line);
  }
  if (numbers) {  // (pointer, length) or (string, position, length)
    const auto first = static_cast<std::size_t>(given[1].integer);
    if (given[0].kind == Value::Kind::pointer) return text_value(text->substr(0, first));
    const bool length = given.size() > 2 && given[2].is_integer() && given[2].integer >= 0;
    if (first <= text->size())
      text = text->substr(first, length ? static_cast<std::size_t>(given[2].integer) : std::string::npos);
  }
  return text_value(std::move(*text));
}

std::optional<Value> Interpreter::string_call(const clang::CallExpr* call, const clang::CXXMethodDecl* method) {
  if (method == nullptr || !is_std(method->getParent(), {"basic_string", "basic_string_view"})) return std::nullopt;
  const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
  const unsigned shift = member != nullptr ? 0 : 1;
  if (member == nullptr && call->getNumArgs() == 0) return std::nullopt;
  const clang::Expr* object = member != nullptr ? member->getImplicitObjectArgument() : call->getArg(0);
  const int line = line_of(call);
  Place place;
  if (object->getType()->isPointerType())
    place = evaluate(object).place;
  else
    place = place_of(object);
  const Value self = load(place, object);
  std::vector<Value> given;
  for (unsigned k = shift; k < call->getNumArgs(); ++k)
    if (!llvm::isa<clang::CXXDefaultArgExpr>(call->getArg(k))) given.push_back(evaluate(call->getArg(k)));
  const std::string name = method->getNameAsString();
  const auto text = text_of(self);
  const auto store_text = [&](std::optional<std::string> fresh) {
    store(place,
          fresh ? text_value(std::move(*fresh)) : empty_of(object->getType().getNonReferenceType(), "a text", line));
    return call->isLValue() ? Value::pointer_to(place) : Value::of(0);
  };
  const auto other = given.empty() ? std::nullopt : text_of(given[0]);
  if (name == "operator=" || name == "assign") return store_text(given.size() == 1 ? other : std::nullopt);
  if (name == "clear") return store_text("");
  if (!text) {
    if (!method->isConst() && name != "operator[]" && name != "at" && name != "begin" && name != "end" &&
        name != "data")
      return store_text(std::nullopt);
    if (call->isLValue()) return Value::pointer_to(temporary(Value::not_known("a text", line)));
    return self.known() ? Value::not_known("a text", line) : self;
  }
  const auto number = [&](std::size_t k, std::size_t otherwise) {
    return k < given.size() && given[k].is_integer() && given[k].integer >= 0
               ? static_cast<std::size_t>(given[k].integer)
               : otherwise;
  };
  if (name == "size" || name == "length") return Value::of(static_cast<std::int64_t>(text->size()));
  if (name == "empty") return Value::of(text->empty() ? 1 : 0);
  if (name == "c_str" || name == "data") return Value::pointer_to({self.place.memory, 0});
  if ((name == "operator[]" || name == "at") && !given.empty()) {
    if (!given[0].is_integer()) return Value::pointer_to(temporary(Value::not_known("a text", line)));
    return Value::pointer_to({self.place.memory, given[0].integer});
  }
  if (name == "front") return Value::pointer_to({self.place.memory, 0});
  if (name == "back") return Value::pointer_to({self.place.memory, static_cast<std::int64_t>(text->size()) - 1});
  if (name == "operator+=" || name == "append" || name == "push_back")
    return store_text(other && given.size() == 1 ? std::optional(*text + *other) : std::nullopt);
  if (name == "compare" && given.size() == 1 && other) return Value::of(text->compare(*other));
  if (name == "find" && other) return position_value(text->find(*other, number(1, 0)));
  if (name == "rfind" && other) return position_value(text->rfind(*other, number(1, std::string::npos)));
  if (name == "find_first_of" && other) return position_value(text->find_first_of(*other, number(1, 0)));
  if (name == "find_last_of" && other) return position_value(text->find_last_of(*other, number(1, std::string::npos)));
  if (name == "starts_with" && other) return Value::of(text->starts_with(*other) ? 1 : 0);
  if (name == "ends_with" && other) return Value::of(text->ends_with(*other) ? 1 : 0);
  if (name == "substr" && number(0, 0) <= text->size())
    return text_value(text->substr(number(0, 0), number(1, std::string::npos)));
  if (name == "find_first_not_of" && other) return position_value(text->find_first_not_of(*other, number(1, 0)));
  if (name == "find_last_not_of" && other)
    return position_value(text->find_last_not_of(*other, number(1, std::string::npos)));
  if (name == "pop_back" && !text->empty()) return store_text(text->substr(0, text->size() - 1));
  if (name == "begin" || name == "cbegin") return Value::pointer_to({self.place.memory, 0});
  if (name == "end" || name == "cend")
    return Value::pointer_to({self.place.memory, static_cast<std::int64_t>(text->size())});
  const bool numbers = std::all_of(given.begin(), given.end(), [](const Value& v) { return v.is_integer(); });
  if (name == "erase" && numbers && number(0, 0) <= text->size()) {
    std::string rest = *text;
    return store_text(rest.erase(number(0, 0), number(1, std::string::npos)));
  }
  if (name == "resize" && numbers && number(0, 0) < (1 << 20)) {
    std::string longer = *text;
    longer.resize(number(0, 0), static_cast<char>(number(1, 0)));
    return store_text(std::move(longer));
  }
  if ((name == "insert" || name == "replace") && given.size() == (name == "insert" ? 2U : 3U) &&
      given[0].is_integer() && number(0, 0) <= text->size())
    if (const auto added = text_of(given.back())) {
      std::string whole = *text;
      return store_text(name == "insert" ? whole.insert(number(0, 0), *added)
                                         : whole.replace(number(0, 0), number(1, 0), *added));
    }
  if (!method->isConst()) return store_text(std::nullopt);
  return Value::not_known("std::string::" + name + "()", line);
}

/// Operators that are no members: + and comparisons.
std::optional<Value> Interpreter::string_operator(const clang::CXXOperatorCallExpr* o) {
  if (o->getNumArgs() != 2) return std::nullopt;
  const clang::OverloadedOperatorKind kind = o->getOperator();
  if (!is_string(o->getArg(0)->getType()) && !is_string(o->getArg(1)->getType())) return std::nullopt;
  static const std::map<clang::OverloadedOperatorKind, clang::BinaryOperatorKind> comparisons{
      {clang::OO_EqualEqual, clang::BO_EQ}, {clang::OO_ExclaimEqual, clang::BO_NE},
      {clang::OO_Less, clang::BO_LT},       {clang::OO_Greater, clang::BO_GT},
      {clang::OO_LessEqual, clang::BO_LE},  {clang::OO_GreaterEqual, clang::BO_GE}};
  const auto comparison = comparisons.find(kind);
  if (comparison == comparisons.end() && kind != clang::OO_Plus) return std::nullopt;
  const Value left = evaluate(o->getArg(0)), right = evaluate(o->getArg(1));
  const auto a = text_of(left), b = text_of(right);
  if (!a || !b) {
    if (kind == clang::OO_Plus) return empty_of(o->getType().getNonReferenceType(), "a text", line_of(o));
    return Value::not_known("a text", line_of(o));
  }
  if (kind == clang::OO_Plus) return text_value(*a + *b);
  return binary(comparison->second, Value::of(a->compare(*b)), Value::of(0), context_.IntTy, context_.BoolTy,
                line_of(o));
}

/// What printf makes of the arguments from `next` on; nothing: one of them is not known.
std::optional<std::string> Interpreter::formatted(const std::string& format, const clang::CallExpr* call,
                                                  unsigned next) {
  std::string text;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      text += format[at];
      continue;
    }
    const std::size_t end = format.find_first_not_of("0123456789+-# .hlzjt", at + 1);
    if (end == std::string::npos) return std::nullopt;
    std::string flags = format.substr(at + 1, end - at - 1);
    at = end;
    if (format[end] == '%') {
      text += '%';
      continue;
    }
    if (next >= call->getNumArgs()) return std::nullopt;
    const Value v = evaluate(call->getArg(next++));
    std::erase_if(flags, [](char c) { return c == 'h' || c == 'l' || c == 'z' || c == 'j' || c == 't'; });
    char buffer[512];
    if (format[end] == 's') {
      const auto word = text_at(v);
      if (!word) return std::nullopt;
      std::snprintf(buffer, sizeof(buffer), ("%" + flags + "s").c_str(), word->c_str());
    } else if (format[end] == 'c' && v.is_integer()) {
      std::snprintf(buffer, sizeof(buffer), ("%" + flags + "c").c_str(), static_cast<int>(v.integer));
    } else if (std::string("diuxXo").find(format[end]) != std::string::npos && v.is_integer()) {
      std::snprintf(buffer, sizeof(buffer), ("%" + flags + "ll" + format[end]).c_str(),
                    static_cast<long long>(v.integer));
    } else if (std::string("fFeEgG").find(format[end]) != std::string::npos && v.is_number()) {
      std::snprintf(buffer, sizeof(buffer), ("%" + flags + format[end]).c_str(), v.number());
    } else {
      return std::nullopt;
    }
    text += buffer;
  }
  return text;
}

/// Functions on text, of C and C++.
std::optional<Value> Interpreter::text_call(const std::string& name, const clang::CallExpr* call) {
  const unsigned count = call->getNumArgs();
  const int line = line_of(call);
  if (name == "to_string" && count == 1 && call->getDirectCallee()->isInStdNamespace()) {
    const Value v = evaluate(call->getArg(0));
    if (v.is_integer()) return text_value(std::to_string(v.integer));
    return v.is_number() ? text_value(std::to_string(v.real))
                         : empty_of(call->getType(), v.unknown.why, v.unknown.line);
  }
  if ((name == "sprintf" && count >= 2) || (name == "snprintf" && count >= 3)) {
    const Value into = evaluate(call->getArg(0));
    const unsigned at = name == "sprintf" ? 1 : 2;
    const Value most = at == 2 ? evaluate(call->getArg(1)) : Value::of(1 << 20);
    const auto format = text_at(evaluate(call->getArg(at)));
    const auto text = format ? formatted(*format, call, at + 1) : std::nullopt;
    if (!text || !most.is_integer() || most.integer < 1) return unknown_call(call, name);
    store_text(into, text->substr(0, static_cast<std::size_t>(most.integer - 1)), line);
    return Value::of(static_cast<std::int64_t>(text->size()));
  }
  if ((name == "strcpy" || name == "strncpy" || name == "strcat") && count >= 2) {
    const Value into = evaluate(call->getArg(0)), from = evaluate(call->getArg(1));
    auto text = text_at(from);
    const Value length = count > 2 ? evaluate(call->getArg(2)) : Value::of(1 << 20);
    if (text && length.is_integer() && length.integer >= 0)
      text = text->substr(0, static_cast<std::size_t>(length.integer));
    if (text && name == "strcat") {
      const auto before = text_at(into);
      text = before ? std::optional(*before + *text) : std::nullopt;
    }
    if (into.kind == Value::Kind::pointer && into.place.memory && into.place.key == 0) {
      into.place.memory->slots.clear();
      into.place.memory->text = text;
      into.place.memory->rest = Value::not_known("a text", line);
    }
    return into;
  }
  if (name == "strdup" && count == 1) {
    const Value from = evaluate(call->getArg(0));
    const auto text = text_at(from);
    return text ? Value::pointer_to(text_value(*text).place) : from;
  }
  if ((name == "strstr" || name == "strchr" || name == "strrchr") && count == 2) {
    const Value from = evaluate(call->getArg(0)), what = evaluate(call->getArg(1));
    const auto text = text_at(from);
    const auto wanted =
        what.is_integer() ? std::optional(std::string(1, static_cast<char>(what.integer))) : text_at(what);
    if (!text || !wanted) return Value::not_known("a text", line);
    const std::size_t at = name == "strrchr" ? text->rfind(*wanted) : text->find(*wanted);
    if (at == std::string::npos) return Value::pointer_to({});
    return Value::pointer_to({from.place.memory, from.place.key + static_cast<std::int64_t>(at)});
  }
  if (count == 1 && (name == "isdigit" || name == "isalpha" || name == "isalnum" || name == "isspace" ||
                     name == "tolower" || name == "toupper")) {
    const Value c = evaluate(call->getArg(0));
    if (!c.is_integer() || c.integer < 0 || c.integer > 127)
      return c.known() ? Value::not_known("a character", line) : c;
    const int n = static_cast<int>(c.integer);
    if (name == "isdigit") return Value::of(std::isdigit(n) != 0 ? 1 : 0);
    if (name == "isalpha") return Value::of(std::isalpha(n) != 0 ? 1 : 0);
    if (name == "isalnum") return Value::of(std::isalnum(n) != 0 ? 1 : 0);
    if (name == "isspace") return Value::of(std::isspace(n) != 0 ? 1 : 0);
    return Value::of(name == "tolower" ? std::tolower(n) : std::toupper(n));
  }
  return std::nullopt;
}

}  // namespace kernelcast::frontend::host
