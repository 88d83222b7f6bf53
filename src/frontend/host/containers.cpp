// Parts of the C++ library beside std::vector: iterators are pointers to elements, std::array is its one member,
// std::pair its two, std::function what it was made from. Algorithms that write make contents unknown.
#include <algorithm>

#include "frontend/host/interpreter.h"

namespace kernelcast::frontend::host {
namespace {

constexpr std::int64_t kLongestSum = 100'000;

bool is_pointer(const Value& v) { return v.kind == Value::Kind::pointer && v.place.memory != nullptr; }

}  // namespace

bool Interpreter::is_iterator(clang::QualType type) const {
  const auto* record = class_of(type);
  if (record == nullptr || !record->getDeclName().isIdentifier()) return false;
  const llvm::StringRef name = record->getName();
  return name == "__normal_iterator" || name == "_Rb_tree_iterator" || name == "_Rb_tree_const_iterator" ||
         name == "_Node_iterator" || name == "_Node_iterator_base" || name == "_Node_const_iterator";
}

/// The elements of a vector, array or std::array and their number; no memory: another type, or not known.
Interpreter::Elements Interpreter::elements_of(const clang::Expr* e) {
  if (const auto* given = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(e->IgnoreParenImpCasts())) {
    const auto* list = llvm::dyn_cast<clang::InitListExpr>(given->getSubExpr()->IgnoreUnlessSpelledInSource());
    if (list == nullptr) return {};
    auto memory = std::make_shared<Memory>();
    for (unsigned k = 0; k < list->getNumInits(); ++k) memory->slots[k] = copied(evaluate(list->getInit(k)));
    return {memory, Value::of(list->getNumInits())};
  }
  const Place place = place_of(e);
  const Value held = load(place, e);
  if (held.kind != Value::Kind::object || held.place.memory == nullptr) return {};
  auto& slots = held.place.memory->slots;
  if (const auto data = slots.find(-1); data != slots.end()) return {data->second.place.memory, slots[-2]};
  const auto* record = class_of(e->getType());
  if (const auto* made = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
      made != nullptr && made->isInStdNamespace() && made->getName() == "array" &&
      made->getTemplateArgs().size() == 2 &&
      made->getTemplateArgs()[1].getKind() == clang::TemplateArgument::Integral) {
    const clang::FieldDecl* f = field_named(made, "_M_elems");
    if (f == nullptr) return {};
    Value& inner = slots[key_of(f)];
    if (inner.kind != Value::Kind::object || inner.place.memory == nullptr)
      inner = empty_of(f->getType(), "it has no value yet", line_of(e));
    return {inner.place.memory, Value::of(made->getTemplateArgs()[1].getAsIntegral().getExtValue())};
  }
  if (const auto* array = context_.getAsConstantArrayType(e->getType()))
    return {held.place.memory, Value::of(static_cast<std::int64_t>(array->getSize().getZExtValue()))};
  return {};
}

std::optional<Value> Interpreter::array_call(const clang::CallExpr* call, const clang::CXXMethodDecl* method) {
  if (method == nullptr || !method->getParent()->isInStdNamespace() || method->getParent()->getName() != "array")
    return std::nullopt;
  const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
  const clang::Expr* object = member != nullptr ? member->getImplicitObjectArgument() : call->getArg(0);
  if (object->getType()->isPointerType()) return std::nullopt;
  const Elements elements = elements_of(object);
  if (elements.memory == nullptr) return std::nullopt;
  const std::string name = method->getNameAsString();
  if (name == "size") return elements.count;
  if (name == "data" || name == "begin" || name == "cbegin" || name == "front")
    return Value::pointer_to({elements.memory, 0});
  if (name == "end" || name == "cend") return Value::pointer_to({elements.memory, elements.count.integer});
  if (name == "back") return Value::pointer_to({elements.memory, elements.count.integer - 1});
  const unsigned shift = member != nullptr ? 0 : 1;
  if ((name == "operator[]" || name == "at") && call->getNumArgs() > shift) {
    const Value index = evaluate(call->getArg(shift));
    if (!index.is_integer()) return Value::not_known("an element", line_of(call));
    return Value::pointer_to({elements.memory, index.integer});
  }
  if (name == "fill" && call->getNumArgs() > shift) {
    elements.memory->slots.clear();
    elements.memory->rest = copied(evaluate(call->getArg(shift)));
    return Value::of(0);
  }
  return std::nullopt;
}

std::optional<std::vector<Value>> Interpreter::inserted(const clang::Expr* call, const clang::Expr* first,
                                                        const clang::Expr* last) {
  const Value begin = evaluate(first);
  if (last == nullptr) return std::vector<Value>{copied(begin)};
  const Value end = evaluate(last);
  std::vector<Value> values;
  if (begin.is_integer()) {
    if (begin.integer < 0 || begin.integer > kLongestSum) return std::nullopt;
    values.assign(static_cast<std::size_t>(begin.integer), copied(end));
    return values;
  }
  if (!is_pointer(begin) || end.place.memory != begin.place.memory || end.place.key - begin.place.key > kLongestSum)
    return std::nullopt;
  for (std::int64_t k = begin.place.key; k < end.place.key; ++k) {
    step(call);
    values.push_back(copied(load({begin.place.memory, k}, first)));
  }
  return values;
}

void insert_elements(Memory& memory, std::int64_t at, const std::vector<Value>& added) {
  std::map<std::int64_t, Value> moved;
  for (auto& [key, value] : memory.slots)
    moved[key < at ? key : key + static_cast<std::int64_t>(added.size())] = std::move(value);
  for (std::size_t k = 0; k < added.size(); ++k) moved[at + static_cast<std::int64_t>(k)] = added[k];
  memory.slots = std::move(moved);
}

std::optional<Value> Interpreter::iterator_operator(const clang::CXXOperatorCallExpr* o) {
  if (!is_iterator(o->getArg(0)->getType())) return std::nullopt;
  const int line = line_of(o);
  const Place place = place_of(o->getArg(0));
  const Value self = load(place, o->getArg(0));
  const Value other = o->getNumArgs() > 1 ? evaluate(o->getArg(1)) : Value::of(0);
  const auto moved = [&](std::int64_t by) { return Value::pointer_to({self.place.memory, self.place.key + by}); };
  const bool reference = o->isLValue();
  if (!is_pointer(self)) {
    if (o->isAssignmentOp()) {
      store(place, other);
      return Value::pointer_to(place);
    }
    return self.known() ? Value::not_known("an iterator", line) : self;
  }
  switch (o->getOperator()) {
    case clang::OO_PlusPlus:
    case clang::OO_MinusMinus: {
      store(place, moved(o->getOperator() == clang::OO_PlusPlus ? 1 : -1));
      return reference ? Value::pointer_to(place) : self;
    }
    case clang::OO_PlusEqual:
    case clang::OO_MinusEqual:
      store(place, other.is_integer() ? moved(o->getOperator() == clang::OO_PlusEqual ? other.integer : -other.integer)
                                      : Value::not_known("an iterator", line));
      return Value::pointer_to(place);
    case clang::OO_Equal:
      store(place, other);
      return Value::pointer_to(place);
    case clang::OO_Star:
    case clang::OO_Arrow:
      return self;
    case clang::OO_Subscript:
      return other.is_integer() ? moved(other.integer) : Value::not_known("an element", line);
    case clang::OO_Plus:
      return binary(clang::BO_Add, self, other, o->getType(), o->getType(), line);
    case clang::OO_Minus:
      return binary(clang::BO_Sub, self, other, o->getType(), o->getType(), line);
    case clang::OO_EqualEqual:
      return binary(clang::BO_EQ, self, other, o->getType(), o->getType(), line);
    case clang::OO_ExclaimEqual:
      return binary(clang::BO_NE, self, other, o->getType(), o->getType(), line);
    case clang::OO_Less:
      return binary(clang::BO_LT, self, other, o->getType(), o->getType(), line);
    default:
      return Value::not_known("an iterator", line);
  }
}

std::optional<Value> Interpreter::algorithm_call(const std::string& name, const clang::CallExpr* call) {
  const clang::FunctionDecl* f = call->getDirectCallee();
  if (f == nullptr || !f->isInStdNamespace()) return std::nullopt;
  const unsigned count = call->getNumArgs();
  const int line = line_of(call);
  if ((name == "begin" || name == "end" || name == "data" || name == "size") && count == 1) {
    const Elements elements = elements_of(call->getArg(0));
    if (elements.memory == nullptr) return std::nullopt;
    if (name == "size") return elements.count;
    if (name != "end") return Value::pointer_to({elements.memory, 0});
    return elements.count.is_integer() ? Value::pointer_to({elements.memory, elements.count.integer}) : elements.count;
  }
  if (name == "make_pair" && count == 2) {
    Value pair = empty_of(call->getType(), "it has no value yet", line);
    if (const auto* record = class_of(call->getType()); record != nullptr && pair.kind == Value::Kind::object)
      for (unsigned k = 0; k < 2; ++k)
        if (const clang::FieldDecl* of_pair = field_named(record, k == 0 ? "first" : "second"))
          pair.place.memory->slots[key_of(of_pair)] = copied(evaluate(call->getArg(k)));
    return pair;
  }
  if (name == "shuffle" && count == 3) {
    const Value begin = evaluate(call->getArg(0)), end = evaluate(call->getArg(1));
    if (!is_pointer(begin) || end.place.memory != begin.place.memory) return std::nullopt;
    const std::int64_t places = end.place.key - begin.place.key;
    if (places >= 0 && places <= kLongestSum && shuffle(begin.place, places, call->getArg(2))) return Value::of(0);
    forget_elements(*begin.place.memory, "std::shuffle", line);
    return Value::of(0);
  }
  if (name == "iota" && count == 3) {
    const Value begin = evaluate(call->getArg(0)), end = evaluate(call->getArg(1)), from = evaluate(call->getArg(2));
    if (!is_pointer(begin) || end.place.memory != begin.place.memory) return std::nullopt;
    if (!from.is_integer() || end.place.key - begin.place.key > kLongestSum) {
      forget_elements(*begin.place.memory, "std::iota", line);
      return Value::of(0);
    }
    for (std::int64_t k = begin.place.key; k < end.place.key; ++k) {
      step(call);
      store({begin.place.memory, k}, Value::of(from.integer + k - begin.place.key));
    }
    return Value::of(0);
  }
  if (name == "fill" && count == 3) {
    const Value begin = evaluate(call->getArg(0)), end = evaluate(call->getArg(1));
    if (!is_pointer(begin) || !is_pointer(end)) return std::nullopt;
    const Value content = copied(evaluate(call->getArg(2)));
    begin.place.memory->slots.clear();
    begin.place.memory->rest = begin.place.key == 0 ? content : Value::not_known("std::fill", line);
    return Value::of(0);
  }
  if ((name == "copy" || name == "copy_n") && count == 3) {
    const Value begin = evaluate(call->getArg(0)), end = evaluate(call->getArg(1)), to = evaluate(call->getArg(2));
    if (!is_pointer(begin) || !is_pointer(to)) return std::nullopt;
    std::int64_t copies = end.integer;
    if (name == "copy") copies = end.place.memory == begin.place.memory ? end.place.key - begin.place.key : -1;
    if (copies < 0 || copies > kLongestSum || (name == "copy_n" && !end.is_integer())) return std::nullopt;
    for (std::int64_t k = 0; k < copies; ++k) {
      step(call);
      store({to.place.memory, to.place.key + k}, copied(load({begin.place.memory, begin.place.key + k}, call)));
    }
    return Value::pointer_to({to.place.memory, to.place.key + copies});
  }
  if ((name == "accumulate" || name == "reduce") && count == 3) {
    const Value begin = evaluate(call->getArg(0)), end = evaluate(call->getArg(1));
    Value sum = evaluate(call->getArg(2));
    if (!is_pointer(begin) || end.place.memory != begin.place.memory || end.place.key - begin.place.key > kLongestSum)
      return Value::not_known("std::" + name, line);
    for (std::int64_t k = begin.place.key; k < end.place.key && sum.known(); ++k) {
      step(call);
      sum = binary(clang::BO_Add, sum, load({begin.place.memory, k}, call->getArg(0)), call->getType(), call->getType(),
                   line);
    }
    return sum;
  }
  if (name == "distance" && count == 2)
    return binary(clang::BO_Sub, evaluate(call->getArg(1)), evaluate(call->getArg(0)), call->getType(), call->getType(),
                  line);
  if ((name == "max" || name == "min") && count == 1)
    if (llvm::isa<clang::CXXStdInitializerListExpr>(call->getArg(0)->IgnoreParenImpCasts())) {
      const Elements list = elements_of(call->getArg(0));
      Value best;
      for (std::int64_t k = 0; k < list.count.integer; ++k) {
        const Value v = load({list.memory, k}, call);
        if (!v.is_number()) return v.known() ? Value::not_known(name, line) : v;
        if (k == 0 || (name == "max" ? v.number() > best.number() : v.number() < best.number())) best = v;
      }
      return best;
    }
  return std::nullopt;
}

/// What a call of an object calls: the body of a lambda, directly or through std::function.
std::optional<Value> Interpreter::function_object_call(const clang::CXXOperatorCallExpr* o) {
  if (o->getOperator() != clang::OO_Call || o->getNumArgs() == 0) return std::nullopt;
  const auto* record = class_of(o->getArg(0)->getType());
  if (record == nullptr || !record->isInStdNamespace() || record->getName() != "function") return std::nullopt;
  const Value callee = evaluate(o->getArg(0));
  const clang::FunctionDecl* defined = nullptr;
  if (callee.function == nullptr || !callee.function->hasBody(defined)) return unknown_call(o, "std::function");
  return call_body(defined, o->getArgs() + 1, o->getNumArgs() - 1, std::nullopt, line_of(o));
}

}  // namespace kernelcast::frontend::host
