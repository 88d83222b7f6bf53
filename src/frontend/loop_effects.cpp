// A walk over the syntax tree. What is not understood is opaque, which no strategy that changes the order may pass.
#include "frontend/loop_effects.h"

#include <algorithm>

#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "frontend/loop_names.h"
#include "frontend/loop_pointers.h"

namespace kernelcast::frontend {
namespace {

using namespace clang;
using clang::Expr;  // not kernelcast::Expr

constexpr int deepest_effect_call = 6;

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

/// The variable of which the expression is a member or an element, without going through a pointer; null: none.
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

class Walker {
 public:
  Walker(Effects& out, const ASTContext& context, int depth) : out_(out), context_(context), call_depth_(depth) {}

  void statement(const Stmt* s) {
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

 private:
  int at(const Stmt* s) const { return line_of(s->getBeginLoc(), context_); }
  void first(int& line, const Stmt* s) const {
    if (line == 0) line = at(s);
  }
  /// Code that nobody sees here: it may do anything, also wait for other threads.
  void stranger(const Stmt* s, const std::string& what) {
    if (out_.stranger == 0) {
      out_.stranger = at(s);
      out_.stranger_what = what;
    }
    opaque(s, what);
  }
  bool in_memory(const VarDecl* v) {
    if (v->getType()->isReferenceType()) return true;
    if (v->hasGlobalStorage()) return true;  // file scope, __shared__, __local
    const LangAS space = v->getType().getAddressSpace();
    if (space != LangAS::Default && space != LangAS::opencl_private) return true;
    return pointers_.facts_of(v).address_taken.contains(v);
  }
  void opaque(const Stmt* s, const std::string& what) {
    if (out_.opaque != 0) return;
    out_.opaque = at(s);
    out_.opaque_what = what;
  }
  void children(const Stmt* s) {
    for (const Stmt* c : s->children()) {
      if (const auto* e = llvm::dyn_cast_or_null<Expr>(c)) {
        expression(e, !llvm::isa<CompoundStmt>(s));
      } else {
        statement(c);
      }
    }
  }

  void loop(const Stmt* s) {
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

  void read(const VarDecl* v, const Expr* e) { out_.reads.emplace(v, VariableUse{at(e), Reduction::none}); }
  void use(const VarDecl* v, const Expr* e) {
    if (in_memory(v) && !v->getType()->isArrayType()) return scalar(v, e, false);
    read(v, e);
  }
  void write(const VarDecl* v, const Expr* e, Reduction r) { out_.writes.emplace(v, VariableUse{at(e), r}); }

  void access(const Expr* pointer, const Expr* index, bool store, const Expr* whole) {
    if (whole->getType().isVolatileQualified()) first(out_.is_volatile, whole);
    MemoryAccess m;
    m.store = store;
    m.place = whole;
    m.line = at(whole);
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

  /// The place that an assignment or an increment changes.
  void target(const Expr* place, Reduction r, bool old_value_read) {
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

  /// Indices on the way from an element to its variable.
  void indices(const Expr* e) {
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
  void target_of_part(const VarDecl* v, const Expr* e) {
    if (v->getType().isVolatileQualified()) first(out_.is_volatile, e);
    if (in_memory(v)) {
      scalar(v, e, true);
      scalar(v, e, false);
      return;
    }
    write(v, e, Reduction::none);
    read(v, e);
  }
  /// A member or element is written: the whole variable counts as read and written.
  void part(const Expr* base, bool arrow, const Expr* whole) {
    if (arrow) {
      access(base, nullptr, true, whole);
      return;
    }
    target(base, Reduction::none, true);
  }

  void scalar(const VarDecl* v, const Expr* e, bool store) {
    if (v->getType()->isReferenceType()) opaque(e, "the reference " + v->getNameAsString());
    if (v->getType().isVolatileQualified()) first(out_.is_volatile, e);
    if (v->getType().isConstQualified()) return;
    MemoryAccess m;
    m.base = v;
    m.scalar = true;
    m.store = store;
    m.place = e;
    m.line = at(e);
    out_.memory.push_back(m);
  }

  void expression(const Expr* given, bool used) {
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

  void binary(const BinaryOperator* b, bool used) {
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

  void unary(const UnaryOperator* u, bool used) {
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

  void construct(const CXXConstructExpr* x) {
    for (const Expr* a : x->arguments()) expression(a, true);
    const CXXConstructorDecl* f = x->getConstructor();
    if (f->isTrivial() || f->isDefaulted() || is_toolkit(f, context_)) return;
    stranger(x, "the constructor of " + f->getParent()->getNameAsString());
  }

  void call(const CallExpr* c, bool used) {
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
      if (out_.collective == 0) {
        out_.collective = at(c);
        out_.collective_name = name;
      }
      return;
    }
    if (is_fence(name)) {
      if (out_.fence == 0) {
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

  /// Functions of the language and the toolkits read and write what they are given, and nothing else.
  void toolkit_function(const CallExpr* c, const FunctionDecl* f) {
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
      m.line = at(c);
      out_.memory.push_back(m);
      if (type->getPointeeType().isConstQualified()) continue;
      m.store = true;
      out_.memory.push_back(m);
    }
    if (f->getReturnType()->isVoidType() && !any_pointer) opaque(c, what);
  }

  void own_function(const CallExpr* c, const FunctionDecl* f) {
    out_.calls.push_back(f);
    if (call_depth_ >= deepest_effect_call) return stranger(c, "the call of " + f->getNameAsString());
    Effects inside;
    Walker(inside, context_, call_depth_ + 1).statement(f->getBody());
    const std::string where = " in " + f->getNameAsString();
    const auto take = [&](int line, std::string& what, int& out_line, const std::string& inside_what) {
      if (line == 0 || out_line != 0) return;
      out_line = at(c);
      what = inside_what + where;
    };
    take(inside.collective, out_.collective_name, out_.collective, inside.collective_name);
    take(inside.fence, out_.fence_name, out_.fence, inside.fence_name);
    take(inside.stranger, out_.stranger_what, out_.stranger, inside.stranger_what);
    take(inside.opaque, out_.opaque_what, out_.opaque, inside.opaque_what);
    if (inside.is_volatile != 0) first(out_.is_volatile, c);
    if (inside.assembly != 0) first(out_.assembly, c);
    for (Atomic a : inside.atomics) {
      a.line = at(c);
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
      m.line = at(c);
      out_.memory.push_back(m);
    }
    for (const ParmVarDecl* p : f->parameters()) {  // the caller's variables
      if (p->getType()->isReferenceType() && !p->getType()->getPointeeType().isConstQualified())
        opaque(c, "the reference " + p->getNameAsString() + " of " + f->getNameAsString());
    }
  }

  void atomic(const CallExpr* c, const std::string& name, bool used) {
    Atomic a;
    a.line = at(c);
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

  Effects& out_;
  const ASTContext& context_;
  Pointers pointers_;
  int call_depth_, breakable_ = 0, loops_ = 0;
};

}  // namespace

const VarDecl* variable(const Expr* e) {
  const auto* r = llvm::dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts());
  return r == nullptr ? nullptr : llvm::dyn_cast<VarDecl>(r->getDecl());
}

void Effects::add(const Effects& o) {
  reads.insert(o.reads.begin(), o.reads.end());
  writes.insert(o.writes.begin(), o.writes.end());
  declared.insert(o.declared.begin(), o.declared.end());
  memory.insert(memory.end(), o.memory.begin(), o.memory.end());
  atomics.insert(atomics.end(), o.atomics.begin(), o.atomics.end());
  calls.insert(calls.end(), o.calls.begin(), o.calls.end());
  callees.insert(callees.end(), o.callees.begin(), o.callees.end());
  const auto take = [](int& line, int other) {
    if (line == 0) line = other;
  };
  const auto take_named = [](int& line, std::string& name, int other, const std::string& other_name) {
    if (line != 0) return;
    line = other;
    name = other_name;
  };
  take(leave, o.leave);
  take(skip, o.skip);
  take(is_volatile, o.is_volatile);
  take(assembly, o.assembly);
  take_named(collective, collective_name, o.collective, o.collective_name);
  take_named(fence, fence_name, o.fence, o.fence_name);
  take_named(stranger, stranger_what, o.stranger, o.stranger_what);
  take_named(opaque, opaque_what, o.opaque, o.opaque_what);
}

Effects effects_of(const Stmt* statement, const ASTContext& context) {
  Effects e;
  Walker(e, context, 0).statement(statement);
  return e;
}

int line_of(SourceLocation location, const ASTContext& context) {
  const SourceManager& sources = context.getSourceManager();
  return static_cast<int>(sources.getExpansionLineNumber(location));
}

}  // namespace kernelcast::frontend
