// Calls of functions with a body in what was read; constructors.
#include "frontend/host/interpreter.h"

namespace kernelcast::frontend::host {
namespace {

constexpr std::size_t kMostFrames = 100;
constexpr std::int64_t kLeastFieldKey = std::int64_t{1} << 32;  // keys of fields are addresses of declarations

}  // namespace

Value Interpreter::call_body(const clang::FunctionDecl* f, const clang::Expr* const* arguments, unsigned count,
                             std::optional<Value> self, int line) {
  if (frames_.size() >= kMostFrames) return Value::not_known("calls are nested too deeply", line);
  auto frame = std::make_unique<Frame>();
  frame->function = f;
  frame->self = std::move(self);
  for (unsigned k = 0; k < f->getNumParams(); ++k) {
    const clang::ParmVarDecl* p = f->getParamDecl(k);
    if (k < count) {
      if (p->getType()->isReferenceType())
        frame->variables[p] = place_of(arguments[k]);
      else
        frame->variables[p] = temporary(converted(copied(evaluate(arguments[k])), p->getType()));
    } else if (p->hasDefaultArg() && p->getDefaultArg() != nullptr) {
      frame->variables[p] = temporary(evaluate(p->getDefaultArg()));
    }
  }
  frames_.push_back(std::move(frame));
  const std::size_t depth = frames_.size();
  execute(f->getBody());
  frames_.resize(depth);
  Value result = std::move(frames_.back()->result);
  frames_.pop_back();
  if (!result.known() && result.unknown.why.empty())
    result = Value::not_known("the result of " + f->getNameAsString(), line);
  return result;
}

void Interpreter::miss(const clang::NamedDecl* d) {
  if (is_of_the_system(d->getLocation()) || d->isInStdNamespace()) return;
  miss(d->getNameAsString());
}

void Interpreter::miss(const std::string& name) {
  if (name.empty() || name.starts_with("__")) return;
  auto& names = program_.undefined;
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

Value Interpreter::unknown_call(const clang::CallExpr* call, const std::string& name) {
  const int line = line_of(call);
  const std::string why = name.empty() ? "a call" : name + "() is not evaluated";
  if (const clang::FunctionDecl* f = call->getDirectCallee(); f != nullptr && !f->hasBody()) miss(f);
  for (const clang::Expr* a : call->arguments()) {
    const clang::Expr* plain = a->IgnoreParenCasts();
    const auto* address = llvm::dyn_cast<clang::UnaryOperator>(plain);
    const Value v = evaluate(a);
    keep_callback(v, name.empty() ? "a call" : name, line);
    if (v.kind == Value::Kind::pointer && v.place.memory) v.place.memory->used_elsewhere = true;
    const bool constant = a->getType()->isPointerType() && a->getType()->getPointeeType().isConstQualified();
    if (v.kind != Value::Kind::pointer || v.place.memory == nullptr || constant) continue;
    const bool of_structure = std::abs(v.place.key) >= kLeastFieldKey;  // its other fields stay
    if (of_structure || (address != nullptr && address->getOpcode() == clang::UO_AddrOf)) {
      forget(v.place, why, line);
    } else if (!v.place.memory->text) {
      v.place.memory->slots.clear();
      v.place.memory->rest = Value::not_known(why, line);
    }
  }
  if (call->getType()->isVoidType()) return Value::of(0);
  return Value::not_known(why, line);
}

Value Interpreter::evaluate_call(const clang::CallExpr* call) {
  const clang::FunctionDecl* f = call->getDirectCallee();
  const int line = line_of(call);
  if (auto v = tensor_map_call(call)) return *v;
  if (f == nullptr) {
    if (llvm::isa<clang::CXXMemberCallExpr>(call)) return unknown_call(call, "");
    const Value callee = evaluate(call->getCallee());
    f = callee.function;
    if (f == nullptr) {  // a function of the driver that the program looks up by its name
      const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(call->getCallee()->IgnoreParenImpCasts());
      if (named != nullptr)
        if (auto v = driver_call(named->getDecl()->getNameAsString(), call)) return *v;
      return unknown_call(call, "");
    }
  }
  const std::string name = f->getNameAsString();
  if (name == "sdkFindFilePath")  // searches folders beside the program, as file_call() does
    if (auto v = file_call(name, call)) return *v;
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(f);
  if (auto v = vector_call(call, method)) return *v;
  if (auto v = associative_call(call, method)) return *v;
  const clang::FunctionDecl* defined = nullptr;
  const bool has_body = f->hasBody(defined);
  const bool users = has_body && !is_of_the_system(defined->getLocation());
  if (!users) {
    if (auto v = runtime_call(name, call)) return *v;
    if (auto v = driver_call(name, call)) return *v;
    if (auto v = library_call(name, call)) return *v;
    if (auto v = math_call(name, call)) return *v;
    if (auto v = option_call(name, call)) return *v;
    if (auto v = line_call(name, call)) return *v;
    if (auto v = tuple_call(name, call)) return *v;
    if (auto v = text_call(name, call)) return *v;
    if (auto v = algorithm_call(name, call)) return *v;
  }
  if (auto v = string_call(call, method)) return *v;
  if (auto v = stream_call(call, method)) return *v;
  if (auto v = random_call(call, method)) return *v;
  if (auto v = array_call(call, method)) return *v;
  const bool of_std = f->isInStdNamespace() || (method != nullptr && method->getParent()->isInStdNamespace());
  if (const auto* o = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call)) {
    if (auto v = string_operator(o)) return *v;
    if (auto v = stream_operator(o)) return *v;
    if (auto v = assign_tuple(o)) return *v;
    if (auto v = iterator_operator(o)) return *v;
    if (auto v = function_object_call(o)) return *v;
    if (o->getOperator() == clang::OO_Equal && o->getNumArgs() == 2 &&
        (!users || (method != nullptr && method->isDefaulted()))) {
      Value value = copied(evaluate(o->getArg(1)));
      const Place place = place_of(o->getArg(0));
      store_at(o->getArg(0), place, value);
      return Value::pointer_to(place);
    }
    if (of_std || !has_body) return unknown_call(call, name);
    if (method != nullptr && !method->isStatic()) {
      const Place self = place_of(o->getArg(0));
      const bool lambda = method->getParent()->isLambda();  // its `this` is that of the function around it
      return call_body(defined, call->getArgs() + 1, call->getNumArgs() - 1,
                       lambda ? std::nullopt : std::optional(Value::pointer_to(self)), line);
    }
    return call_body(defined, call->getArgs(), call->getNumArgs(), std::nullopt, line);
  }
  if (const auto* m = llvm::dyn_cast<clang::CXXMemberCallExpr>(call)) {
    const clang::Expr* object = m->getImplicitObjectArgument();
    const bool pure = method != nullptr && method->isVirtual();  // a class below may have the body
    if (of_std || (!has_body && !pure) || object == nullptr) {
      if (object != nullptr) evaluate(object);
      return unknown_call(call, name);
    }
    const Value self = object->getType()->isPointerType() ? evaluate(object) : Value::pointer_to(place_of(object));
    if (const auto* e = llvm::dyn_cast<clang::MemberExpr>(m->getCallee()->IgnoreParens());
        method->isVirtual() && (e == nullptr || !e->hasQualifier()))
      if (const clang::FunctionDecl* overrider = overriding(method, self); overrider != nullptr) defined = overrider;
    if (defined == nullptr) return unknown_call(call, name);  // no class below is known
    return call_body(defined, call->getArgs(), call->getNumArgs(), self, line);
  }
  if (of_std)
    if (auto v = constant_of(call)) return *v;
  if (!has_body || of_std) return unknown_call(call, name);
  return call_body(defined, call->getArgs(), call->getNumArgs(), std::nullopt, line);
}

/// The body of a virtual function in the class that the object was made as.
const clang::FunctionDecl* Interpreter::overriding(const clang::CXXMethodDecl* method, const Value& self) const {
  if (self.kind != Value::Kind::pointer) return nullptr;
  const MemoryRef object = object_at(self.place);
  const clang::CXXRecordDecl* made = object ? object->made_as : nullptr;
  if (made == nullptr) return nullptr;
  const clang::CXXMethodDecl* found = method->getCorrespondingMethodInClass(made, /*MayBeBase=*/true);
  const clang::FunctionDecl* defined = nullptr;
  return found != nullptr && found->hasBody(defined) ? defined : nullptr;
}

/// `Base(f())` copies the fields of what is given.
void Interpreter::construct_base(const MemoryRef& memory, const clang::Expr* init) {
  const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(init);
  const bool copies = made != nullptr && made->getNumArgs() > 0 && made->getConstructor()->isCopyOrMoveConstructor() &&
                      !made->getConstructor()->isUserProvided();
  if (made != nullptr && !copies) {
    construct_into(memory, made);
    return;
  }
  const Value given = copied(evaluate(copies ? made->getArg(0) : init));
  if (given.kind != Value::Kind::object || given.place.memory == nullptr) return;
  for (const auto& [key, slot] : given.place.memory->slots) memory->slots[key] = slot;
}

Value Interpreter::construct_into(const MemoryRef& memory, const clang::CXXConstructExpr* e) {
  const clang::CXXConstructorDecl* c = e->getConstructor();
  const clang::FunctionDecl* defined = nullptr;
  const Place self = temporary(Value::object_of(memory));
  if (!c->hasBody(defined)) {
    miss(c->getParent());
    return Value::object_of(memory);
  }
  const auto* constructor = llvm::cast<clang::CXXConstructorDecl>(defined);
  if (frames_.size() >= kMostFrames) return Value::object_of(memory);
  auto frame = std::make_unique<Frame>();
  frame->function = constructor;
  frame->self = Value::pointer_to(self);
  for (unsigned k = 0; k < constructor->getNumParams() && k < e->getNumArgs(); ++k) {
    const clang::ParmVarDecl* p = constructor->getParamDecl(k);
    frame->variables[p] = p->getType()->isReferenceType()
                              ? place_of(e->getArg(k))
                              : temporary(converted(copied(evaluate(e->getArg(k))), p->getType()));
  }
  frames_.push_back(std::move(frame));
  for (const clang::CXXCtorInitializer* i : constructor->inits()) {
    if (i->getInit() == nullptr || llvm::isa<clang::RecoveryExpr>(i->getInit())) continue;
    if (i->isBaseInitializer() || i->isDelegatingInitializer()) {  // one memory holds the fields of all bases
      construct_base(memory, i->getInit()->IgnoreImplicit());
      continue;
    }
    initialize_member(memory, i);
  }
  execute(constructor->getBody());
  frames_.pop_back();
  return Value::object_of(memory);
}

Value Interpreter::evaluate_construction(const clang::CXXConstructExpr* e) {
  const clang::CXXConstructorDecl* c = e->getConstructor();
  const clang::CXXRecordDecl* record = c->getParent();
  if (c->isCopyOrMoveConstructor() && e->getNumArgs() > 0 &&
      (c->isDefaulted() || c->isImplicit() || record->isInStdNamespace()))
    return copied(evaluate(e->getArg(0)));
  if (record->getName() == "dim3") {
    auto memory = std::make_shared<Memory>();
    if (e->getNumArgs() == 1 && e->getArg(0)->getType()->isRecordType()) {
      Value given = copied(evaluate(e->getArg(0)));
      if (is_dim3(e->getArg(0)->getType())) return given;
      for (int axis = 0; axis < 3; ++axis)  // a uint3
        memory->slots[dimension_key(axis)] =
            field(given, e->getArg(0)->getType(), std::string(1, static_cast<char>('x' + axis)), line_of(e));
      return Value::object_of(memory);
    }
    for (unsigned axis = 0; axis < 3; ++axis) {
      Value v = Value::of(1);
      if (axis < e->getNumArgs() && !llvm::isa<clang::CXXDefaultArgExpr>(e->getArg(axis)))
        v = converted(evaluate(e->getArg(axis)), context_.UnsignedIntTy);
      memory->slots[dimension_key(axis)] = std::move(v);
    }
    return Value::object_of(memory);
  }
  if (record->isInStdNamespace() && record->getName() == "vector") return construct_vector(e);
  if (is_string(e->getType())) return construct_string(e);
  if (is_stream(e->getType())) return construct_stream(e);
  if (is_random(e->getType())) return construct_random(e);
  if (is_associative(e->getType())) return construct_associative(e);
  if (is_tuple(e->getType()) && !c->isCopyOrMoveConstructor()) return construct_tuple(e);
  if (is_iterator(e->getType()) && e->getNumArgs() == 1) return evaluate(e->getArg(0));
  if (record->isInStdNamespace() && record->getName() == "function" && e->getNumArgs() >= 1) {
    const auto* lambda = e->getArg(0)->getType().getNonReferenceType()->getAsCXXRecordDecl();
    Value callee = evaluate(e->getArg(0));
    if (lambda == nullptr || !lambda->isLambda()) return callee;
    callee = Value{};
    callee.kind = Value::Kind::function;
    callee.function = lambda->getLambdaCallOperator();
    return callee;
  }
  if (record->isInStdNamespace() && record->getName() == "pair" && e->getNumArgs() == 2) {
    Value pair = empty_of(e->getType(), "it has no value yet", line_of(e));
    for (unsigned k = 0; k < 2; ++k)
      if (const clang::FieldDecl* f = field_named(record, k == 0 ? "first" : "second"))
        pair.place.memory->slots[key_of(f)] = copied(evaluate(e->getArg(k)));
    return pair;
  }
  if (is_std(record, {"thread", "jthread"}) && e->getNumArgs() > 0)
    return construct_thread(e->getArgs(), e->getNumArgs());
  const clang::QualType type = e->getType();
  if (const auto* array = context_.getAsConstantArrayType(type)) {
    Value made = empty_of(clang::QualType(array, 0), "it has no value yet", line_of(e));
    return c->isTrivial() ? fresh(std::move(made)) : made;  // constructors of elements are not evaluated
  }
  if (record->isInStdNamespace()) {
    for (const clang::Expr* a : e->arguments()) evaluate(a);
    return empty_of(type, "std::" + record->getNameAsString() + " is not evaluated", line_of(e));
  }
  Value object =
      e->requiresZeroInitialization() ? zero_of(type) : fresh(empty_of(type, "it has no value yet", line_of(e)));
  if (object.kind != Value::Kind::object) return object;
  if (record->isPolymorphic()) object.place.memory->made_as = record;
  return construct_into(object.place.memory, e);
}

/// A thread runs its function where it is made.
Value Interpreter::construct_thread(const clang::Expr* const* arguments, unsigned count) {
  const clang::CXXRecordDecl* lambda = class_of(arguments[0]->getType());
  const Value callee = evaluate(arguments[0]);
  const clang::FunctionDecl* f =
      lambda != nullptr && lambda->isLambda() ? lambda->getLambdaCallOperator() : callee.function;
  const clang::FunctionDecl* body = nullptr;
  const bool method = f != nullptr && llvm::isa<clang::CXXMethodDecl>(f) && (lambda == nullptr || !lambda->isLambda());
  if (f == nullptr || method || !f->hasBody(body)) {
    for (unsigned k = 1; k < count; ++k) evaluate(arguments[k]);
  } else {
    call_body(body, arguments + 1, count - 1, std::nullopt, line_of(arguments[0]));
  }
  return Value::object_of(std::make_shared<Memory>());
}

Value Interpreter::evaluate_new(const clang::CXXNewExpr* e) {
  const clang::QualType type = e->getAllocatedType();
  const int line = line_of(e);
  if (e->isArray() && e->getArraySize() && *e->getArraySize() != nullptr) {
    const Value count = evaluate(*e->getArraySize());
    return allocation(count.is_integer() ? Value::of(count.integer * size_of(type)) : count, line, e->hasInitializer(),
                      false);
  }
  Value pointer = allocation(Value::of(size_of(type)), line, false, false);
  if (e->hasInitializer() && e->getInitializer() != nullptr) {
    pointer.place.memory->slots[0] = copied(evaluate(e->getInitializer()));
  } else if (const clang::CXXConstructExpr* made = e->getConstructExpr()) {
    pointer.place.memory->slots[0] = evaluate_construction(made);
  }
  return pointer;
}

}  // namespace kernelcast::frontend::host
