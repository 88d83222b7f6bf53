// Calls: of the source's own functions, which are walked too; of collectives, fences and atomics; of all that toolkits
// have.
#include "clang/Basic/SourceManager.h"
#include "frontend/loops/known_functions.h"
#include "frontend/loops/loop_walker.h"

namespace kernelcast::frontend::effects {

using namespace clang;
using clang::Expr;  // not kernelcast::Expr

constexpr int deepest_effect_call = 6;

void Walker::construct(const CXXConstructExpr* x) {
  for (const Expr* a : x->arguments()) expression(a, true);
  const CXXConstructorDecl* f = x->getConstructor();
  if (f->isTrivial() || f->isDefaulted() || is_toolkit(f, context_)) return;
  stranger(x, "the constructor of " + f->getParent()->getNameAsString());
}

void Walker::call(const CallExpr* c, bool used) {
  const FunctionDecl* f = c->getDirectCallee();
  if (f == nullptr) {
    for (const Expr* a : c->arguments()) expression(a, true);
    return stranger(c, "a call through a pointer");
  }
  const std::string name = f->getNameAsString();
  const bool method = llvm::isa<CXXMethodDecl>(f);
  if (!is_toolkit(f, context_)) {
    for (const Expr* a : c->arguments()) expression(a, true);
    if (method) opaque(c, "the call of " + f->getQualifiedNameAsString());
    const FunctionDecl* definition = f->getDefinition();
    if (definition == nullptr) return stranger(c, "the call of " + name + ", which is not in this source,");
    return own_function(c, definition);
  }
  if (is_collective(f)) {
    if (!out_.collective) {
      out_.collective = at(c);
      out_.collective_name = name;
    }
    return;
  }
  if (is_fence(name)) {
    if (!out_.fence) {
      out_.fence = at(c);
      out_.fence_name = name;
    }
    return opaque(c, "the fence " + name);
  }
  if (is_atomic(name)) return atomic(c, name, used);
  for (const Expr* a : c->arguments()) expression(a, true);
  if (is_target_specific(name)) return stranger(c, "the instruction " + name);
  if (method) return opaque(c, "the call of " + f->getQualifiedNameAsString());
  out_.callees.push_back(name);
  if (is_location_query(name)) return;
  toolkit_function(c, f);
}

void Walker::toolkit_function(const CallExpr* c, const FunctionDecl* f) {
  const std::string what = "the call of " + f->getNameAsString();
  bool any_pointer = false;
  for (unsigned k = 0; k < f->getNumParams(); ++k) {
    const QualType type = f->getParamDecl(k)->getType();
    if (type->isReferenceType()) return opaque(c, what);
    if (!type->isPointerType() || k >= c->getNumArgs()) continue;
    any_pointer = true;
    const Pointers::Place place = pointers_.place_of(c->getArg(k));
    if (place.base == nullptr) return opaque(c, what);
    MemoryAccess m;
    m.base = place.base;
    m.scalar = place.whole;
    m.at = at(c);
    out_.memory.push_back(m);
    if (type->getPointeeType().isConstQualified()) continue;
    m.store = true;
    out_.memory.push_back(m);
  }
  if (f->getReturnType()->isVoidType() && !any_pointer) opaque(c, what);
}

void Walker::own_function(const CallExpr* c, const FunctionDecl* f) {
  out_.calls.push_back(f);
  if (call_depth_ >= deepest_effect_call) return stranger(c, "the call of " + f->getNameAsString());
  Effects inside;
  Walker(inside, context_, call_depth_ + 1).statement(f->getBody());
  const std::string where = " in " + f->getNameAsString();
  const auto take = [&](Spot spot, std::string& what, Spot& out_spot, const std::string& inside_what) {
    if (!spot || out_spot) return;
    out_spot = at(c);
    what = inside_what + where;
  };
  take(inside.collective, out_.collective_name, out_.collective, inside.collective_name);
  take(inside.fence, out_.fence_name, out_.fence, inside.fence_name);
  take(inside.stranger, out_.stranger_what, out_.stranger, inside.stranger_what);
  take(inside.opaque, out_.opaque_what, out_.opaque, inside.opaque_what);
  if (inside.is_volatile) first(out_.is_volatile, c);
  if (inside.assembly) first(out_.assembly, c);
  for (Atomic a : inside.atomics) {
    a.at = at(c);
    if (a.base != nullptr && !a.base->hasGlobalStorage()) a.base = nullptr;
    out_.atomics.push_back(a);
  }
  for (MemoryAccess m : inside.memory) {
    if (m.base != nullptr && !m.base->hasGlobalStorage()) {
      if (!m.base->getType()->isPointerType()) continue;  // the function's own
      m.base = nullptr;  // whose memory a parameter of the function points to is not followed
    }
    m.index = nullptr;
    if (!m.scalar) m.place = nullptr;
    m.at = at(c);
    out_.memory.push_back(m);
  }
  for (const ParmVarDecl* p : f->parameters()) {  // the caller's variables
    if (p->getType()->isReferenceType() && !p->getType()->getPointeeType().isConstQualified())
      opaque(c, "the reference " + p->getNameAsString() + " of " + f->getNameAsString());
  }
}

void Walker::atomic(const CallExpr* c, const std::string& name, bool used) {
  Atomic a;
  a.at = at(c);
  a.name = name;
  if (c->getNumArgs() > 0) {
    const QualType pointer = c->getArg(0)->IgnoreParenImpCasts()->getType();
    a.floating = pointer->isPointerType() && pointer->getPointeeType()->isFloatingType();
    a.base = pointers_.place_of(c->getArg(0)).base;
  }
  a.floating = a.floating || c->getType()->isFloatingType();
  a.order_free = is_order_free_atomic(name, c->getNumArgs()) && !used && !a.floating;
  out_.atomics.push_back(a);
  for (unsigned k = 1; k < c->getNumArgs(); ++k) expression(c->getArg(k), true);
  if (c->getNumArgs() == 0) return;
  // The place: its index is read, its contents belong to the atomic.
  const Expr* place = c->getArg(0)->IgnoreParenCasts();
  if (const auto* u = llvm::dyn_cast<UnaryOperator>(place); u != nullptr && u->getOpcode() == UO_AddrOf) {
    if (const auto* s = llvm::dyn_cast<ArraySubscriptExpr>(u->getSubExpr()->IgnoreParens()))
      expression(s->getIdx(), true);
    return;
  }
  if (!llvm::isa<DeclRefExpr>(place)) expression(place, true);
}

}  // namespace kernelcast::frontend::effects
