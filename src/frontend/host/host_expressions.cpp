// Expressions of the host program: places, loads, arithmetic in the widths of C++.
#include <cmath>

#include "frontend/host/interpreter.h"

namespace kernelcast::frontend::host {

Place Interpreter::variable(const clang::VarDecl* v) {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
    if (const auto found = (*frame)->variables.find(v); found != (*frame)->variables.end()) return found->second;
  if (!v->hasGlobalStorage() && !v->isStaticLocal()) {
    if (v->getInit() != nullptr && v->getType().isConstQualified()) return temporary(evaluate(v->getInit()));
    return {};
  }
  const clang::VarDecl* defined = v->getDefinition() != nullptr ? v->getDefinition() : v;
  defined = defined->getCanonicalDecl();
  if (const auto found = globals_.find(defined); found != globals_.end()) return found->second;
  const Place place = temporary(Value::not_known("its initial value depends on itself", 0));
  globals_[defined] = place;
  const clang::VarDecl* with_init = nullptr;
  const clang::Expr* init = v->getAnyInitializer(with_init);
  const bool external = v->hasDefinition() == clang::VarDecl::DeclarationOnly;
  if (external && v->getName() == "optarg") return globals_[defined] = option_argument();
  if (external && v->getName() == "optind") return globals_[defined] = option_index();
  if (external) miss(v);
  Value value = init != nullptr ? converted(copied(evaluate(init)), v->getType())
                : external      ? Value::not_known("defined in another file", 0)
                                : zero_of(v->getType());
  place.memory->slots[0] = std::move(value);
  return place;
}

Value Interpreter::load(const Place& place, const clang::Expr* expression) {
  if (place.memory == nullptr) return Value::not_known("a pointer is not known", line_of(expression));
  if (place.memory->text) {
    const std::string& text = *place.memory->text;
    const auto at = static_cast<std::size_t>(place.key);
    if (at <= text.size()) return Value::of(at < text.size() ? static_cast<signed char>(text[at]) : 0);
  }
  settle_union(expression, place.memory);
  const auto slot = place.memory->slots.find(place.key);
  Value value = slot == place.memory->slots.end() ? place.memory->rest : slot->second;
  if (value.known()) return value;
  value.never_written = false;  // what is stored of it is written
  std::string name;
  const clang::Expr* e = expression->IgnoreParenCasts();
  if (const auto* d = llvm::dyn_cast<clang::DeclRefExpr>(e)) name = d->getDecl()->getNameAsString();
  if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(e)) {
    name = m->getMemberDecl()->getNameAsString();
    if (const auto* base = llvm::dyn_cast<clang::DeclRefExpr>(m->getBase()->IgnoreParenCasts()))
      name = base->getDecl()->getNameAsString() + "." + name;
  }
  for (const std::string& asked : {name, value.unknown.name}) {
    const auto given = options_.lets.find(asked);
    if (asked.empty() || given == options_.lets.end()) continue;
    const auto* whole = std::get_if<std::int64_t>(&given->second);
    return whole != nullptr ? Value::of(*whole) : Value::of_real(std::get<double>(given->second));
  }
  if (value.unknown.name.empty()) value.unknown.name = name;
  if (value.unknown.line == 0) value.unknown.line = line_of(expression);
  return value;
}

void Interpreter::store(const Place& place, Value value) {
  if (place.memory == nullptr) return;
  if (auto& text = place.memory->text) {
    const auto at = static_cast<std::size_t>(place.key);
    if (value.is_integer() && at < text->size()) {
      (*text)[at] = static_cast<char>(value.integer);
      return;
    }
    text.reset();
    place.memory->rest = Value::not_known("a text", 0);
  }
  place.memory->slots[place.key] = std::move(value);
}

/// Where the index is not known, any element may have the value.
void Interpreter::store_at(const clang::Expr* target, const Place& place, const Value& value) {
  store(place, value);
  forget_other_members(target);
  const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(target->IgnoreParens());
  if (place.memory != nullptr || element == nullptr) return;
  const Value base = evaluate(element->getBase());
  const MemoryRef memory = base.kind == Value::Kind::pointer ? base.place.memory : nullptr;
  if (memory == nullptr || memory->text) return;
  memory->slots.clear();
  memory->rest = Value::not_known("an element is written whose index is not known", line_of(target));
}

Value Interpreter::converted(Value value, clang::QualType type) {
  type = type.getNonReferenceType();
  if (type.isNull() || type->isDependentType()) return value;
  if (type->isBooleanType() && value.known()) {
    const auto truth = value.truth();
    return truth ? Value::of(*truth ? 1 : 0) : value;
  }
  if (value.kind == Value::Kind::wide) return narrowed(value, type);
  if (type->isIntegralOrEnumerationType() && value.is_number()) {
    std::int64_t n = value.integer;
    if (value.kind == Value::Kind::real) {
      if (!(std::abs(value.real) < 9.2e18)) return Value::not_known("a number beyond its type", 0);
      n = static_cast<std::int64_t>(value.real);
    }
    if (type->isEnumeralType() && !type->castAs<clang::EnumType>()->getDecl()->isComplete()) return Value::of(n);
    const unsigned width = context_.getIntWidth(type);
    if (width < 64) {
      const auto bits = static_cast<std::uint64_t>(n) & ((std::uint64_t{1} << width) - 1);
      const bool negative = type->isSignedIntegerOrEnumerationType() && ((bits >> (width - 1)) & 1) != 0;
      n = static_cast<std::int64_t>(negative ? bits | ~((std::uint64_t{1} << width) - 1) : bits);
    }
    return width > 64 ? Value::of_wide(Value::of(n).wide(), type->isSignedIntegerType()) : Value::of(n);
  }
  if (type->isRealFloatingType() && value.is_number()) {
    double d = value.number();
    if (type->isSpecificBuiltinType(clang::BuiltinType::Float)) d = static_cast<float>(d);
    return Value::of_real(d);
  }
  if (type->isPointerType() && value.is_integer() && value.integer == 0) return Value::pointer_to({});
  return value;
}

Place Interpreter::place_of(const clang::Expr* e) {
  if (const auto* w = llvm::dyn_cast<clang::ExprWithCleanups>(e)) return place_of(w->getSubExpr());
  if (const auto* p = llvm::dyn_cast<clang::ParenExpr>(e)) return place_of(p->getSubExpr());
  if (const auto* m = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(e))
    return temporary(copied(evaluate(m->getSubExpr())));
  if (const auto* s = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(e)) return place_of(s->getReplacement());
  if (const auto* d = llvm::dyn_cast<clang::CXXDefaultArgExpr>(e)) return place_of(d->getExpr());
  if (const auto* d = llvm::dyn_cast<clang::DeclRefExpr>(e)) {
    if (const auto* v = llvm::dyn_cast<clang::VarDecl>(d->getDecl())) return variable(v);
    if (const auto* b = llvm::dyn_cast<clang::BindingDecl>(d->getDecl())) {  // auto [a, b]: a part of what is hidden
      const clang::VarDecl* holder = b->getHoldingVar();
      const clang::Expr* part = holder != nullptr ? holder->getInit() : b->getBinding();
      return part != nullptr ? place_of(part) : Place{};
    }
    return temporary(evaluate(e));
  }
  if (const auto* c = llvm::dyn_cast<clang::CastExpr>(e)) {
    if (c->getCastKind() == clang::CK_LValueToRValue || !c->isLValue()) return temporary(evaluate(e));
    return place_of(c->getSubExpr());
  }
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e)) {
    if (u->getOpcode() == clang::UO_Deref) {
      const Value pointer = evaluate(u->getSubExpr());
      return pointer.kind == Value::Kind::pointer ? pointer.place : Place{};
    }
    if (u->isIncrementDecrementOp()) {
      evaluate(u);
      return place_of(u->getSubExpr());
    }
  }
  if (const auto* a = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) {
    const Value base = evaluate(a->getBase()), index = evaluate(a->getIdx());
    if (base.kind != Value::Kind::pointer || !index.is_integer() || base.place.memory == nullptr) return {};
    return {base.place.memory, base.place.key + index.integer};
  }
  if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(e)) {
    if (const auto* v = llvm::dyn_cast<clang::VarDecl>(m->getMemberDecl())) return variable(v);
    const auto* f = llvm::dyn_cast<clang::FieldDecl>(m->getMemberDecl());
    if (f == nullptr) return {};
    Place object;
    if (m->isArrow()) {
      const Value pointer = evaluate(m->getBase());
      if (pointer.kind != Value::Kind::pointer) return {};
      object = pointer.place;
    } else {
      object = place_of(m->getBase());
    }
    if (object.memory == nullptr) return {};
    if (!m->isArrow()) settle_union(m->getBase(), object.memory);
    const bool stored = object.memory->slots.contains(object.key);
    Value& held = object.memory->slots[object.key];
    const bool was_fresh = stored ? held.never_written : object.memory->rest.never_written;
    if (held.kind != Value::Kind::object || held.place.memory == nullptr) {
      const clang::QualType type = m->isArrow() ? m->getBase()->getType()->getPointeeType() : m->getBase()->getType();
      Value made =
          empty_of(type, held.unknown.why.empty() ? object.memory->rest.unknown.why : held.unknown.why, line_of(e));
      if (made.kind != Value::Kind::object) return {};
      if (object.memory->rest.is_integer() && !held.known()) made.place.memory->rest = Value::of(0);
      held = was_fresh ? fresh(std::move(made)) : std::move(made);
    }
    return {held.place.memory, key_of(f)};
  }
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(e)) {
    if (b->isAssignmentOp()) {
      evaluate(b);
      return place_of(b->getLHS());
    }
    if (b->getOpcode() == clang::BO_Comma) {
      evaluate(b->getLHS());
      return place_of(b->getRHS());
    }
  }
  if (const auto* c = llvm::dyn_cast<clang::ConditionalOperator>(e); c != nullptr && c->isLValue()) {
    const auto truth = evaluate(c->getCond()).truth();
    return truth ? place_of(*truth ? c->getTrueExpr() : c->getFalseExpr()) : Place{};
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(e); call != nullptr && call->isGLValue()) {
    const Value v = evaluate_call(call);  // references are returned as pointers
    return v.kind == Value::Kind::pointer ? v.place : Place{};
  }
  if (llvm::isa<clang::StringLiteral>(e)) {
    auto memory = std::make_shared<Memory>();
    memory->text = llvm::cast<clang::StringLiteral>(e)->getCharByteWidth() == 1
                       ? llvm::cast<clang::StringLiteral>(e)->getString().str()
                       : "";
    return temporary(Value::object_of(memory));
  }
  return temporary(evaluate(e));
}

Value Interpreter::evaluate_cast(const clang::CastExpr* c) {
  switch (c->getCastKind()) {
    case clang::CK_LValueToRValue:
      return load(place_of(c->getSubExpr()), c->getSubExpr());
    case clang::CK_ArrayToPointerDecay: {
      if (const auto* s = llvm::dyn_cast<clang::StringLiteral>(c->getSubExpr()->IgnoreParens());
          s != nullptr && s->getCharByteWidth() == 1) {
        auto memory = std::make_shared<Memory>();
        memory->text = s->getString().str();
        return Value::pointer_to({memory, 0});
      }
      const Value array = load(place_of(c->getSubExpr()), c->getSubExpr());
      return array.kind == Value::Kind::object ? Value::pointer_to({array.place.memory, 0}) : array;
    }
    case clang::CK_NullToPointer:
      return Value::pointer_to({});
    case clang::CK_ToVoid:
      evaluate(c->getSubExpr());
      return Value::of(0);
    case clang::CK_BitCast: {
      Value v = evaluate(c->getSubExpr());
      if (v.kind != Value::Kind::pointer || v.place.key == 0 || v.place.memory == nullptr) return v;
      const auto step = [this](clang::QualType pointer) {  // of its arithmetic
        return pointer->isVoidPointerType() ? 1 : size_of(pointer->getPointeeType());
      };
      const std::int64_t from = step(c->getSubExpr()->getType()), to = step(c->getType());
      if (v.place.memory->bytes && from > 0 && to > 0 && from != to && v.place.key * from % to == 0)
        v.place.key = v.place.key * from / to;
      return v;
    }
    case clang::CK_FunctionToPointerDecay:
    case clang::CK_NoOp:
    case clang::CK_UserDefinedConversion:
    case clang::CK_ConstructorConversion:
    case clang::CK_UncheckedDerivedToBase:
    case clang::CK_DerivedToBase:
      return evaluate(c->getSubExpr());
    default: {
      Value v = evaluate(c->getSubExpr());
      if (v.is_integer() && v.integer < 0 && is_wide(c->getType()) &&
          c->getSubExpr()->getType()->isUnsignedIntegerType())
        return Value::of_wide(static_cast<std::uint64_t>(v.integer), c->getType()->isSignedIntegerType());
      if (c->getType()->isArithmeticType() || c->getType()->isEnumeralType() || c->getType()->isPointerType())
        return converted(std::move(v), c->getType());
      return v;
    }
  }
}

Value Interpreter::binary(clang::BinaryOperatorKind kind, const Value& l, const Value& r, clang::QualType left_type,
                          clang::QualType type, int line) {
  if (!l.known()) return l;
  if (!r.known()) return r;
  using clang::BinaryOperatorKind;
  if (l.kind == Value::Kind::pointer || r.kind == Value::Kind::pointer) {
    const auto moved = [](const Value& p, std::int64_t by) {
      return Value::pointer_to({p.place.memory, p.place.key + by});
    };
    const bool same = l.kind == r.kind && l.place.memory == r.place.memory && l.place.key == r.place.key;
    const bool null_pair =
        (l.kind == Value::Kind::pointer ? l.place.memory == nullptr : l.is_integer() && l.integer == 0) &&
        (r.kind == Value::Kind::pointer ? r.place.memory == nullptr : r.is_integer() && r.integer == 0);
    if (kind == clang::BO_EQ) return Value::of(same || null_pair);
    if (kind == clang::BO_NE) return Value::of(!(same || null_pair));
    if (kind == clang::BO_Add && r.is_integer()) return moved(l, r.integer);
    if (kind == clang::BO_Add && l.is_integer()) return moved(r, l.integer);
    if (kind == clang::BO_Sub && r.is_integer()) return moved(l, -r.integer);
    if (l.kind == r.kind && l.place.memory == r.place.memory) {
      if (kind == clang::BO_Sub) return Value::of(l.place.key - r.place.key);
      if (kind == clang::BO_LT) return Value::of(l.place.key < r.place.key);
      if (kind == clang::BO_GT) return Value::of(l.place.key > r.place.key);
    }
    return Value::not_known("arithmetic on addresses", line);
  }
  if (is_wide(left_type) && l.is_whole() && r.is_whole()) return wide_binary(kind, l, r, left_type, line);
  if (!l.is_number() || !r.is_number()) return Value::not_known("an operator of a class", line);
  const bool compares = clang::BinaryOperator::isComparisonOp(kind);
  if (l.kind == Value::Kind::real || r.kind == Value::Kind::real) {
    const double a = l.number(), b = r.number();
    switch (kind) {
      case clang::BO_Add:
        return converted(Value::of_real(a + b), type);
      case clang::BO_Sub:
        return converted(Value::of_real(a - b), type);
      case clang::BO_Mul:
        return converted(Value::of_real(a * b), type);
      case clang::BO_Div:
        return converted(Value::of_real(a / b), type);
      case clang::BO_LT:
        return Value::of(a < b);
      case clang::BO_GT:
        return Value::of(a > b);
      case clang::BO_LE:
        return Value::of(a <= b);
      case clang::BO_GE:
        return Value::of(a >= b);
      case clang::BO_EQ:
        return Value::of(a == b);
      case clang::BO_NE:
        return Value::of(a != b);
      default:
        return Value::not_known("an operator on reals", line);
    }
  }
  const std::int64_t a = l.integer, b = r.integer;
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  const bool is_unsigned = left_type->isUnsignedIntegerOrEnumerationType();
  const auto made = [&](std::uint64_t n) { return converted(Value::of(static_cast<std::int64_t>(n)), type); };
  if (compares) {
    switch (kind) {
      case clang::BO_LT:
        return Value::of(is_unsigned ? ua < ub : a < b);
      case clang::BO_GT:
        return Value::of(is_unsigned ? ua > ub : a > b);
      case clang::BO_LE:
        return Value::of(is_unsigned ? ua <= ub : a <= b);
      case clang::BO_GE:
        return Value::of(is_unsigned ? ua >= ub : a >= b);
      case clang::BO_EQ:
        return Value::of(a == b);
      case clang::BO_NE:
        return Value::of(a != b);
      default:
        return Value::not_known("a comparison", line);
    }
  }
  switch (kind) {
    case clang::BO_Add:
      return made(ua + ub);
    case clang::BO_Sub:
      return made(ua - ub);
    case clang::BO_Mul:
      return made(ua * ub);
    case clang::BO_Div:
    case clang::BO_Rem:
      if (b == 0) return Value::not_known("a division by zero", line);
      if (!is_unsigned && b == -1) return kind == clang::BO_Div ? made(0 - ua) : Value::of(0);
      if (kind == clang::BO_Div) return is_unsigned ? made(ua / ub) : Value::of(a / b);
      return is_unsigned ? made(ua % ub) : Value::of(a % b);
    case clang::BO_Shl:
      return b < 0 || b > 63 ? Value::not_known("a shift beyond the type", line) : made(ua << ub);
    case clang::BO_Shr:
      return b < 0 || b > 63 ? Value::not_known("a shift beyond the type", line)
             : is_unsigned   ? made(ua >> ub)
                             : Value::of(a >> b);
    case clang::BO_And:
      return made(ua & ub);
    case clang::BO_Or:
      return made(ua | ub);
    case clang::BO_Xor:
      return made(ua ^ ub);
    default:
      return Value::not_known("an operator", line);
  }
}

Value Interpreter::evaluate_binary(const clang::BinaryOperator* b) {
  const clang::BinaryOperatorKind kind = b->getOpcode();
  if (kind == clang::BO_Comma) {
    evaluate(b->getLHS());
    return evaluate(b->getRHS());
  }
  if (kind == clang::BO_LAnd || kind == clang::BO_LOr) {
    const Value left = evaluate(b->getLHS());
    const auto first = left.truth();
    if (first && *first == (kind == clang::BO_LOr)) return Value::of(*first);
    const Value right = evaluate(b->getRHS());
    const auto second = right.truth();
    if (second && *second == (kind == clang::BO_LOr)) return Value::of(*second);
    if (!first) return left.known() ? Value::not_known("a condition", line_of(b)) : left;
    if (!second) return right.known() ? Value::not_known("a condition", line_of(b)) : right;
    return Value::of(*second);
  }
  if (kind == clang::BO_Assign) {
    Value value = converted(copied(evaluate(b->getRHS())), b->getLHS()->getType());
    store_at(b->getLHS(), place_of(b->getLHS()), value);
    return value;
  }
  if (b->isCompoundAssignmentOp()) {
    const auto* compound = llvm::cast<clang::CompoundAssignOperator>(b);
    const Value right = evaluate(b->getRHS());
    const Place place = place_of(b->getLHS());
    const Value left = converted(load(place, b->getLHS()), compound->getComputationLHSType());
    Value value = converted(binary(clang::BinaryOperator::getOpForCompoundAssignment(kind), left, right,
                                   compound->getComputationLHSType(), compound->getComputationResultType(), line_of(b)),
                            b->getLHS()->getType());
    store_at(b->getLHS(), place, value);
    return value;
  }
  const Value left = evaluate(b->getLHS()), right = evaluate(b->getRHS());
  return binary(kind, left, right, b->getLHS()->getType(), b->getType(), line_of(b));
}

Value Interpreter::evaluate_unary(const clang::UnaryOperator* u) {
  const clang::Expr* sub = u->getSubExpr();
  if (u->getOpcode() == clang::UO_AddrOf) {
    if (const auto* d = llvm::dyn_cast<clang::DeclRefExpr>(sub->IgnoreParens());
        d != nullptr && llvm::isa<clang::FunctionDecl>(d->getDecl()))
      return evaluate(d);
    const Place place = place_of(sub);
    return place.memory ? Value::pointer_to(place) : Value::not_known("an address", line_of(u));
  }
  if (u->isIncrementDecrementOp()) {
    const Place place = place_of(sub);
    const Value old = load(place, sub);
    Value fresh = old;
    const std::int64_t by = u->isIncrementOp() ? 1 : -1;
    if (old.is_integer()) fresh = converted(Value::of(old.integer + by), sub->getType());
    if (is_wide(sub->getType()) && old.is_whole())
      fresh = Value::of_wide(old.wide() + static_cast<Wide>(SignedWide{by}), sub->getType()->isSignedIntegerType());
    if (old.kind == Value::Kind::real) fresh.real += static_cast<double>(by);
    if (old.kind == Value::Kind::pointer) fresh.place.key += by;
    store_at(sub, place, fresh);
    return u->isPostfix() ? old : fresh;
  }
  if (u->getOpcode() == clang::UO_Deref && u->getType()->isFunctionType()) return evaluate(sub);
  if (u->getOpcode() == clang::UO_Deref) return load(place_of(u), u);
  Value v = evaluate(sub);
  if (u->getOpcode() == clang::UO_LNot) {
    const auto truth = v.truth();
    return truth ? Value::of(*truth ? 0 : 1) : v;
  }
  if (u->getOpcode() == clang::UO_Minus && v.is_integer())
    return converted(Value::of(static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(v.integer))), u->getType());
  if (v.kind == Value::Kind::wide && (u->getOpcode() == clang::UO_Minus || u->getOpcode() == clang::UO_Not))
    return Value::of_wide(u->getOpcode() == clang::UO_Minus ? 0 - v.wide() : ~v.wide(),
                          u->getType()->isSignedIntegerType());
  if (u->getOpcode() == clang::UO_Minus && v.kind == Value::Kind::real) v.real = -v.real;
  if (u->getOpcode() == clang::UO_Not && v.is_integer()) return converted(Value::of(~v.integer), u->getType());
  return v;
}

/// A number that the compiler can tell: std::numeric_limits<int>::max().
std::optional<Value> Interpreter::constant_of(const clang::Expr* e) {
  if (e->isValueDependent() || e->containsErrors() || !e->isPRValue() || !e->getType()->isArithmeticType())
    return std::nullopt;
  clang::Expr::EvalResult constant;
  if (!e->EvaluateAsRValue(constant, context_) || constant.HasSideEffects) return std::nullopt;
  if (constant.Val.isInt()) return Value::of(constant.Val.getInt().getExtValue());
  if (constant.Val.isFloat()) return Value::of_real(constant.Val.getFloat().convertToDouble());
  return std::nullopt;
}

/// Calls of it read the variables themselves; a kernel that gets it reads the copies.
Value Interpreter::evaluate_lambda(const clang::LambdaExpr* l) {
  for (const clang::LambdaCapture& c : l->captures())
    if (c.capturesVariable() && l->isInitCapture(&c))
      if (const auto* v = llvm::dyn_cast<clang::VarDecl>(c.getCapturedVar())) declare(v);
  Value made = empty_of(l->getType(), "a function object", line_of(l));
  if (made.kind != Value::Kind::object || made.place.memory == nullptr) return made;
  auto init = l->capture_init_begin();
  for (const clang::FieldDecl* f : l->getLambdaClass()->fields()) {
    if (init == l->capture_init_end()) break;
    if (*init != nullptr && !f->getType()->isReferenceType() && !f->getType()->isArrayType())
      made.place.memory->slots[key_of(f)] = converted(copied(evaluate(*init)), f->getType());
    ++init;
  }
  return made;
}

Value Interpreter::evaluate(const clang::Expr* e) {
  if (e == nullptr) return Value::not_known("code that cannot be compiled", 0);  // a part of a list, say
  step(e);
  if (const auto* l = llvm::dyn_cast<clang::IntegerLiteral>(e))
    return Value::of(static_cast<std::int64_t>(l->getValue().getZExtValue()));
  if (const auto* l = llvm::dyn_cast<clang::FloatingLiteral>(e))
    return Value::of_real(l->getValueAsApproximateDouble());
  if (const auto* l = llvm::dyn_cast<clang::CharacterLiteral>(e)) return Value::of(l->getValue());
  if (const auto* l = llvm::dyn_cast<clang::CXXBoolLiteralExpr>(e)) return Value::of(l->getValue() ? 1 : 0);
  if (llvm::isa<clang::CXXNullPtrLiteralExpr, clang::GNUNullExpr>(e)) return Value::pointer_to({});
  if (const auto* p = llvm::dyn_cast<clang::ParenExpr>(e)) return evaluate(p->getSubExpr());
  if (const auto* c = llvm::dyn_cast<clang::CastExpr>(e)) return evaluate_cast(c);
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(e)) return evaluate_binary(b);
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e)) return evaluate_unary(u);
  if (const auto* d = llvm::dyn_cast<clang::DeclRefExpr>(e)) {
    if (const auto* f = llvm::dyn_cast<clang::FunctionDecl>(d->getDecl())) {
      Value v;
      v.kind = Value::Kind::function;
      v.function = f;
      return v;
    }
    if (const auto* k = llvm::dyn_cast<clang::EnumConstantDecl>(d->getDecl()))
      return Value::of(k->getInitVal().getExtValue());
    if (const auto* v = llvm::dyn_cast<clang::VarDecl>(d->getDecl())) return load(variable(v), d);
    if (llvm::isa<clang::BindingDecl>(d->getDecl())) return load(place_of(d), d);
    return Value::not_known("a name", line_of(e));
  }
  if (const auto* s = llvm::dyn_cast<clang::StringLiteral>(e); s != nullptr && s->getCharByteWidth() == 1) {
    Value text = Value::object_of(text_pointer(s->getString().str()).place.memory);
    text.place.memory->bytes = Value::of(size_of(s->getType()));
    return text;
  }
  if (llvm::isa<clang::ArraySubscriptExpr>(e)) return load(place_of(e), e);
  if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(e)) return load(place_of(m), m);
  if (const auto* k = llvm::dyn_cast<clang::CUDAKernelCallExpr>(e)) return launch_by_chevrons(k);
  if (const auto* c = llvm::dyn_cast<clang::CallExpr>(e)) {
    const Value v = evaluate_call(c);
    return c->isGLValue() && v.kind == Value::Kind::pointer ? load(v.place, c) : v;
  }
  if (const auto* c = llvm::dyn_cast<clang::CXXConstructExpr>(e)) return evaluate_construction(c);
  if (const auto* n = llvm::dyn_cast<clang::CXXNewExpr>(e)) return evaluate_new(n);
  if (const auto* w = llvm::dyn_cast<clang::FullExpr>(e)) return evaluate(w->getSubExpr());
  if (const auto* m = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(e)) return evaluate(m->getSubExpr());
  if (const auto* b = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(e)) return evaluate(b->getSubExpr());
  if (const auto* s = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(e)) return evaluate(s->getReplacement());
  if (const auto* d = llvm::dyn_cast<clang::CXXDefaultArgExpr>(e)) return evaluate(d->getExpr());
  if (const auto* d = llvm::dyn_cast<clang::CXXDefaultInitExpr>(e)) return evaluate(d->getExpr());
  if (const auto* l = llvm::dyn_cast<clang::InitListExpr>(e)) return evaluate_list(l);
  if (llvm::isa<clang::ImplicitValueInitExpr, clang::CXXScalarValueInitExpr>(e)) return zero_of(e->getType());
  if (llvm::isa<clang::CXXThisExpr>(e)) {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
      if ((*frame)->self) return *(*frame)->self;
    return Value::not_known("this", line_of(e));
  }
  if (const auto* c = llvm::dyn_cast<clang::ConditionalOperator>(e)) {
    const Value condition = evaluate(c->getCond());
    const auto truth = condition.truth();
    if (truth) return evaluate(*truth ? c->getTrueExpr() : c->getFalseExpr());
    return condition;
  }
  if (const auto* l = llvm::dyn_cast<clang::LambdaExpr>(e)) {
    return evaluate_lambda(l);
  }
  if (llvm::isa<clang::CXXDeleteExpr>(e)) return Value::of(0);
  if (llvm::isa<clang::CXXThrowExpr>(e)) throw ProgramEnd{"an exception is thrown", line_of(e)};
  if (const auto* s = llvm::dyn_cast<clang::StmtExpr>(e)) {
    const clang::CompoundStmt* body = s->getSubStmt();
    Value last = Value::of(0);
    for (const clang::Stmt* part : body->body()) {
      if (const auto* inner = llvm::dyn_cast<clang::Expr>(part))
        last = evaluate(inner);
      else
        execute(part);
    }
    return last;
  }
  // Parts of broken code may have no type.
  if (!e->isValueDependent() && !e->containsErrors() && e->isPRValue() && !e->getType().isNull()) {
    clang::Expr::EvalResult constant;
    if (e->getType()->isIntegralOrEnumerationType() && e->EvaluateAsInt(constant, context_))
      return Value::of(constant.Val.getInt().getExtValue());
  }
  // Broken code: what can be read of it is evaluated for its launches and writes.
  if (const auto* r = llvm::dyn_cast<clang::RecoveryExpr>(e)) {
    const auto parts = const_cast<clang::RecoveryExpr*>(r)->subExpressions();
    Value last;
    for (const clang::Expr* child : parts) last = evaluate(child);
    // `int* p = malloc(n)`, which C allows
    if (parts.size() == 1 && last.kind == Value::Kind::pointer) return last;
    return Value::not_known("code that cannot be compiled", line_of(e));
  }
  return Value::not_known("an expression that is not evaluated", line_of(e));
}

}  // namespace kernelcast::frontend::host
