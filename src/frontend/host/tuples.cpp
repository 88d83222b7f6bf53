// std::tuple: an object whose keys are positions; std::get of it, of a pair and of an array; std::tie, which keeps
// pointers to what it ties.
#include "frontend/host/interpreter.h"

namespace kernelcast::frontend::host {
namespace {

const clang::ClassTemplateSpecializationDecl* tuple_class(clang::QualType type) {
  const auto* made = type.isNull() ? nullptr
                                   : llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(
                                         type.getNonReferenceType()->getAsCXXRecordDecl());
  return made != nullptr && made->isInStdNamespace() && made->getName() == "tuple" ? made : nullptr;
}

/// The types of a tuple's elements.
std::vector<clang::QualType> element_types(const clang::ClassTemplateSpecializationDecl* tuple) {
  std::vector<clang::QualType> types;
  for (const clang::TemplateArgument& pack : tuple->getTemplateArgs().asArray())
    if (pack.getKind() == clang::TemplateArgument::Pack)
      for (const clang::TemplateArgument& a : pack.pack_elements()) types.push_back(a.getAsType());
  return types;
}

}  // namespace

bool Interpreter::is_tuple(clang::QualType type) const { return tuple_class(type) != nullptr; }

Value Interpreter::made_tuple(clang::QualType type, const clang::Expr* const* given, unsigned count) {
  auto memory = std::make_shared<Memory>();
  memory->rest = Value::not_known("it has no value yet", 0);
  const auto* made = tuple_class(type);
  const auto types = made != nullptr ? element_types(made) : std::vector<clang::QualType>{};
  for (unsigned k = 0; k < types.size(); ++k) {
    if (k >= count)
      memory->slots[k] = zero_of(types[k]);
    else if (types[k]->isReferenceType())
      memory->slots[k] = Value::pointer_to(place_of(given[k]));
    else
      memory->slots[k] = converted(copied(evaluate(given[k])), types[k]);
  }
  return Value::object_of(std::move(memory));
}

Value Interpreter::construct_tuple(const clang::CXXConstructExpr* e) {
  if (e->getNumArgs() != 1 || !is_tuple(e->getArg(0)->getType()))
    return made_tuple(e->getType(), e->getArgs(), e->getNumArgs());
  Value made = copied(evaluate(e->getArg(0)));  // of other types
  const auto types = element_types(tuple_class(e->getType()));
  const auto given = element_types(tuple_class(e->getArg(0)->getType()));
  if (made.kind == Value::Kind::object && made.place.memory && types.size() == given.size())
    for (unsigned k = 0; k < types.size(); ++k)
      if (const auto slot = made.place.memory->slots.find(k);
          slot != made.place.memory->slots.end() && !given[k]->isReferenceType())
        slot->second = converted(slot->second, types[k]);
  return made;
}

/// `tuple = tuple`, with the elements that are references stored through.
std::optional<Value> Interpreter::assign_tuple(const clang::CXXOperatorCallExpr* o) {
  if (o->getOperator() != clang::OO_Equal || o->getNumArgs() != 2) return std::nullopt;
  const auto* to = tuple_class(o->getArg(0)->getType());
  const auto* from = tuple_class(o->getArg(1)->getType());
  if (to == nullptr || from == nullptr) return std::nullopt;
  const Value value = copied(evaluate(o->getArg(1)));
  const Place place = place_of(o->getArg(0));
  const auto types = element_types(to), given = element_types(from);
  Value held = load(place, o->getArg(0));
  if (held.kind != Value::Kind::object || !held.place.memory || value.kind != Value::Kind::object ||
      types.size() != given.size()) {
    store(place, value);
    return Value::pointer_to(place);
  }
  for (unsigned k = 0; k < types.size(); ++k) {
    Value element = load({value.place.memory, k}, o->getArg(1));
    if (given[k]->isReferenceType() && element.kind == Value::Kind::pointer)
      element = load(element.place, o->getArg(1));
    Value& slot = held.place.memory->slots[k];
    if (types[k]->isReferenceType())
      store(slot.place, converted(copied(element), types[k]));
    else
      slot = converted(copied(element), types[k]);
  }
  return Value::pointer_to(place);
}

std::optional<Value> Interpreter::tuple_call(const std::string& name, const clang::CallExpr* call) {
  const clang::FunctionDecl* f = call->getDirectCallee();
  if (f == nullptr || !f->isInStdNamespace()) return std::nullopt;
  if (name == "make_tuple" || name == "tie" || name == "forward_as_tuple")
    return made_tuple(call->getType(), call->getArgs(), call->getNumArgs());
  const auto* arguments = f->getTemplateSpecializationArgs();
  if (name != "get" || call->getNumArgs() != 1 || arguments == nullptr || arguments->size() == 0 ||
      arguments->get(0).getKind() != clang::TemplateArgument::Integral)
    return std::nullopt;
  return element_of(call->getArg(0), static_cast<unsigned>(arguments->get(0).getAsIntegral().getZExtValue()));
}

/// std::get: a pointer to the element.
std::optional<Value> Interpreter::element_of(const clang::Expr* whole, unsigned k) {
  const clang::QualType type = whole->getType().getNonReferenceType();
  const auto* record = type->getAsCXXRecordDecl();
  const Place place = place_of(whole);
  const Value held = place.memory ? load(place, whole) : Value{};
  if (record == nullptr || held.kind != Value::Kind::object || !held.place.memory) return std::nullopt;
  if (const auto* tuple = tuple_class(type)) {
    const auto types = element_types(tuple);
    if (k < types.size() && types[k]->isReferenceType())
      if (const auto slot = held.place.memory->slots.find(k); slot != held.place.memory->slots.end())
        return slot->second;
    return Value::pointer_to({held.place.memory, k});
  }
  if (record->isInStdNamespace() && record->getName() == "pair" && k < 2)
    if (const clang::FieldDecl* f = field_named(record, k == 0 ? "first" : "second"))
      return Value::pointer_to({held.place.memory, key_of(f)});
  const Elements elements = elements_of(whole);
  if (elements.memory == nullptr) return std::nullopt;
  return Value::pointer_to({elements.memory, k});
}

}  // namespace kernelcast::frontend::host
