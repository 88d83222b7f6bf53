// Places by base and index: the same text in both, moved by the loop's counter, is another place in each iteration;
// bases that cannot be the same memory are apart whatever their indices.
#include "frontend/loops/loop_accesses.h"

#include <algorithm>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/FoldingSet.h"

namespace kernelcast::frontend {

using namespace clang;
using clang::Expr;  // not kernelcast::Expr

namespace legality {
LegalityVerdict yes() { return {Legality::yes, Condition::none, "", 0, ""}; }
LegalityVerdict no(Condition c, Spot at, std::string reason) {
  return {Legality::no, c, std::move(reason), at.line, at.file.str()};
}
LegalityVerdict unknown(Condition c, Spot at, std::string reason) {
  return {Legality::unknown, c, std::move(reason), at.line, at.file.str()};
}
}  // namespace legality

using namespace legality;

namespace {

/// Without casts to integers of 32 bits and more.
const Expr* without_widening(const Expr* given) {
  const Expr* e = given->IgnoreParenImpCasts();
  while (const auto* c = llvm::dyn_cast<ExplicitCastExpr>(e)) {
    const auto* type = c->getType()->getAs<BuiltinType>();
    const bool wide = type != nullptr && type->isInteger() &&
                      (type->getKind() == BuiltinType::Int || type->getKind() == BuiltinType::UInt ||
                       type->getKind() == BuiltinType::Long || type->getKind() == BuiltinType::ULong ||
                       type->getKind() == BuiltinType::LongLong || type->getKind() == BuiltinType::ULongLong);
    if (!wide) break;
    e = c->getSubExpr()->IgnoreParenImpCasts();
  }
  return e;
}

bool never_zero(const Expr* given) {
  const Expr* e = without_widening(given);
  if (const auto* i = llvm::dyn_cast<IntegerLiteral>(e)) return i->getValue() != 0;
  if (const auto* c = llvm::dyn_cast<CallExpr>(e)) {
    const FunctionDecl* f = c->getDirectCallee();
    return f != nullptr &&
           (f->getName() == "get_global_size" || f->getName() == "get_local_size" || f->getName() == "get_num_groups");
  }
  if (const auto* b = llvm::dyn_cast<BinaryOperator>(e)) {
    return b->getOpcode() == BO_Mul && never_zero(b->getLHS()) && never_zero(b->getRHS());
  }
  if (const auto* p = llvm::dyn_cast<PseudoObjectExpr>(e)) {  // blockDim.x, gridDim.x
    const auto* m = llvm::dyn_cast<MSPropertyRefExpr>(p->getSyntacticForm()->IgnoreParenImpCasts());
    const Expr* from = m == nullptr ? nullptr : m->getBaseExpr()->IgnoreParenImpCasts();
    if (const auto* o = llvm::dyn_cast_or_null<OpaqueValueExpr>(from); o != nullptr && o->getSourceExpr() != nullptr)
      from = o->getSourceExpr()->IgnoreParenImpCasts();
    const auto* base = llvm::dyn_cast_or_null<DeclRefExpr>(from);
    return base != nullptr && (base->getDecl()->getName() == "blockDim" || base->getDecl()->getName() == "gridDim");
  }
  return false;
}

}  // namespace

bool LoopAccesses::is_own_object(const VarDecl* v) const {
  return v != nullptr && all_.declared.contains(v) && !v->isStaticLocal() && !v->getType()->isPointerType() &&
         !v->getType()->isReferenceType() && !v->hasGlobalStorage();
}

LegalityVerdict LoopAccesses::apart(const MemoryAccess& access, const MemoryAccess& store, Condition c,
                                    const std::string& reason) const {
  if (is_own_object(access.base) || is_own_object(store.base)) return yes();
  if (access.base == nullptr || store.base == nullptr) {
    return unknown(Condition::aliasing, store.at,
                   "where this line writes is not followed; assert that iterations do not depend on one another");
  }
  if (access.base != store.base) {
    if (distinct(access.base, store.base)) return yes();
    return unknown(Condition::aliasing, store.at,
                   store.base->getNameAsString() + " and " + access.base->getNameAsString() +
                       " may be the same memory; declare them restrict");
  }
  const std::string name = store.base->getNameAsString();
  if (store.scalar && access.scalar) return no(c, store.at, reason + ": " + name);
  if (store.index == nullptr || access.index == nullptr) {
    return unknown(c, store.at, "whether iterations meet in " + name + " is not known; assert that they do not");
  }
  if (same(store.index, access.index)) {
    const std::optional<bool> moves = moves_with_counter(store.index);
    if (moves && *moves) return yes();
    if (moves) return no(c, store.at, reason + ": " + name + " at an index that does not change");
  }
  return unknown(c, store.at, "whether iterations meet in " + name + " is not known; assert that they do not");
}

bool LoopAccesses::same(const Stmt* s, const Stmt* t) const {
  if (s == nullptr || t == nullptr) return s == t;
  if (const auto* e = llvm::dyn_cast<Expr>(s)) s = e->IgnoreParenImpCasts();
  if (const auto* e = llvm::dyn_cast<Expr>(t)) t = e->IgnoreParenImpCasts();
  if (s->getStmtClass() != t->getStmtClass()) return false;
  if (const auto* r = llvm::dyn_cast<DeclRefExpr>(s)) {
    const ValueDecl *a = r->getDecl(), *b = llvm::cast<DeclRefExpr>(t)->getDecl();
    return a == b || (llvm::isa<FunctionDecl>(a) && llvm::isa<FunctionDecl>(b) &&
                      a->getNameAsString() == b->getNameAsString() && a->getType() == b->getType());
  }
  if (llvm::isa<BinaryOperator, CallExpr, CStyleCastExpr>(s)) {
    if (const auto* b = llvm::dyn_cast<BinaryOperator>(s);
        b != nullptr && b->getOpcode() != llvm::cast<BinaryOperator>(t)->getOpcode())
      return false;
    if (const auto* e = llvm::dyn_cast<Expr>(s); e->getType() != llvm::cast<Expr>(t)->getType()) return false;
    return std::equal(s->child_begin(), s->child_end(), t->child_begin(), t->child_end(),
                      [this](const Stmt* a, const Stmt* b) { return same(a, b); });
  }
  llvm::FoldingSetNodeID x, y;
  s->Profile(x, context_, true);
  t->Profile(y, context_, true);
  return x == y;
}

std::optional<bool> LoopAccesses::moves_with_counter(const Expr* given) const {
  const Expr* e = without_widening(given);
  if (llvm::isa<IntegerLiteral>(e) || llvm::isa<PseudoObjectExpr>(e)) return false;
  if (const auto* r = llvm::dyn_cast<DeclRefExpr>(e)) {
    const auto* v = llvm::dyn_cast<VarDecl>(r->getDecl());
    if (v == nullptr) return std::nullopt;
    if (v == counter_) return step_is_constant() ? std::optional<bool>(true) : std::nullopt;
    if (all_.writes.contains(v) || all_.declared.contains(v) || v->hasGlobalStorage()) return std::nullopt;
    return false;
  }
  if (const auto* c = llvm::dyn_cast<CallExpr>(e)) {
    const FunctionDecl* f = c->getDirectCallee();
    if (f != nullptr && f->getName().starts_with("get_")) return false;
    return std::nullopt;
  }
  const auto* b = llvm::dyn_cast<BinaryOperator>(e);
  if (b == nullptr) return std::nullopt;
  const std::optional<bool> l = moves_with_counter(b->getLHS()), r = moves_with_counter(b->getRHS());
  if (!l || !r) return std::nullopt;
  if (b->getOpcode() == BO_Add || b->getOpcode() == BO_Sub) {
    if (*l && *r) return std::nullopt;
    return *l || *r;
  }
  if (b->getOpcode() == BO_Mul) {
    if (!*l && !*r) return false;
    if (*l && *r) return std::nullopt;
    const Expr* factor = *l ? b->getRHS() : b->getLHS();
    return never_zero(factor) ? std::optional<bool>(true) : std::nullopt;
  }
  if (!*l && !*r) return false;
  return std::nullopt;
}

bool LoopAccesses::step_is_constant() const {
  if (p_.step == nullptr) return false;
  const Expr* e = p_.step->IgnoreParenImpCasts();
  if (const auto* u = llvm::dyn_cast<UnaryOperator>(e)) return u->isIncrementDecrementOp();
  const auto* b = llvm::dyn_cast<CompoundAssignOperator>(e);
  return b != nullptr && (b->getOpcode() == BO_AddAssign || b->getOpcode() == BO_SubAssign) && never_zero(b->getRHS());
}

bool LoopAccesses::distinct(const VarDecl* a, const VarDecl* b) const {
  const QualType x = a->getType(), y = b->getType();
  const bool object_a = !x->isPointerType(), object_b = !y->isPointerType();
  if (object_a && object_b) return true;
  if (object_a != object_b) {  // an array of this kernel against a pointer that came from outside
    const VarDecl* array = object_a ? a : b;
    const VarDecl* pointer = object_a ? b : a;
    return llvm::isa<ParmVarDecl>(pointer) &&
           ((array->isLocalVarDecl() && (p_.function == p_.kernel || array->hasLocalStorage())) ||
            (array->hasAttr<CUDASharedAttr>() && p_.function == p_.kernel) || pointer->getType().isRestrictQualified());
  }
  if (x.isRestrictQualified() || y.isRestrictQualified()) return true;
  const QualType p = x->getPointeeType(), q = y->getPointeeType();
  const LangAS s = p.getAddressSpace(), t = q.getAddressSpace();
  if (s != t && s != LangAS::opencl_generic && t != LangAS::opencl_generic && s != LangAS::Default &&
      t != LangAS::Default)
    return true;
  const auto* k = p->getAs<BuiltinType>();
  const auto* l = q->getAs<BuiltinType>();
  if (k == nullptr || l == nullptr || p->isCharType() || q->isCharType()) return false;
  if (p->isFloatingType() != q->isFloatingType()) return true;
  return p->isFloatingType() && k->getKind() != l->getKind();
}

}  // namespace kernelcast::frontend
