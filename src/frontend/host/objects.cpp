// Objects of the host program: their memory, fields, and first contents.
#include <algorithm>

#include "frontend/host/interpreter.h"

namespace kernelcast::frontend::host {

std::int64_t Interpreter::size_of(clang::QualType type) const {
  if (type.isNull() || type->isIncompleteType() || type->isDependentType() || type->isFunctionType() ||
      type->isPlaceholderType())
    return 0;
  return context_.getTypeSizeInChars(type.getNonReferenceType()).getQuantity();
}

bool Interpreter::is_dim3(clang::QualType type) const {
  const auto* record = type.isNull() ? nullptr : type.getNonReferenceType()->getAsCXXRecordDecl();
  return record != nullptr && record->getName() == "dim3";
}

std::int64_t Interpreter::key_of(const clang::FieldDecl* f) {
  if (f->getParent()->getName() == "dim3") return dimension_key(f->getFieldIndex());
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(f->getCanonicalDecl()));
}

const clang::FieldDecl* Interpreter::field_named(const clang::CXXRecordDecl* record, const std::string& name) const {
  if (record == nullptr) return nullptr;
  for (const clang::FieldDecl* f : record->fields())
    if (f->getName() == name) return f;
  return nullptr;
}

Value Interpreter::field(const Value& object, clang::QualType type, const std::string& name, int line) {
  const clang::FieldDecl* f = type.isNull() ? nullptr : field_named(type->getAsCXXRecordDecl(), name);
  if (f == nullptr || object.kind != Value::Kind::object || !object.place.memory)
    return Value::not_known(name + " is not known", line);
  const auto slot = object.place.memory->slots.find(key_of(f));
  return slot == object.place.memory->slots.end() ? object.place.memory->rest : slot->second;
}

Place Interpreter::temporary(Value value) {
  auto memory = std::make_shared<Memory>();
  memory->slots[0] = std::move(value);
  return {memory, 0};
}

namespace {

/// Of the class and of what it is derived from: one memory holds them all.
std::vector<const clang::FieldDecl*> fields_of(const clang::CXXRecordDecl* record) {
  std::vector<const clang::FieldDecl*> fields;
  if (record == nullptr || !record->hasDefinition()) return fields;
  for (const clang::CXXBaseSpecifier& base : record->bases())
    for (const clang::FieldDecl* f : fields_of(base.getType()->getAsCXXRecordDecl())) fields.push_back(f);
  fields.insert(fields.end(), record->field_begin(), record->field_end());
  return fields;
}

}  // namespace

Value Interpreter::zero_of(clang::QualType type) {
  if (type->isPointerType() || type->isNullPtrType()) return Value::pointer_to({});
  if (type->isRealFloatingType()) return Value::of_real(0);
  if (type->isIntegralOrEnumerationType()) return Value::of(0);
  Value v = empty_of(type, "", 0);
  if (const auto* array = context_.getAsArrayType(type); array != nullptr && v.place.memory)
    for (auto& [key, held] : v.place.memory->slots) held = zero_of(array->getElementType());
  if (v.place.memory && !type->isRecordType()) v.place.memory->rest = Value::of(0);
  if (v.place.memory && type->isRecordType()) {
    for (const clang::FieldDecl* f : fields_of(type->getAsCXXRecordDecl()))
      v.place.memory->slots[key_of(f)] = zero_of(f->getType());
  }
  return v;
}

Value Interpreter::empty_of(clang::QualType type, const std::string& why, int line) {
  if (const auto* array = context_.getAsArrayType(type)) {
    auto memory = std::make_shared<Memory>();
    const clang::QualType element = array->getElementType();
    if (const auto* fixed = llvm::dyn_cast<clang::ConstantArrayType>(array)) {
      memory->bytes = Value::of(static_cast<std::int64_t>(fixed->getSize().getZExtValue()) * size_of(element));
      if (element->isArrayType() || element->isRecordType()) {
        const std::int64_t count = static_cast<std::int64_t>(fixed->getSize().getZExtValue());
        for (std::int64_t k = 0; k < std::min<std::int64_t>(count, 4096); ++k)
          memory->slots[k] = empty_of(element, why, line);
      }
    } else if (const auto* variable_length = llvm::dyn_cast<clang::VariableArrayType>(array);
               variable_length != nullptr && variable_length->getSizeExpr() != nullptr) {
      const Value count = evaluate(variable_length->getSizeExpr());
      memory->bytes = count.is_integer() ? Value::of(count.integer * size_of(element)) : count;
    }
    memory->rest = Value::not_known(why, line);
    return Value::object_of(memory);
  }
  if (type->isRecordType()) {
    auto memory = std::make_shared<Memory>();
    memory->rest = Value::not_known(why, line);
    if (const auto* record = type->getAsCXXRecordDecl();
        record != nullptr && !record->isUnion() && !is_of_the_system(record->getLocation())) {
      for (const clang::FieldDecl* f : fields_of(record))
        if (f->getType()->isRecordType() || f->getType()->isArrayType())
          memory->slots[key_of(f)] = empty_of(f->getType(), why, line);
    }
    return Value::object_of(memory);
  }
  return Value::not_known(why, line);
}

Value Interpreter::evaluate_list(const clang::InitListExpr* list) {
  const clang::InitListExpr* l =
      list->isSemanticForm() || list->getSemanticForm() == nullptr ? list : list->getSemanticForm();
  const clang::QualType type = l->getType();
  if (type.isNull()) return Value::not_known("code that cannot be compiled", line_of(list));
  if (l->isTransparent() || (!type->isRecordType() && !type->isArrayType()))
    return l->getNumInits() > 0 ? converted(evaluate(l->getInit(0)), type) : zero_of(type);
  Value object = zero_of(type);
  if (object.kind != Value::Kind::object) return Value::not_known("a list of values", line_of(list));
  const MemoryRef memory = object.place.memory;
  if (type->isArrayType()) {
    for (unsigned k = 0; k < l->getNumInits(); ++k)
      if (l->getInit(k) != nullptr) memory->slots[k] = copied(evaluate(l->getInit(k)));
    return object;
  }
  unsigned k = 0;
  if (const clang::FieldDecl* member = l->getInitializedFieldInUnion(); member != nullptr && l->getNumInits() > 0) {
    Value value = converted(copied(evaluate(l->getInit(0))), member->getType());
    memory->slots.clear();
    memory->slots[key_of(member)] = std::move(value);
    return object;
  }
  if (const auto* record = type->getAsCXXRecordDecl()) {
    for (std::size_t bases = record->getNumBases(); bases > 0 && k < l->getNumInits(); --bases, ++k) {
      const Value base = copied(evaluate(l->getInit(k)));
      if (base.kind != Value::Kind::object || base.place.memory == nullptr) continue;
      for (const auto& [key, value] : base.place.memory->slots) memory->slots[key] = value;
    }
    for (const clang::FieldDecl* f : record->fields()) {
      if (k >= l->getNumInits()) break;
      if (f->isUnnamedBitField()) continue;
      memory->slots[key_of(f)] = converted(copied(evaluate(l->getInit(k++))), f->getType());
    }
  }
  return object;
}

}  // namespace kernelcast::frontend::host
