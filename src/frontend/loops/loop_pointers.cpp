// A pointer is followed through the initialisers of local pointers that nobody sets again, to a parameter or an object.
#include "frontend/loops/loop_pointers.h"

#include "clang/AST/ExprCXX.h"
#include "frontend/source/ast_walk.h"

namespace kernelcast::frontend {
namespace {

using namespace clang;
using clang::Expr;  // not kernelcast::Expr

constexpr int longest_chain = 8;

const VarDecl* variable_under_casts(const Expr* e) {
  const auto* r = llvm::dyn_cast<DeclRefExpr>(e->IgnoreParenCasts());
  return r == nullptr ? nullptr : llvm::dyn_cast<VarDecl>(r->getDecl());
}

class Facts {
 public:
  explicit Facts(VariableFacts& out) : out_(out) {}
  void statement(Stmt* s) {
    if (auto* b = llvm::dyn_cast<BinaryOperator>(s)) assignment(b);
    if (auto* u = llvm::dyn_cast<UnaryOperator>(s)) address(u);
    if (auto* c = llvm::dyn_cast<CallExpr>(s)) call(c);
  }
  void declaration(Decl* d) {
    auto* v = llvm::dyn_cast<VarDecl>(d);
    if (v == nullptr || !v->getType()->isReferenceType() || v->getInit() == nullptr) return;
    if (const VarDecl* named = variable_under_casts(v->getInit())) {
      out_.address_taken.insert(named);
      out_.set_again.insert(named);
    }
  }

 private:
  void assignment(BinaryOperator* b) {  // also the compound ones
    if (b->isAssignmentOp() && b->getOpcode() != BO_AddAssign && b->getOpcode() != BO_SubAssign) set_again(b->getLHS());
  }
  void address(UnaryOperator* u) {
    if (u->getOpcode() == UO_AddrOf) {
      const Expr* e = u->getSubExpr()->IgnoreParenCasts();
      while (const auto* m = llvm::dyn_cast<MemberExpr>(e)) {
        if (m->isArrow()) return;
        e = m->getBase()->IgnoreParenCasts();
      }
      if (const VarDecl* v = variable_under_casts(e)) out_.address_taken.insert(v);
    }
  }
  void call(CallExpr* c) {  // a pointer that is handed over by reference may be set
    const FunctionDecl* f = c->getDirectCallee();
    for (unsigned k = 0; k < c->getNumArgs(); ++k) {
      const bool by_reference =
          f == nullptr || k >= f->getNumParams() || f->getParamDecl(k)->getType()->isReferenceType();
      if (by_reference) set_again(c->getArg(k));
    }
  }
  void set_again(const Expr* e) {
    const VarDecl* v = variable_under_casts(e);
    if (v != nullptr && v->getType()->isPointerType()) out_.set_again.insert(v);
  }
  VariableFacts& out_;
};

}  // namespace

const VariableFacts& Pointers::facts_of(const VarDecl* v) {
  const auto* f = llvm::dyn_cast_or_null<FunctionDecl>(v->getParentFunctionOrMethod());
  const auto [found, fresh] = facts_.try_emplace(f);
  if (fresh && f != nullptr && f->hasBody()) {
    Facts facts(found->second);
    AstVisit visit;
    visit.statement = [&](Stmt* s) {
      facts.statement(s);
      return true;
    };
    visit.declaration = [&](Decl* d) {
      facts.declaration(d);
      return true;
    };
    walk(f->getBody(), visit);
  }
  return found->second;
}

Pointers::Place Pointers::place_of(const Expr* pointer) {
  Place p;
  const Expr* e = pointer;
  for (int steps = 0; steps < longest_chain; ++steps) {
    e = e->IgnoreParenCasts();
    if (const auto* sum = llvm::dyn_cast<BinaryOperator>(e)) {
      if (!sum->isAdditiveOp() || !sum->getType()->isPointerType()) return {};
      p.moved = true;
      e = sum->getLHS()->getType()->isPointerType() || sum->getLHS()->getType()->isArrayType() ? sum->getLHS()
                                                                                               : sum->getRHS();
      continue;
    }
    if (const auto* u = llvm::dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_AddrOf) {
      e = u->getSubExpr()->IgnoreParenCasts();
      if (const auto* s = llvm::dyn_cast<ArraySubscriptExpr>(e)) {
        p.moved = true;
        e = s->getBase();
        continue;
      }
      const VarDecl* v = variable_under_casts(e);
      if (v == nullptr || v->getType()->isReferenceType()) return {};
      p.base = v;
      p.whole = !v->getType()->isArrayType();
      return p;
    }
    const VarDecl* v = variable_under_casts(e);
    if (v == nullptr || v->getType()->isReferenceType()) return {};
    if (v->getType()->isArrayType()) {
      p.base = v;
      return p;
    }
    const VariableFacts& facts = facts_of(v);
    if (!v->getType()->isPointerType() || v->hasGlobalStorage() || facts.set_again.contains(v) ||
        facts.address_taken.contains(v))
      return {};
    if (llvm::isa<ParmVarDecl>(v)) {
      p.base = v;
      return p;
    }
    if (v->getInit() == nullptr) return {};
    p.moved = true;  // ++ and += may have moved it since
    e = v->getInit();
  }
  return {};
}

}  // namespace kernelcast::frontend
