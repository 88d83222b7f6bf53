// std::map and std::set, ordered or not, with keys that are numbers or texts: key -1 of an object is the pointer to its
// elements, -2 their number, as of std::vector; iterators are pointers to elements. Ordered ones keep their elements
// sorted, the others in the order of insertion. With a key that is not known, the number of elements is not known.
#include <algorithm>

#include "frontend/host/interpreter.h"

namespace kernelcast::frontend::host {
namespace {

struct Shape {
  bool pairs = false;  // elements are pairs of key and value
  bool ordered = false;
  bool multiple = false;
  bool descending = false;
};

std::optional<Shape> shape_of(const clang::CXXRecordDecl* record) {
  const auto* made = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  if (made == nullptr || !made->isInStdNamespace()) return std::nullopt;
  const std::string name = made->getNameAsString();
  const bool known = name == "map" || name == "set" || name == "multimap" || name == "multiset" ||
                     name == "unordered_map" || name == "unordered_set";
  if (!known) return std::nullopt;
  Shape shape;
  shape.pairs = name.ends_with("map");
  shape.ordered = !name.starts_with("unordered");
  shape.multiple = name.starts_with("multi");
  if (shape.ordered) {
    const auto& arguments = made->getTemplateArgs();
    const unsigned at = shape.pairs ? 2 : 1;
    const auto* order = at < arguments.size() && arguments[at].getKind() == clang::TemplateArgument::Type
                            ? arguments[at].getAsType()->getAsCXXRecordDecl()
                            : nullptr;
    if (order == nullptr || (order->getName() != "less" && order->getName() != "greater")) return std::nullopt;
    shape.descending = order->getName() == "greater";
  }
  return shape;
}

/// The type that the class names `value_type`.
clang::QualType element_type(const clang::CXXRecordDecl* record) {
  for (const clang::Decl* d : record->decls())
    if (const auto* name = llvm::dyn_cast<clang::TypedefNameDecl>(d);
        name != nullptr && name->getName() == "value_type")
      return name->getUnderlyingType();
  return {};
}

}  // namespace

/// Less than 0, 0, or more; nothing: it cannot be told.
std::optional<int> Interpreter::compared(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return a.number() < b.number() ? -1 : a.number() > b.number() ? 1 : 0;
  if (a.kind == Value::Kind::pointer || b.kind == Value::Kind::pointer) return std::nullopt;
  const auto left = text_of(a), right = text_of(b);
  if (!left || !right) return std::nullopt;
  return left->compare(*right);
}

bool Interpreter::is_associative(clang::QualType type) const {
  return !type.isNull() && shape_of(type.getNonReferenceType()->getAsCXXRecordDecl()).has_value();
}

Value Interpreter::construct_associative(const clang::CXXConstructExpr* e) {
  auto memory = std::make_shared<Memory>();
  Value elements = allocation(Value::of(0), line_of(e), false, false);
  memory->slots[-1] = elements;
  memory->slots[-2] = Value::of(0);
  const clang::CXXRecordDecl* record = e->getConstructor()->getParent();
  const clang::Expr* first = e->getNumArgs() > 0 ? e->getArg(0) : nullptr;
  if (first == nullptr || llvm::isa<clang::CXXDefaultArgExpr>(first)) return Value::object_of(memory);
  const Elements given = elements_of(first);
  if (given.memory == nullptr || !given.count.is_integer()) {
    memory->slots[-2] = Value::not_known("a range", line_of(e));
    return Value::object_of(memory);
  }
  for (std::int64_t k = 0; k < given.count.integer; ++k) {
    step(e);
    add_element(*memory, record, load({given.memory, k}, e), line_of(e));
  }
  return Value::object_of(memory);
}

/// The key of an element.
Value Interpreter::key_in(const clang::CXXRecordDecl* record, const Value& element) {
  const auto shape = shape_of(record);
  return shape && shape->pairs ? field(element, element_type(record), "first", 0) : element;
}

/// Where an element with the key is, or -1 and where it would be; nothing: a key is not known.
std::optional<std::pair<std::int64_t, std::int64_t>> Interpreter::find_key(const Memory& memory,
                                                                           const clang::CXXRecordDecl* record,
                                                                           const Value& key) {
  const auto size = memory.slots.find(-2), data = memory.slots.find(-1);
  const auto shape = shape_of(record);
  if (!shape || !key.known() || size == memory.slots.end() || !size->second.is_integer()) return std::nullopt;
  auto& slots = data->second.place.memory->slots;
  const std::int64_t count = size->second.integer;
  if (shape->ordered) {
    std::int64_t low = 0, high = count;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      auto order = compared(key_in(record, slots[middle]), key);
      if (!order) return std::nullopt;
      if (shape->descending) order = -*order;
      if (*order == 0) return std::pair{middle, middle};
      (*order < 0 ? low : high) = *order < 0 ? middle + 1 : middle;
    }
    return std::pair{std::int64_t{-1}, low};
  }
  for (std::int64_t k = 0; k < count; ++k) {
    ++steps_;
    const auto order = compared(key_in(record, slots[k]), key);
    if (!order) return std::nullopt;
    if (*order == 0) return std::pair{k, k};
  }
  return std::pair{std::int64_t{-1}, count};
}

/// Where the element is, whether it is new; nothing: its key is not known.
std::optional<std::pair<std::int64_t, bool>> Interpreter::add_element(Memory& memory,
                                                                      const clang::CXXRecordDecl* record,
                                                                      const Value& element, int line) {
  const auto shape = shape_of(record);
  const auto at = find_key(memory, record, key_in(record, element));
  if (!at) {
    memory.slots[-2] = Value::not_known("std::" + record->getNameAsString() + " with a key that is not known", line);
    return std::nullopt;
  }
  if (at->first >= 0 && !shape->multiple) return std::pair{at->first, false};
  insert_elements(*memory.slots[-1].place.memory, at->second, {copied(element)});
  memory.slots[-2].integer += 1;
  return std::pair{at->second, true};
}

std::optional<Value> Interpreter::associative_call(const clang::CallExpr* call, const clang::CXXMethodDecl* method) {
  const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
  const clang::Expr* object = member != nullptr                             ? member->getImplicitObjectArgument()
                              : method != nullptr && call->getNumArgs() > 0 ? call->getArg(0)
                                                                            : nullptr;
  if (object == nullptr) return std::nullopt;
  const clang::QualType type =
      object->getType()->isPointerType() ? object->getType()->getPointeeType() : object->getType();
  if (!is_associative(type)) return std::nullopt;
  const clang::CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  const Shape shape = *shape_of(record);
  const int line = line_of(call);
  const Place place = object->getType()->isPointerType() ? evaluate(object).place : place_of(object);
  Value self = place.memory ? load(place, object) : Value{};
  const std::string name = method->getNameAsString();
  const unsigned shift = member != nullptr ? 0 : 1;
  const unsigned count = call->getNumArgs() - shift;
  const auto argument_at = [&](unsigned k) { return call->getArg(k + shift); };
  if (self.kind != Value::Kind::object || !self.place.memory)
    return unknown_call(call, "std::" + record->getNameAsString());
  Memory& memory = *self.place.memory;
  if (!memory.slots.contains(-1)) {  // of an array or a member
    memory.slots[-1] = allocation(Value::of(0), line, false, false);
    memory.slots[-2] = Value::of(0);
  }
  const Value data = memory.slots[-1], size = memory.slots[-2];
  const auto element = [&](std::int64_t k) { return Value::pointer_to({data.place.memory, k}); };
  const auto not_known = [&] {
    return Value::not_known("std::" + record->getNameAsString() + "::" + name + "()", line);
  };
  if (name == "size") return size;
  if (name == "empty") return size.is_integer() ? Value::of(size.integer == 0) : size;
  if (name == "begin" || name == "cbegin") return element(0);
  if (name == "end" || name == "cend") return size.is_integer() ? element(size.integer) : size;
  if (name == "clear") {
    memory.slots[-1] = allocation(Value::of(0), line, false, false);
    memory.slots[-2] = Value::of(0);
    return Value::of(0);
  }
  if (name == "operator=" && count == 1) {
    store(place, copied(evaluate(argument_at(0))));
    return Value::pointer_to(place);
  }
  const auto key_given = [&] { return copied(evaluate(argument_at(0))); };
  if ((name == "find" || name == "count" || name == "contains" || name == "at") && count == 1) {
    const auto at = find_key(memory, record, key_given());
    if (!at) return call->isLValue() ? Value::pointer_to(temporary(not_known())) : not_known();
    if (name == "count" || name == "contains") return Value::of(at->first >= 0 ? 1 : 0);
    if (name == "find") return element(at->first >= 0 ? at->first : size.integer);
    if (at->first < 0) throw ProgramEnd{"an exception is thrown", line};
  }
  if ((name == "operator[]" || name == "at") && shape.pairs && count == 1) {
    const clang::QualType pair = element_type(record);
    const auto* of_pair = pair.isNull() ? nullptr : pair->getAsCXXRecordDecl();
    const clang::FieldDecl *first = field_named(of_pair, "first"), *second = field_named(of_pair, "second");
    if (first == nullptr || second == nullptr) return Value::pointer_to(temporary(not_known()));
    Value fresh = empty_of(pair, "it has no value yet", line);
    fresh.place.memory->slots[key_of(first)] = key_given();
    fresh.place.memory->slots[key_of(second)] = zero_of(second->getType());
    const auto at = add_element(memory, record, fresh, line);
    if (!at) return Value::pointer_to(temporary(not_known()));
    const Value& held = data.place.memory->slots[at->first];
    return Value::pointer_to({held.place.memory, key_of(second)});
  }
  if ((name == "insert" || name == "emplace") && count >= 1) {
    Value added;
    if (count == 1 || name == "insert") {
      added = copied(evaluate(argument_at(count - 1)));
    } else if (shape.pairs && count == 2) {
      const clang::QualType pair = element_type(record);
      const auto* of_pair = pair.isNull() ? nullptr : pair->getAsCXXRecordDecl();
      added = empty_of(pair, "it has no value yet", line);
      for (unsigned k = 0; k < 2; ++k)
        if (const clang::FieldDecl* f = field_named(of_pair, k == 0 ? "first" : "second"); f && added.place.memory)
          added.place.memory->slots[key_of(f)] = copied(evaluate(argument_at(k)));
    }
    if (shape.pairs && added.kind == Value::Kind::object && count == 1)
      added = as_pair(added, argument_at(0)->getType(), element_type(record));
    const auto at = add_element(memory, record, added, line);
    if (!at) return not_known();
    if (call->getType()->isRecordType() && !is_iterator(call->getType())) {  // pair of iterator and bool
      Value pair = empty_of(call->getType(), "it has no value yet", line);
      const auto* of_pair = call->getType()->getAsCXXRecordDecl();
      if (const clang::FieldDecl* f = field_named(of_pair, "first"))
        pair.place.memory->slots[key_of(f)] = element(at->first);
      if (const clang::FieldDecl* f = field_named(of_pair, "second"))
        pair.place.memory->slots[key_of(f)] = Value::of(at->second ? 1 : 0);
      return pair;
    }
    return element(at->first);
  }
  if (name == "erase" && count == 1) {
    const Value given = evaluate(argument_at(0));
    std::int64_t at = -1;
    if (given.kind == Value::Kind::pointer && given.place.memory == data.place.memory) {
      at = given.place.key;
    } else if (const auto found = find_key(memory, record, given)) {
      at = found->first;
    } else {
      memory.slots[-2] = not_known();
      return not_known();
    }
    if (at < 0) return Value::of(0);
    std::map<std::int64_t, Value> rest;
    for (auto& [key, value] : data.place.memory->slots)
      if (key != at) rest[key < at ? key : key - 1] = std::move(value);
    data.place.memory->slots = std::move(rest);
    memory.slots[-2] = Value::of(size.integer - 1);
    return given.kind == Value::Kind::pointer ? element(at) : Value::of(1);
  }
  for (unsigned k = 0; k < count; ++k) evaluate(argument_at(k));
  if (!method->isConst()) memory.slots[-2] = not_known();
  return call->isLValue() ? Value::pointer_to(temporary(not_known())) : not_known();
}

/// A pair as one of another type.
Value Interpreter::as_pair(const Value& pair, clang::QualType from, clang::QualType to) {
  const auto* record = to.isNull() ? nullptr : to->getAsCXXRecordDecl();
  if (record == nullptr || record == from.getNonReferenceType()->getAsCXXRecordDecl()) return pair;
  Value made = empty_of(to, "it has no value yet", 0);
  for (const char* name : {"first", "second"})
    if (const clang::FieldDecl* f = field_named(record, name); f != nullptr && made.place.memory)
      made.place.memory->slots[key_of(f)] =
          converted(copied(field(pair, from.getNonReferenceType(), name, 0)), f->getType());
  return made;
}

}  // namespace kernelcast::frontend::host
