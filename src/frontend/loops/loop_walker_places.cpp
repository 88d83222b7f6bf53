// Places that are read and written: variables, their parts, and memory by base and index.
#include "frontend/loops/loop_walker.h"

namespace kernelcast::frontend::effects {

using namespace clang;
using clang::Expr;  // not kernelcast::Expr

const VarDecl* whole_of(const Expr* given) {
  const Expr* e = given->IgnoreParenImpCasts();
  while (true) {
    if (const auto* m = llvm::dyn_cast<MemberExpr>(e); m != nullptr && !m->isArrow()) {
      e = m->getBase()->IgnoreParenImpCasts();
    } else if (const auto* x = llvm::dyn_cast<ExtVectorElementExpr>(e); x != nullptr && !x->isArrow()) {
      e = x->getBase()->IgnoreParenImpCasts();
    } else if (const auto* s = llvm::dyn_cast<ArraySubscriptExpr>(e)) {
      const Expr* base = s->getBase()->IgnoreParenImpCasts();
      if (!base->getType()->isArrayType() && !base->getType()->isVectorType()) return nullptr;
      e = base;
    } else {
      return variable(e);
    }
  }
}

bool Walker::in_memory(const VarDecl* v) {
  if (v->getType()->isReferenceType()) return true;
  if (v->hasGlobalStorage()) return true;  // file scope, __shared__, __local
  const LangAS space = v->getType().getAddressSpace();
  if (space != LangAS::Default && space != LangAS::opencl_private) return true;
  return pointers_.facts_of(v).address_taken.contains(v);
}

void Walker::access(const Expr* pointer, const Expr* index, bool store, const Expr* whole) {
  if (whole->getType().isVolatileQualified()) first(out_.is_volatile, whole);
  MemoryAccess m;
  m.store = store;
  m.place = whole;
  m.at = at(whole);
  const Expr* p = pointer->IgnoreParenCasts();
  m.index = index;
  if (index == nullptr) {  // *(p + i)
    const auto* sum = llvm::dyn_cast<BinaryOperator>(p);
    if (sum != nullptr && sum->getOpcode() == BO_Add) {
      const bool left = sum->getLHS()->getType()->isPointerType();
      p = (left ? sum->getLHS() : sum->getRHS())->IgnoreParenCasts();
      m.index = left ? sum->getRHS() : sum->getLHS();
    }
  }
  if (m.index != nullptr) expression(m.index, true);
  if (llvm::isa<ArraySubscriptExpr>(p)) m.index = nullptr;  // a[i][j]
  while (const auto* more = llvm::dyn_cast<ArraySubscriptExpr>(p)) {
    expression(more->getIdx(), true);
    p = more->getBase()->IgnoreParenCasts();
  }
  const Pointers::Place place = pointers_.place_of(p);
  m.base = place.base;
  m.scalar = place.whole && index == nullptr;
  if (place.moved) m.index = nullptr;
  const VarDecl* v = variable(p);
  if (v == nullptr) {
    expression(p, true);
  } else if (!v->getType()->isArrayType()) {
    use(v, p);
  }
  out_.memory.push_back(m);
}

void Walker::target(const Expr* place, Reduction r, bool old_value_read) {
  const Expr* e = place->IgnoreParens();
  if (const VarDecl* v = variable(e)) {
    if (in_memory(v)) {
      scalar(v, e, true);
      if (old_value_read) scalar(v, e, false);
      return;
    }
    if (v->getType().isVolatileQualified()) first(out_.is_volatile, e);
    write(v, e, r);
    if (old_value_read && r == Reduction::none) read(v, e);
    return;
  }
  if (llvm::isa<ArraySubscriptExpr, MemberExpr, ExtVectorElementExpr>(e)) {
    const VarDecl* whole = whole_of(e);
    if (whole != nullptr && !whole->getType()->isArrayType()) {
      indices(e);
      return target_of_part(whole, e);
    }
  }
  if (const auto* s = llvm::dyn_cast<ArraySubscriptExpr>(e)) {
    access(s->getBase(), s->getIdx(), true, e);
    if (old_value_read) access(s->getBase(), s->getIdx(), false, e);
    return;
  }
  if (const auto* u = llvm::dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_Deref) {
    access(u->getSubExpr(), nullptr, true, e);
    if (old_value_read) access(u->getSubExpr(), nullptr, false, e);
    return;
  }
  if (const auto* m = llvm::dyn_cast<MemberExpr>(e)) return part(m->getBase(), m->isArrow(), e);
  if (const auto* x = llvm::dyn_cast<ExtVectorElementExpr>(e)) return part(x->getBase(), x->isArrow(), e);
  opaque(e, "an assignment that is not followed");
}

void Walker::indices(const Expr* e) {
  while (true) {
    e = e->IgnoreParenImpCasts();
    if (const auto* m = llvm::dyn_cast<MemberExpr>(e)) {
      e = m->getBase();
    } else if (const auto* x = llvm::dyn_cast<ExtVectorElementExpr>(e)) {
      e = x->getBase();
    } else if (const auto* s = llvm::dyn_cast<ArraySubscriptExpr>(e)) {
      expression(s->getIdx(), true);
      e = s->getBase();
    } else {
      return;
    }
  }
}

void Walker::target_of_part(const VarDecl* v, const Expr* e) {
  if (v->getType().isVolatileQualified()) first(out_.is_volatile, e);
  if (in_memory(v)) {
    scalar(v, e, true);
    scalar(v, e, false);
    return;
  }
  write(v, e, Reduction::none);
  read(v, e);
}

void Walker::part(const Expr* base, bool arrow, const Expr* whole) {
  if (arrow) {
    access(base, nullptr, true, whole);
    return;
  }
  target(base, Reduction::none, true);
}

void Walker::scalar(const VarDecl* v, const Expr* e, bool store) {
  if (v->getType()->isReferenceType()) opaque(e, "the reference " + v->getNameAsString());
  if (v->getType().isVolatileQualified()) first(out_.is_volatile, e);
  if (v->getType().isConstQualified()) return;
  MemoryAccess m;
  m.base = v;
  m.scalar = true;
  m.store = store;
  m.place = e;
  m.at = at(e);
  out_.memory.push_back(m);
}

}  // namespace kernelcast::frontend::effects
