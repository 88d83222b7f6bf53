// A walk over the syntax tree: statements and expressions. What is not understood is opaque, which no strategy that
// changes the order may pass.
#include <algorithm>

#include "clang/AST/Stmt.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "frontend/loops/loop_walker.h"

namespace kernelcast::frontend::effects {

using namespace clang;
using clang::Expr;  // not kernelcast::Expr

namespace {

Reduction reduction_of(BinaryOperatorKind op) {
  switch (op) {
    case BO_AddAssign:
    case BO_SubAssign:
    case BO_Add:
    case BO_Sub:
      return Reduction::add;
    case BO_MulAssign:
    case BO_Mul:
      return Reduction::multiply;
    case BO_AndAssign:
    case BO_And:
      return Reduction::bit_and;
    case BO_OrAssign:
    case BO_Or:
      return Reduction::bit_or;
    case BO_XorAssign:
    case BO_Xor:
      return Reduction::bit_xor;
    default:
      return Reduction::none;
  }
}

bool mentions(const Stmt* s, const VarDecl* v) {
  if (s == nullptr) return false;
  if (const auto* r = llvm::dyn_cast<DeclRefExpr>(s); r != nullptr && r->getDecl() == v) return true;
  return std::any_of(s->child_begin(), s->child_end(), [&](const Stmt* c) { return mentions(c, v); });
}

}  // namespace

void Walker::statement(const Stmt* s) {
  if (s == nullptr) return;
  if (const auto* e = llvm::dyn_cast<Expr>(s)) {
    expression(e, /*used=*/false);
    return;
  }
  switch (s->getStmtClass()) {
    case Stmt::BreakStmtClass:
      if (breakable_ == 0) first(out_.leave, s);
      return;
    case Stmt::ContinueStmtClass:
      if (loops_ == 0) first(out_.skip, s);
      return;
    case Stmt::ReturnStmtClass:
      if (call_depth_ == 0) first(out_.leave, s);
      children(s);
      return;
    case Stmt::GotoStmtClass:
    case Stmt::IndirectGotoStmtClass:
    case Stmt::LabelStmtClass:
      first(out_.skip, s);
      children(s);
      return;
    case Stmt::GCCAsmStmtClass:
    case Stmt::MSAsmStmtClass:
      first(out_.assembly, s);
      opaque(s, "assembly");
      return;
    case Stmt::DeclStmtClass:
      for (const Decl* d : llvm::cast<DeclStmt>(s)->decls()) {
        if (const auto* v = llvm::dyn_cast<VarDecl>(d)) {
          out_.declared.insert(v);
          if (v->getType().isVolatileQualified()) first(out_.is_volatile, s);
          if (v->needsDestruction(context_) != QualType::DK_none)
            stranger(s, "the destructor of " + v->getNameAsString());
          if (v->getInit() != nullptr) expression(v->getInit(), true);
        }
      }
      return;
    case Stmt::ForStmtClass:
    case Stmt::WhileStmtClass:
    case Stmt::DoStmtClass:
    case Stmt::CXXForRangeStmtClass:
      ++breakable_;
      ++loops_;
      loop(s);
      --breakable_;
      --loops_;
      return;
    case Stmt::IfStmtClass: {
      const auto* i = llvm::cast<IfStmt>(s);
      statement(i->getInit());
      statement(i->getConditionVariableDeclStmt());
      expression(i->getCond(), true);
      statement(i->getThen());
      statement(i->getElse());
      return;
    }
    case Stmt::SwitchStmtClass:
      ++breakable_;
      children(s);
      --breakable_;
      return;
    default:
      children(s);
  }
}

void Walker::first(Spot& spot, const Stmt* s) const {
  if (!spot) spot = at(s);
}

void Walker::stranger(const Stmt* s, const std::string& what) {
  if (!out_.stranger) {
    out_.stranger = at(s);
    out_.stranger_what = what;
  }
  opaque(s, what);
}

void Walker::opaque(const Stmt* s, const std::string& what) {
  if (out_.opaque) return;
  out_.opaque = at(s);
  out_.opaque_what = what;
}

void Walker::children(const Stmt* s) {
  for (const Stmt* c : s->children()) {
    if (const auto* e = llvm::dyn_cast_or_null<Expr>(c)) {
      expression(e, !llvm::isa<CompoundStmt>(s));
    } else {
      statement(c);
    }
  }
}

void Walker::loop(const Stmt* s) {
  if (const auto* f = llvm::dyn_cast<ForStmt>(s)) {
    statement(f->getInit());
    if (f->getCond() != nullptr) expression(f->getCond(), true);
    statement(f->getInc());
    statement(f->getBody());
  } else if (const auto* w = llvm::dyn_cast<WhileStmt>(s)) {
    expression(w->getCond(), true);
    statement(w->getBody());
  } else if (const auto* d = llvm::dyn_cast<DoStmt>(s)) {
    statement(d->getBody());
    expression(d->getCond(), true);
  } else {
    children(s);
  }
}

void Walker::use(const VarDecl* v, const Expr* e) {
  if (in_memory(v) && !v->getType()->isArrayType()) return scalar(v, e, false);
  read(v, e);
}

void Walker::expression(const Expr* given, bool used) {
  const Expr* e = given->IgnoreParens();
  if (const auto* full = llvm::dyn_cast<FullExpr>(e)) return expression(full->getSubExpr(), used);
  if (const auto* cast = llvm::dyn_cast<CastExpr>(e)) {
    return expression(cast->getSubExpr(), used && !cast->getType()->isVoidType());
  }
  if (llvm::isa<PseudoObjectExpr>(e)) return;  // threadIdx and its like
  if (const auto* b = llvm::dyn_cast<BinaryOperator>(e)) return binary(b, used);
  if (const auto* u = llvm::dyn_cast<UnaryOperator>(e)) return unary(u, used);
  if (const auto* c = llvm::dyn_cast<CallExpr>(e)) return call(c, used);
  if (llvm::isa<ArraySubscriptExpr, MemberExpr, ExtVectorElementExpr>(e)) {
    const VarDecl* whole = whole_of(e);
    if (whole != nullptr && !whole->getType()->isArrayType()) {
      indices(e);
      return use(whole, e);
    }
  }
  if (const auto* o = llvm::dyn_cast<OpaqueValueExpr>(e)) {
    if (o->getSourceExpr() != nullptr) expression(o->getSourceExpr(), used);
    return;
  }
  if (const auto* x = llvm::dyn_cast<CXXConstructExpr>(e)) return construct(x);
  if (const auto* s = llvm::dyn_cast<ArraySubscriptExpr>(e)) return access(s->getBase(), s->getIdx(), false, e);
  if (const auto* m = llvm::dyn_cast<MemberExpr>(e)) {
    if (m->isArrow()) return access(m->getBase(), nullptr, false, e);
    return expression(m->getBase(), true);
  }
  if (llvm::isa<LambdaExpr>(e) || llvm::isa<CXXNewExpr>(e) || llvm::isa<CXXDeleteExpr>(e) ||
      llvm::isa<CXXThisExpr>(e) || llvm::isa<StmtExpr>(e)) {
    return opaque(e, "an expression that is not followed");
  }
  if (const VarDecl* v = llvm::isa<DeclRefExpr>(e) ? variable(e) : nullptr) {
    if (v->getType().isVolatileQualified()) first(out_.is_volatile, e);
    return use(v, e);
  }
  for (const Stmt* c : e->children()) {
    if (const auto* inner = llvm::dyn_cast_or_null<Expr>(c)) {
      expression(inner, true);
    } else {
      statement(c);
    }
  }
}

void Walker::binary(const BinaryOperator* b, bool used) {
  if (!b->isAssignmentOp()) {
    expression(b->getLHS(), b->getOpcode() != BO_Comma);
    expression(b->getRHS(), b->getOpcode() != BO_Comma || used);
    return;
  }
  const Expr* value = b->getRHS();
  Reduction r = b->isCompoundAssignmentOp() ? reduction_of(b->getOpcode()) : Reduction::none;
  const VarDecl* v = variable(b->getLHS()->IgnoreParens());
  if (!b->isCompoundAssignmentOp() && v != nullptr && !in_memory(v)) {
    // x = x + e
    if (const auto* sum = llvm::dyn_cast<BinaryOperator>(value->IgnoreParenImpCasts())) {
      const Reduction kind = reduction_of(sum->getOpcode());
      const bool left = variable(sum->getLHS()) == v,
                 right = variable(sum->getRHS()) == v && sum->getOpcode() != BO_Sub;
      const Expr* rest = left ? sum->getRHS() : sum->getLHS();
      if (kind != Reduction::none && (left || right) && !mentions(rest, v) && !used) {
        write(v, b, kind);
        expression(rest, true);
        return;
      }
    }
  }
  if (used || (v != nullptr && mentions(value, v))) r = Reduction::none;
  expression(value, true);
  target(b->getLHS(), r, b->isCompoundAssignmentOp());
  if (used && v != nullptr) use(v, b);
}

void Walker::unary(const UnaryOperator* u, bool used) {
  if (u->isIncrementDecrementOp()) {
    target(u->getSubExpr(), used ? Reduction::none : Reduction::add, true);
    return;
  }
  if (u->getOpcode() == UO_Deref) return access(u->getSubExpr(), nullptr, false, u);
  if (u->getOpcode() == UO_AddrOf) {
    const VarDecl* v = variable(u->getSubExpr());
    if (v != nullptr && !in_memory(v)) {  // whoever has the address may do anything
      read(v, u);
      write(v, u, Reduction::none);
      return;
    }
    if (v == nullptr) opaque(u, "an address that is taken");
    return;
  }
  expression(u->getSubExpr(), true);
}

}  // namespace kernelcast::frontend::effects
